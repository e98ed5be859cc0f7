/**
 * The fork-server that new sessions come from. Sessions of one fork-server have the layout of its memory and the seed of
 * its hashes in common, so that it is replaced after a number of them, and where it has ended; an old one stays as long
 * as a session of it lives.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { ForkServer } from "./ForkServer.ts"

/** Gives the fork-server for one session, which keeps it until its scope closes. */
export interface ForkServers<E> {
  readonly use: Effect.Effect<ForkServer, E, Scope.Scope>
}

interface Member {
  readonly server: ForkServer
  readonly scope: Scope.Closeable
  opened: number
  alive: number
  isRetired: boolean
}

/** Makes them; each serves `sessions` at most. The first is there when this completes. */
export const make = Effect.fnUntraced(function* <E>(
  start: Effect.Effect<ForkServer, E, Scope.Scope>,
  sessions: number
): Effect.fn.Return<ForkServers<E>, E, Scope.Scope> {
  const owner = yield* Effect.scope
  const turn = yield* Semaphore.make(1)

  const startMember = Effect.fnUntraced(function* (): Effect.fn.Return<Member, E> {
    const scope = yield* Scope.fork(owner)
    const server = yield* Effect.interruptible(start).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    return { server, scope, opened: 0, alive: 0, isRetired: false }
  })

  const closeUnused = (member: Member): Effect.Effect<void> =>
    member.isRetired && member.alive === 0 ? Scope.close(member.scope, Exit.void) : Effect.void

  let current = yield* Effect.uninterruptible(startMember())
  let isReplacing = false

  const replaceBy = Effect.fnUntraced(function* (next: Member) {
    const old = current
    current = next
    old.isRetired = true
    yield* closeUnused(old)
  })

  /** Starts the next one while the present one still serves. Where that fails, the next session tries again. */
  const prepareNext = Effect.suspend(() => {
    isReplacing = true
    return startMember().pipe(
      Effect.flatMap(replaceBy),
      Effect.catch((error) => Effect.logWarning("sandboxes go on in an old process", error)),
      Effect.ensuring(Effect.sync(() => (isReplacing = false))),
      Effect.forkIn(owner, { startImmediately: true })
    )
  })

  const take = turn.withPermit(
    Effect.gen(function* () {
      if (!current.server.isRunning()) yield* Effect.flatMap(startMember(), replaceBy)
      else if (current.opened >= sessions && !isReplacing) yield* prepareNext
      current.opened++
      current.alive++
      return current
    })
  )

  return {
    use: Effect.acquireRelease(take, (member) => {
      member.alive--
      return closeUnused(member)
    }).pipe(Effect.map(({ server }) => server))
  }
})
