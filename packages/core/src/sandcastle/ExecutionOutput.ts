/**
 * What an execution put out, gathered from its events.
 */
import { utf8Length, utf8Prefix } from "../text/Utf8.ts"
import type { Dataframe, ExecEvent, RichBody } from "./SandboxRuntime.ts"
import { ExecutionEvent } from "./ExecutionState.ts"
import { truncated } from "./OutputPreview.ts"

/** Something that was displayed and is no text: a picture, a page. */
export interface DisplayedBody {
  readonly mediaType: string
  readonly body: RichBody["body"]
}

/** What an execution has put out so far. */
export interface ExecutionOutput {
  /** Everything in the order in which it came; pieces of one stream that follow each other are one. */
  readonly pieces: ReadonlyArray<{ readonly stream: "stdout" | "stderr" | "display"; readonly text: string }>
  readonly displayed: ReadonlyArray<DisplayedBody>
  /** What went wrong, as far as it is told. */
  readonly error: string | undefined
  /** Whether the session's variables are gone. */
  readonly stateLost: boolean
  readonly finished: Extract<ExecEvent, { readonly _tag: "Finished" }> | undefined
  /** Bytes of text so far; beyond the limit, text is dropped. */
  readonly bytes: number
}

/** Nothing yet. */
export const nothing: ExecutionOutput = {
  pieces: [],
  displayed: [],
  error: undefined,
  stateLost: false,
  finished: undefined,
  bytes: 0
}

/** Adds text as far as the limit lets it through; what is cut is said to be. */
const withText = (
  output: ExecutionOutput,
  stream: ExecutionOutput["pieces"][number]["stream"],
  text: string,
  maxBytes: number
): ExecutionOutput => {
  if (text === "" || output.bytes >= maxBytes) return output
  const size = utf8Length(text)
  const left = maxBytes - output.bytes
  const shown = size <= left ? text : `${utf8Prefix(text, left)}${truncated}`
  const last = output.pieces.at(-1)
  const pieces =
    last?.stream === stream && stream !== "display"
      ? [...output.pieces.slice(0, -1), { stream, text: last.text + shown }]
      : [...output.pieces, { stream, text: shown }]
  return { ...output, pieces, bytes: Math.min(maxBytes, output.bytes + size) }
}

const isText = (form: RichBody): form is RichBody & { readonly body: string } =>
  typeof form.body === "string" && (form.mediaType === "text/plain" || form.mediaType === "text/markdown")

/** What an execution has put out after another event. */
export const add = (output: ExecutionOutput, event: ExecEvent, maxBytes: number): ExecutionOutput => {
  switch (event._tag) {
    case "Started":
      return output
    case "Stdout":
      return withText(output, "stdout", event.text, maxBytes)
    case "Stderr":
      return withText(output, "stderr", event.text, maxBytes)
    case "Rich": {
      const text = event.forms.find(isText)
      const best = event.forms.find((form) => !isText(form))
      const shown = text === undefined ? output : withText(output, "display", text.body, maxBytes)
      return best === undefined ? shown : { ...shown, displayed: [...shown.displayed, best] }
    }
    case "Error":
      return { ...output, error: [...event.traceback, `${event.name}: ${event.message}`].join("\n") }
    case "KernelRestarted":
      return { ...output, stateLost: output.stateLost || event.stateLost }
    case "Finished":
      return { ...output, finished: event }
  }
}

/** The text of some streams, or of all that was put out. */
export const textOf = (output: ExecutionOutput, only?: "stdout" | "stderr"): string =>
  output.pieces
    .filter(({ stream }) => only === undefined || stream === only)
    .map(({ text }) => text)
    .join("")

/** Files that it made or changed. */
export const filesOf = (output: ExecutionOutput): ReadonlyArray<string> => output.finished?.files ?? []

/** Dataframes that it made or changed. */
export const dataframesOf = (output: ExecutionOutput): ReadonlyArray<Dataframe> => output.finished?.dataframes ?? []

/** How an execution ended, as its record has it. One whose sandbox broke off has failed. */
export const endingOf = (output: ExecutionOutput): ExecutionEvent => {
  const { Complete, Fail, Interrupt } = ExecutionEvent.cases
  const lost = output.stateLost ? "; the session was restarted, and its variables are gone" : ""
  switch (output.finished?.outcome) {
    case "completed":
      return Complete.make({})
    case "failed":
      return Fail.make({ error: `${output.error ?? `exit code ${output.finished.exitCode}`}${lost}` })
    case "interrupted":
      return Interrupt.make({})
    case "timed_out":
      return Fail.make({ error: `the execution ran past its time limit${lost}` })
    case undefined:
      return Fail.make({ error: `the sandbox broke off before the execution ended${lost}` })
  }
}
