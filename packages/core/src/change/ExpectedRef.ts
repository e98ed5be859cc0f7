/**
 * The revision that a caller says they reviewed, without which nothing is said of a change: `expected_git_ref`.
 *
 * Source: decisions.md §8; policy-cases A7, A33, A45, law L9.
 */
import * as Effect from "effect/Effect"
import { Conflict, InvalidRequest } from "../error/Failure.ts"
import type { Change } from "./Change.ts"

/** The revision that a caller says they reviewed; they have to say it (A45). */
export const reviewedRef = (expected: string | undefined): Effect.Effect<string, InvalidRequest> =>
  expected === undefined || expected === ""
    ? Effect.fail(new InvalidRequest({ message: "expected_git_ref: is required" }))
    : Effect.succeed(expected)

/** Refuses what was said of another revision than the latest (law L9). */
export const current = (change: Pick<Change, "gitRef">, ref: string): Effect.Effect<void, Conflict> =>
  change.gitRef === ref
    ? Effect.void
    : Effect.fail(new Conflict({ message: `expected_git_ref: is stale, the change is at ${change.gitRef}` }))
