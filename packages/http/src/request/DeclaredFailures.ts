/**
 * Brings the errors of a use case down to those that its operation declares.
 *
 * Core's use cases fail with the closed set of errors as a whole. The contract says, operation by operation, which of
 * them its answers can be. One that is not among them is no error of the operation's; it goes on as a defect, and the
 * boundary answers it by its code all the same.
 */
import type { Failure } from "@castellan/core/error/Failure"
import * as Effect from "effect/Effect"

/** Keeps the errors of some tags. */
export const declared = <const Tag extends Failure["_tag"]>(...tags: ReadonlyArray<Tag>) => {
  type Declared = Extract<Failure, { readonly _tag: Tag }>
  const isDeclared = (failure: Failure): failure is Declared => tags.some((tag) => tag === failure._tag)
  const asDeclared = (failure: Failure): Effect.Effect<never, Declared> =>
    isDeclared(failure) ? Effect.fail(failure) : Effect.die(failure)
  return <A, E extends Failure, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Declared, R> =>
    Effect.catch(self, asDeclared)
}
