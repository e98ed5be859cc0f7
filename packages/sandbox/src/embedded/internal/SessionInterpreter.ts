/**
 * The interpreter of an embedded session: one after another, because each may have to be killed, and what is known of
 * the one that is there.
 */
import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Report } from "../../protocol/Report.ts"
import { close, launch, type Place, type Start } from "./Place.ts"

/** What the engine is told of dataframes. */
export type Dataframes = Extract<Report, { readonly event: "finished" }>["dataframes"]

/** The session's interpreter. */
export interface SessionInterpreter {
  /** Whoever uses it has it alone. */
  readonly turn: Semaphore.Semaphore
  /** The one that there is; another where it has gone. */
  readonly place: Effect.Effect<Place, SandboxError>
  /** The one that was started last, which may have gone. */
  readonly current: () => Place | undefined
  /** Its dataframes, as it told of them last. */
  dataframes: Dataframes
  /** Whether variables were lost since this was asked last. */
  readonly takeStateLost: () => boolean
}

/** An interpreter that is started when it is first needed. */
export const make = Effect.fnUntraced(function* (start: Start, session: Scope.Scope) {
  let kernel: Place | undefined
  let stateLost = false
  const interpreter: SessionInterpreter = {
    turn: yield* Semaphore.make(1),
    place: Effect.suspend(() => {
      if (kernel !== undefined && kernel.child.running()) return Effect.succeed(kernel)
      const had = kernel !== undefined
      return close(kernel).pipe(
        Effect.andThen(launch(start, session)),
        Effect.tap((place) =>
          Effect.sync(() => {
            kernel = place
            interpreter.dataframes = []
            stateLost ||= had
          })
        )
      )
    }),
    current: () => kernel,
    dataframes: [],
    takeStateLost: () => {
      const lost = stateLost
      stateLost = false
      return lost
    }
  }
  return interpreter
})
