/**
 * Where the fibers of requests are until they end, so that those that a server no longer waits for are interrupted.
 *
 * A scope keeps what is in it in a `Map`, and the table of a `Map` that is not young any more goes on referring to those
 * that took its place, each with whatever was in it. Where so much comes and goes, every request would stay in memory
 * until the next full collection, and have been copied by two small ones, which take many times as long. So every few
 * hundred requests begin a new scope, which refers to nothing of the last.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** Requests that are put into one scope: a small part of those that come between two collections. */
const generation = 256

/** The scopes of a server's requests. */
export interface RequestScopes {
  /** The scope of the next request: to be read once for each. */
  readonly scope: Scope.Scope
  /** Interrupts the requests that have not ended, all at once, and those that come later. */
  readonly close: Effect.Effect<void>
}

/** The scopes of a server that has not had a request. */
export const make = (): RequestScopes => {
  let count = 0
  let current = Scope.makeUnsafe("parallel")
  /** Those before it in which requests go on: streams, and whatever takes long. */
  let earlier: ReadonlyArray<Scope.Closeable> = []

  const begin = (): void => {
    count = 0
    earlier = [...earlier, current].filter(({ state }) => state._tag === "Open")
    current = Scope.makeUnsafe("parallel")
  }

  return {
    get scope() {
      if (count === generation && current.state._tag !== "Closed") begin()
      count += 1
      return current
    },
    close: Effect.suspend(() =>
      Effect.forEach([...earlier, current], (scope) => Scope.close(scope, Exit.void), {
        concurrency: "unbounded",
        discard: true
      })
    )
  }
}
