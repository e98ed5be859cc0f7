/**
 * Equality by value: moments that are equal are the same, however they were made and whatever they remember of their
 * calendar; what an adapter decoded from its rows is compared with what was saved.
 */
import { assert } from "@effect/vitest"
import * as Equal from "effect/Equal"

/** Asserts that two values are equal, moment by moment and field by field. */
export const assertSame = <A>(actual: A, expected: A): void => {
  if (Equal.equals(actual, expected)) return
  assert.deepStrictEqual(actual, expected)
  assert.fail("the values look alike, but are not equal")
}
