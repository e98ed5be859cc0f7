/**
 * Sandboxes at E2B (`@castellan/sandbox/remote`): each session has a microVM of its own, without a network, that a host
 * finds again after a crash.
 *
 * What holds: creating is idempotent by the tag of the session; every call has a deadline, the first command too; a
 * session renews the lease of its sandbox, and an orphan ends with its lease; files that an execution makes are copied
 * out after it, and are there again in a session whose sandbox was lost; the supervisor is the one of every tier.
 *
 * Source: issue "Sandcastles", "Remote tier"; the measured facts on remote sandboxes.
 */
import { type SandboxError, SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { isInAdvance } from "@castellan/core/sandcastle/SandboxPool"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as E2bOptions from "./remote/E2bOptions.ts"
import * as E2bSandboxes from "./remote/E2bSandboxes.ts"
import * as E2bTier from "./remote/E2bTier.ts"
import * as FileCopies from "./remote/FileCopies.ts"
import { whileOpening } from "./remote/RemoteProvider.ts"
import * as KernelSession from "./session/KernelSession.ts"

/** How E2B is used. Everything but the key has a default. */
export interface Options extends E2bOptions.Options {}

/**
 * Ends the sandboxes of a deployment whose sessions are not wanted, however young; answers how many. The service ends
 * those of its sandcastles by itself.
 */
export const reap = (
  options: Options,
  isWanted: (session: string) => Effect.Effect<boolean>
): Effect.Effect<number, SandboxError> =>
  whileOpening(reaped(E2bSandboxes.make(E2bOptions.settings(options)), isWanted))

const reaped = Effect.fnUntraced(function* (
  sandboxes: E2bSandboxes.E2bSandboxes,
  isWanted: (session: string) => Effect.Effect<boolean>
) {
  let ended = 0
  for (const { id, session } of yield* sandboxes.list) {
    if (yield* isWanted(session)) continue
    yield* sandboxes.end(id)
    ended++
  }
  return ended
})

/** How long a sandbox is left alone: whose it is may not be on record yet. */
const young = Duration.toMillis("10 minutes")

const decodeOwner = Schema.decodeUnknownOption(Schema.Struct({ id: SandcastleId, organizationId: OrganizationId }))

/** Ends what no sandcastle has any more. What is not tagged as one's is left to its lease. */
const reapedBy = (sandboxes: E2bSandboxes.E2bSandboxes): NonNullable<SandboxRuntime["Service"]["reap"]> =>
  Effect.fnUntraced(function* (isAlive) {
    const now = yield* Clock.currentTimeMillis
    let ended = 0
    for (const listed of yield* whileOpening(sandboxes.list)) {
      const owner = decodeOwner({ id: listed.session, organizationId: listed.organization })
      if (Option.isNone(owner) || isInAdvance(owner.value.id) || now - listed.startedAt < young) continue
      if (yield* isAlive(owner.value)) continue
      yield* whileOpening(sandboxes.end(listed.id))
      ended++
    }
    return ended
  })

/**
 * Sandboxes at E2B. Where a `SqlExecutor` is provided to the layer, programs can ask for SQL (`castellan.sql`), which
 * the host answers. Nothing is asked of E2B before the first session.
 */
export const layer = (options: Options): Layer.Layer<SandboxRuntime> => {
  const settings = E2bOptions.settings(options)
  const sandboxes = E2bSandboxes.make(settings)
  return Layer.unwrap(Effect.map(E2bTier.make(settings, sandboxes), KernelSession.layer)).pipe((engine) =>
    Layer.effect(
      SandboxRuntime,
      Effect.map(SandboxRuntime, (runtime) => ({
        ...FileCopies.make(runtime, { session: settings.copiedBytes, total: settings.allCopiedBytes }),
        reap: reapedBy(sandboxes)
      }))
    ).pipe(Layer.provide(engine))
  )
}
