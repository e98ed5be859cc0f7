/**
 * A line of what waits for one taker, who goes on within the very call that adds to it, where a queue of Effect's has its
 * taker wait for the next turn of the event loop: an execution passes several of them.
 */
import * as Effect from "effect/Effect"

/** Things that wait, in order. */
export class Line<A> {
  readonly #waiting: Array<A> = []
  #taker: ((one: Effect.Effect<A>) => void) | undefined

  /** Adds things, which are taken one after another. */
  add(things: ReadonlyArray<A>): void {
    this.#waiting.push(...things)
    this.#serve()
  }

  /** Takes the first, or waits for one. There may be one taker at a time. */
  readonly take: Effect.Effect<A> = Effect.callback<A>((resume) => {
    this.#taker = resume
    this.#serve()
    return Effect.sync(() => (this.#taker = undefined))
  })

  #serve(): void {
    const [first] = this.#waiting
    if (this.#taker === undefined || first === undefined) return
    const taker = this.#taker
    this.#taker = undefined
    this.#waiting.shift()
    taker(Effect.succeed(first))
  }
}
