/**
 * Forms with files, as the contract takes them: streams of parts whose bytes are read as they come.
 */
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"

/** Bytes of one file at most: 25 MiB. Source: decisions.md §4 ("Multipart"). */
export const maximumFileBytes = 25 * 1024 * 1024

/** Bytes of a form of some files at most, its fields included. */
export const formBytes = (files: number): number => files * maximumFileBytes + 1024 * 1024

/** Bytes of the headers of a part: they count among its bytes where it is read. */
const partHeaderBytes = 16 * 1024

/** A form of some fields and some files: its bounds follow from how many files it may have. */
export const asFormWith = (files: number) =>
  HttpApiSchema.asMultipartStream({
    maxParts: 128,
    maxFieldSize: 512 * 1024,
    maxFileSize: maximumFileBytes + partHeaderBytes,
    maxTotalSize: formBytes(files)
  })
