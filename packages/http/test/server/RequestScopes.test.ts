import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import * as RequestScopes from "../../src/server/RequestScopes.ts"

/** Begins a request as the server does. */
const begin = <A>(scopes: RequestScopes.RequestScopes, request: Effect.Effect<A>): Fiber.Fiber<A> =>
  Fiber.runIn(Effect.runFork(request), scopes.scope)

const isInterrupted = (fiber: Fiber.Fiber<unknown>): boolean => {
  const exit = fiber.pollUnsafe()
  return exit !== undefined && Exit.hasInterrupts(exit)
}

it.effect("interrupts whatever goes on when it closes, however many came after it, and whatever comes later", () =>
  Effect.gen(function* () {
    const scopes = RequestScopes.make()
    const lasting: Array<Fiber.Fiber<never>> = []
    for (let index = 0; index < 2_000; index++) {
      if (index % 100 === 0) lasting.push(begin(scopes, Effect.never))
      else begin(scopes, Effect.void)
    }
    assert.deepStrictEqual(lasting.filter(isInterrupted), [])
    yield* scopes.close
    assert.deepStrictEqual(
      lasting.map(isInterrupted),
      lasting.map(() => true)
    )
    for (let index = 0; index < 2_000; index++) {
      const late = begin(scopes, Effect.never)
      yield* Fiber.await(late)
      assert.isTrue(isInterrupted(late))
    }
  })
)

it.effect("leaves a request alone that ends by itself, in a scope of its own time", () =>
  Effect.gen(function* () {
    const scopes = RequestScopes.make()
    const first = scopes.scope
    const fiber = Fiber.runIn(Effect.runFork(Effect.as(Effect.yieldNow, "answer")), first)
    for (let index = 0; index < 1_000; index++) assert.strictEqual(scopes.scope.state._tag === "Closed", false)
    assert.notStrictEqual(scopes.scope, first)
    assert.strictEqual(yield* Fiber.join(fiber), "answer")
    assert.strictEqual(first.state._tag, "Empty")
  })
)
