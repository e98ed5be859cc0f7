/**
 * Ids of git objects: the SHA-1 of what an object holds, so that equal contents have equal ids, here and in git.
 *
 * Source: decisions.md §8 ("`git_ref` is a real git commit id").
 */
import * as Schema from "effect/Schema"

/** The id of any git object: forty lower-case hexadecimal digits. */
export const ObjectId = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{40}$/, {
    title: "a git object id",
    description: "a git object id: 40 lower-case hexadecimal digits"
  })
).pipe(Schema.brand("ObjectId"))
export type ObjectId = typeof ObjectId.Type

/** The id of a file's contents. */
export const BlobId = ObjectId.pipe(Schema.brand("BlobId"))
export type BlobId = typeof BlobId.Type

/** The id of a folder with everything in it. */
export const TreeId = ObjectId.pipe(Schema.brand("TreeId"))
export type TreeId = typeof TreeId.Type

/** The id of a version of the library. */
export const CommitId = ObjectId.pipe(Schema.brand("CommitId"))
export type CommitId = typeof CommitId.Type
