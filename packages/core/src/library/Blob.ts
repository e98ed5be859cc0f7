/**
 * Contents of files by their ids.
 */
import * as GitObject from "./GitObject.ts"
import { BlobId } from "./ObjectId.ts"

/** The id of a file's contents, as `git hash-object` says it. */
export const blobId = (bytes: Uint8Array): BlobId =>
  BlobId.make(GitObject.digest("blob", bytes), { disableChecks: true })

/** A file's contents as a git object. */
export const encode = (bytes: Uint8Array): GitObject.GitObject => GitObject.make("blob", bytes)

/** Contents that were loaded, for functions that look into files without loading anything. */
export class BlobContents {
  /** Nothing loaded. */
  static readonly empty = new BlobContents(new Map())
  private readonly byId: ReadonlyMap<BlobId, Uint8Array>

  private constructor(byId: ReadonlyMap<BlobId, Uint8Array>) {
    this.byId = byId
  }

  /** The contents of these ids. */
  static of(entries: Iterable<readonly [BlobId, Uint8Array]>): BlobContents {
    return new BlobContents(new Map(entries))
  }

  /** Whether the contents of an id were loaded. */
  has(id: BlobId): boolean {
    return this.byId.has(id)
  }

  /** The contents of an id. Asking for what was not loaded is a mistake of the program, and dies as one. */
  get(id: BlobId): Uint8Array {
    const bytes = this.byId.get(id)
    if (bytes === undefined) throw new Error(`the contents of blob ${id} were not loaded`)
    return bytes
  }

  /** These contents and those. */
  and(more: BlobContents): BlobContents {
    return new BlobContents(new Map([...this.byId, ...more.byId]))
  }

  /** What was loaded, by id. */
  entries(): Iterable<readonly [BlobId, Uint8Array]> {
    return this.byId.entries()
  }
}
