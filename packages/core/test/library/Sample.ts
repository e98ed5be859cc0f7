/** Trees and their contents from plain texts. */
import { BlobContents, blobId } from "@castellan/core/library/Blob"
import { type LibraryPath, parse } from "@castellan/core/library/LibraryPath"
import type { BlobId } from "@castellan/core/library/ObjectId"
import { empty, file, type Tree } from "@castellan/core/library/Tree"
import * as TreeEdit from "@castellan/core/library/TreeEdit"
import type { FileMode } from "@castellan/core/library/TreeObject"
import { Result } from "effect"

/** What a file holds: a text, or bytes, or either with a mode. */
export type Sample = string | Uint8Array | { readonly mode: FileMode; readonly contents: string | Uint8Array }

const utf8 = new TextEncoder()

/** The bytes of a file. */
export const bytesOf = (sample: Sample): Uint8Array => {
  const contents = typeof sample === "object" && "contents" in sample ? sample.contents : sample
  return typeof contents === "string" ? utf8.encode(contents) : contents
}

const modeOf = (sample: Sample): FileMode => (typeof sample === "object" && "mode" in sample ? sample.mode : "100644")

/** A path that is known to be one. */
export const path = (text: string): LibraryPath => Result.getOrThrow(parse(text))

/** A tree of these files. */
export const tree = (files: Readonly<Record<string, Sample>>): Tree =>
  Result.getOrThrow(
    TreeEdit.apply(
      empty,
      Object.entries(files).map(([name, sample]) =>
        TreeEdit.put(path(name), file(blobId(bytesOf(sample)), modeOf(sample)))
      )
    )
  )

/** The contents of files. */
export const contents = (...all: ReadonlyArray<Readonly<Record<string, Sample>>>): BlobContents =>
  BlobContents.of(
    all.flatMap((files) => Object.values(files).map((one) => [blobId(bytesOf(one)), bytesOf(one)] as const))
  )

/** Contents that were loaded, and no others. */
export const loaded = (entries: Iterable<readonly [BlobId, Uint8Array]>): BlobContents => BlobContents.of(entries)
