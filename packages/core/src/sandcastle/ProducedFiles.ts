/**
 * The files that an execution leaves: those that it wrote, and what it displayed that is no text.
 *
 * Source: decisions.md §7 ("`files: [{name, url, mime_type}]`").
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TextBytes from "../library/TextBytes.ts"
import type { Execution } from "./Execution.ts"
import * as ExecutionOutput from "./ExecutionOutput.ts"
import * as MediaType from "./MediaType.ts"
import type { SandboxSession } from "./SandboxRuntime.ts"
import * as SandboxPath from "./SandboxPath.ts"

/** A file that an execution left. */
export interface ProducedFile {
  readonly name: string
  readonly path: SandboxPath.SandboxPath
  readonly mediaType: string
}

/** Something displayed, kept as a file of the session; or why there was no room for it. */
const keepOne = (session: SandboxSession, name: string, { body, mediaType }: ExecutionOutput.DisplayedBody) => {
  const path = SandboxPath.SandboxPath.make(`${SandboxPath.outputs}/${name}`)
  const file: ProducedFile = { name, path, mediaType }
  return session.upload(path, typeof body === "string" ? TextBytes.encode(body) : body).pipe(
    Effect.as(Result.succeed(file)),
    // What the program put out is not lost with it.
    Effect.catchIf(
      ({ reason }) => reason === "exhausted",
      ({ message }) => Effect.succeed(Result.fail(`[${mediaType} was displayed and could not be kept: ${message}]`))
    )
  )
}

/** What was displayed, kept as files of the session; and what there was no room for, a sentence each. */
export const keepDisplayed = Effect.fnUntraced(function* (
  session: SandboxSession,
  execution: Execution,
  output: ExecutionOutput.ExecutionOutput
) {
  const kept = yield* Effect.forEach(output.displayed, (shown, index) =>
    keepOne(session, `${execution.id}-${index + 1}.${MediaType.extensionOf(shown.mediaType)}`, shown)
  )
  return {
    files: kept.flatMap((one) => (Result.isSuccess(one) ? [one.success] : [])),
    missing: kept.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
  }
})

/** Files that an execution says it made or changed. */
export const madeBy = (output: ExecutionOutput.ExecutionOutput): ReadonlyArray<ProducedFile> =>
  [...new Set(ExecutionOutput.filesOf(output))].flatMap((text) => {
    const path = SandboxPath.parse(text)
    // What a session says of itself is checked: a path out of it is no file of it.
    if (Result.isFailure(path)) return []
    const name = text.slice(text.lastIndexOf("/") + 1)
    return [{ name, path: path.success, mediaType: MediaType.ofName(name) }]
  })
