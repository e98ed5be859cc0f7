/**
 * The shell of an embedded session: a child that is there while it is needed, and a while longer.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { close, launch, type Place, type Start } from "./Place.ts"

/** The session's shell. */
export interface SessionShell {
  /** Whoever uses it has it alone. */
  readonly turn: Semaphore.Semaphore
  /** The one that there is; another where it has gone. */
  readonly place: Effect.Effect<Place, SandboxError>
  /** The one that was started last, which may have gone. */
  readonly current: () => Place | undefined
  /** After a use: has it go once nobody needed it for a while, which is not waited for. */
  readonly leave: Effect.Effect<void>
}

/** A shell that is started when it is first needed, and kept for so long once it has nothing to do. */
export const make = Effect.fnUntraced(function* (
  start: Start,
  session: Scope.Scope,
  work: FiberSet.FiberSet<void>,
  idle: Duration.Input
) {
  let shell: Place | undefined
  let uses = 0
  const turn = yield* Semaphore.make(1)
  const made: SessionShell = {
    turn,
    place: Effect.suspend(() => {
      if (shell !== undefined && shell.child.running()) return Effect.succeed(shell)
      return close(shell).pipe(
        Effect.andThen(launch(start, session)),
        Effect.tap((place) =>
          Effect.sync(() => {
            shell = place
          })
        )
      )
    }),
    current: () => shell,
    leave: Effect.suspend(() => {
      const use = ++uses
      return Effect.sleep(idle).pipe(
        Effect.andThen(turn.withPermits(1)(Effect.suspend(() => (use === uses ? close(shell) : Effect.void)))),
        FiberSet.run(work),
        Effect.asVoid
      )
    })
  }
  return made
})
