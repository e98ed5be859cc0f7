/**
 * Where the service is reached from outside: what stands in front of the addresses that answers hold.
 */
import * as Context from "effect/Context"

/** Where the service is reached, without a slash at its end. Empty: addresses are relative to the host. */
export const PublicUrl = Context.Reference<string>("@castellan/http/PublicUrl", { defaultValue: () => "" })

/** The address that a host gave, as it stands in front of a path. */
export const normalize = (publicUrl: string | undefined): string => (publicUrl ?? "").replace(/\/+$/, "")
