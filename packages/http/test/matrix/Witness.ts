/** What tells the matrix whether a request changed anything that is kept, in memory or on a database. */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Context, type Effect } from "effect"

/** What has changed since somebody looked last. */
export interface Observation {
  /** What changed of the organization that was asked about, the audit log aside, in a few words each. */
  readonly within: ReadonlyArray<string>
  /** What changed of every other organization, the audit log aside. */
  readonly elsewhere: ReadonlyArray<string>
  /** Refusals that the audit logs have grown by. */
  readonly refusals: number
  /** Deeds that the audit logs have grown by. */
  readonly deeds: number
}

/** Sees what is kept change. */
export class Witness extends Context.Service<
  Witness,
  {
    readonly observe: (organization: OrganizationId) => Effect.Effect<Observation>
    /** Leaves an organization out of what is observed: in worlds of their own, callers are served. */
    readonly ignore: (organization: OrganizationId) => Effect.Effect<void>
  }
>()("@castellan/http/test/matrix/Witness") {}
