/**
 * Files that are sent along with a question: how many, how large, and by which names. They appear at
 * `/sandbox/files/uploads/`.
 *
 * Source: decisions.md §4 ("Multipart").
 */
import * as Result from "effect/Result"
import { InvalidRequest } from "../error/Failure.ts"
import { SandboxPath, segmentProblem, uploads } from "../sandcastle/SandboxPath.ts"

/** Files of one question at most. */
export const maxFiles = 10

/** Bytes of one file at most: 25 MiB. */
export const maxBytes = 25 * 1024 * 1024

/** A file as it was sent, by what is known of it before it is kept. */
export interface UploadedFile {
  readonly name: string
  /** Bytes. */
  readonly size: number
}

const refuse = (message: string) => Result.fail(new InvalidRequest({ message: `files: ${message}` }))

/** Names that differ in case alone would be one file on some machines. */
const folded = (name: string): string => name.toLowerCase().normalize("NFC")

/** Where a file of a name that was checked appears. */
export const pathOf = (name: string): SandboxPath => SandboxPath.make(`${uploads}/${name}`)

/** Where each file appears, in the order in which they were sent; or which rule they break. */
export const check = (
  files: ReadonlyArray<UploadedFile>
): Result.Result<ReadonlyArray<SandboxPath>, InvalidRequest> => {
  if (files.length > maxFiles) return refuse(`must not be more than ${maxFiles}`)
  const names = new Set<string>()
  const paths: Array<SandboxPath> = []
  for (const { name, size } of files) {
    const shown = JSON.stringify(name.slice(0, 80))
    const problem = name.includes("/") ? "must not have a slash" : segmentProblem(name)
    if (problem !== undefined) return refuse(`the name ${shown} ${problem}`)
    if (size > maxBytes) return refuse(`${shown} must not be larger than 25 MiB`)
    if (names.has(folded(name))) return refuse(`the name ${shown} must not be sent twice`)
    names.add(folded(name))
    paths.push(pathOf(name))
  }
  return Result.succeed(paths)
}
