/**
 * A version of the library: a tree, where it came from, who made it, and why. Its id is the one that git gives it.
 *
 * Source: decisions.md §8 ("`git_ref` is a real git commit id").
 */
import * as Schema from "effect/Schema"
import * as GitObject from "./GitObject.ts"
import { CommitId, TreeId } from "./ObjectId.ts"
import * as TextBytes from "./TextBytes.ts"

/** Who did something, and when. */
export const Signature = Schema.Struct({
  name: Schema.String,
  email: Schema.String,
  /** Kept by git to the second; always UTC. */
  at: Schema.DateTimeUtc
})
export type Signature = typeof Signature.Type

/** A version of the library. */
export class Commit extends Schema.Class<Commit>("@castellan/core/library/Commit")({
  tree: TreeId,
  /** The versions that it came from, the first the one that it replaced; none where it is the first. */
  parents: Schema.Array(CommitId),
  author: Signature,
  committer: Signature,
  /** Why; plain text. */
  message: Schema.String
}) {}

// git parts name, address and time by these, and drops what people's software leaves at the ends of names.
const parting = /[<>\p{Cc}\p{Cs}]/gu
const ends = /^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/gu
const tidy = (text: string): string => text.replace(parting, "").replace(ends, "")

const signatureLine = (role: "author" | "committer", { at, email, name }: Signature): string =>
  `${role} ${tidy(name) || tidy(email) || "unknown"} <${tidy(email)}> ${Math.max(0, Math.floor(at.epochMilliseconds / 1000))} +0000`

const body = (commit: Commit): Uint8Array => {
  const message = commit.message.replaceAll("\0", "")
  return TextBytes.encode(
    [
      `tree ${commit.tree}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      signatureLine("author", commit.author),
      signatureLine("committer", commit.committer),
      "",
      message === "" || message.endsWith("\n") ? message : `${message}\n`
    ].join("\n")
  )
}

/** A version as a git object. */
export const encode = (commit: Commit): GitObject.GitObject => GitObject.make("commit", body(commit))

/** The id of a version, as `git commit-tree` says it. */
export const commitId = (commit: Commit): CommitId =>
  CommitId.make(GitObject.digest("commit", body(commit)), { disableChecks: true })
