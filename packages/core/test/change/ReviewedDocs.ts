/**
 * Words for tests of changes to a folder that asks for approval: `docs`, which three members own.
 */
import { Effect } from "effect"
import * as Review from "./Review.ts"
import { approve, propose } from "./Review.ts"

/** An organization where `docs` is ana's, bob's and cleo's, and asks for this. */
export const withDocs = Effect.fnUntraced(function* (options: Omit<Review.Policy, "members"> = {}) {
  const world = yield* Review.organization
  const [ana, bob, cleo] = [yield* world.member(), yield* world.member(), yield* world.member()]
  yield* world.policy("docs", { ...options, members: [ana, bob, cleo] })
  return { ...world, ana, bob, cleo }
})

/** An edit of one file of that folder. */
export const page = { write: { "docs/page.md": "one\n" } }

/** Puts files into the library, whoever owns them. */
export const published = Effect.fnUntraced(function* (
  world: Effect.Success<typeof Review.organization>,
  staged: Review.Staged
) {
  const other = yield* world.admin
  return yield* approve(other, yield* propose(world.boss, staged))
})
