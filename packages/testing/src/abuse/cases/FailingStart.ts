/** A runtime whose self-test fails, 49: a case for runtimes that can be made unable to keep what they promise. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { AbuseCase } from "../Abuse.ts"

/** Why a runtime does not start, as runtimes tell it. */
export interface StartFailure {
  readonly _tag: string
  /** What it lacks, or which promise to a session was seen broken. */
  readonly promise: string
  /** What was seen. */
  readonly message: string
  /** What mends it; empty where nothing does. */
  readonly remedy: string
}

/** A start that must fail. */
export interface FailingStart {
  readonly what: string
  readonly start: Effect.Effect<unknown, StartFailure, Scope.Scope>
  readonly promise: string
}

/** The case. That nothing of the attempts is left is seen from outside of it, as with every case. */
export const failingStart = (starts: ReadonlyArray<FailingStart>): AbuseCase => ({
  number: 49,
  title: "a runtime that cannot keep its promises does not start, says which and why, and nothing weaker does instead",
  run: Effect.fnUntraced(function* () {
    assert.isAbove(starts.length, 0)
    for (const { promise, start, what } of starts) {
      const went = yield* Effect.result(Effect.scoped(start))
      if (Result.isSuccess(went)) return assert.fail(`${what}: it started`)
      const { failure } = went
      assert.match(failure._tag, /Unavailable$/, what)
      assert.strictEqual(failure.promise, promise, `${what}: ${failure.message}`)
      assert.isAbove(failure.message.length, 0, what)
    }
  })
})
