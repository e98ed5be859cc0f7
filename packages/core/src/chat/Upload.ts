/**
 * Files that are sent along with a question: how many, how large, and by which names. They appear at
 * `/sandbox/files/uploads/`.
 *
 * Source: decisions.md §4 ("Multipart").
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../error/Failure.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { OrganizationId } from "../organization/Organization.ts"
import { SandboxPath, segmentProblem, uploads } from "../sandcastle/SandboxPath.ts"
import { ChatId } from "./Chat.ts"

/** An uploaded file's id. */
export const UploadId = Uuid.pipe(Schema.brand("UploadId"))
export type UploadId = typeof UploadId.Type

/** A file that came with a question, as it is told of: its content is in the upload store. */
export const QuestionFile = Schema.Struct({
  id: UploadId,
  /** The name that it was sent by. */
  name: Schema.NonEmptyString,
  /** Where it appears in the sandcastle. */
  path: SandboxPath,
  /** By its name. */
  mediaType: Schema.NonEmptyString,
  /** Bytes. */
  size: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})
export type QuestionFile = typeof QuestionFile.Type

/** A file of a chat. A later one of the same path takes its place. */
export class Upload extends Schema.Class<Upload>("@castellan/core/chat/Upload")({
  ...QuestionFile.fields,
  organizationId: OrganizationId,
  chatId: ChatId,
  createdAt: Schema.DateTimeUtc
}) {}

/** A file as it is sent. */
export interface SentFile {
  readonly name: string
  readonly content: Uint8Array
}

/** Files of one question at most. */
export const maxFiles = 10

/** Files that a chat keeps at most. */
export const maxFilesOfChat = 100

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

const units = ["bytes", "KiB", "MiB"] as const

/** A number of bytes, for people: `512 bytes`, `1.4 MiB`. */
const sizeText = (bytes: number): string => {
  const unit = bytes < 1024 ? 0 : bytes < 1024 * 1024 ? 1 : 2
  const value = bytes / 1024 ** unit
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

const filesFollow = "Files that came with this question:"

/** A question with the files that came with it, as a model reads it: each with its place, size and kind. */
export const toldWith = (
  question: string,
  files: ReadonlyArray<Pick<QuestionFile, "mediaType" | "path" | "size">>
): string =>
  files.length === 0
    ? question
    : [
        question,
        "",
        filesFollow,
        ...files.map(({ mediaType, path, size }) => `- /sandbox/files/${path} (${sizeText(size)}, ${mediaType})`)
      ].join("\n")

/** A question as it was asked, of one that is told with its files; and whether files came with it. */
export const askedIn = (told: string): { readonly question: string; readonly hasFiles: boolean } => {
  const end = told.lastIndexOf(`\n\n${filesFollow}\n- /sandbox/files/`)
  return end === -1 ? { question: told, hasFiles: false } : { question: told.slice(0, end), hasFiles: true }
}
