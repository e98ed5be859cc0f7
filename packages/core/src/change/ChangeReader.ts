/**
 * Who reads changes, as far as that decides which of them are there: `ChangePolicy.visible` as data, so that a store
 * lists and counts what somebody sees by its indexes, and need not show every change to a function.
 *
 * Source: decisions.md §8; policy-cases L2.
 */
import type { Principal } from "../access/Principal.ts"
import { includes, keyOf, type KeyRange, ownedRanges } from "../folderpolicy/OwnedRanges.ts"
import { holderOf } from "../folderpolicy/OwnersPolicy.ts"
import type { PolicyTree } from "../folderpolicy/PolicyTree.ts"
import { type Concerned, isAuthor } from "./ChangePolicy.ts"

/** Who reads. */
export type ChangeReader =
  /** An administrator: every change is there. */
  | { readonly _tag: "Administrator" }
  /** A member: what they wrote, and what touches a path in one of the ranges. */
  | {
      readonly _tag: "Member"
      readonly author: Pick<Principal, "memberId" | "restricted" | "clientMetadata">
      readonly owned: ReadonlyArray<KeyRange>
    }

/** An administrator as a reader. */
export const administrator: ChangeReader = { _tag: "Administrator" }

/** A principal as a reader, by the policies of the moment. */
export const readerOf = (tree: PolicyTree, principal: Principal): ChangeReader =>
  principal.isAdmin
    ? administrator
    : { _tag: "Member", author: principal, owned: ownedRanges(tree, holderOf(principal)) }

/** Whether a change is there for a reader: as `ChangePolicy.visible` has it for the principal. */
export const sees = (reader: ChangeReader, change: Concerned): boolean =>
  reader._tag === "Administrator" ||
  isAuthor(reader.author, change) ||
  change.paths.some((path) => includes(reader.owned, keyOf(path)))
