/**
 * What an execution put out, gathered from its events.
 */
import { utf8Length, utf8Prefix } from "../text/Utf8.ts"
import { stateIsLost } from "./Execution.ts"
import type { Dataframe, ExecEvent, RichBody } from "./SandboxRuntime.ts"
import { ExecutionEvent } from "./ExecutionState.ts"
import { previewOf, truncated } from "./OutputPreview.ts"

/** Something that was displayed and is no text: a picture, a page. */
export interface DisplayedBody {
  readonly mediaType: string
  readonly body: RichBody["body"]
}

/** What an execution has put out so far. */
export interface ExecutionOutput {
  /**
   * Everything in the order in which it came; pieces of one stream that follow each other are one. Past
   * `maximumPieces`, text goes to the last piece of its stream.
   */
  readonly pieces: ReadonlyArray<{ readonly stream: "stdout" | "stderr" | "display"; readonly text: string }>
  readonly displayed: ReadonlyArray<DisplayedBody>
  readonly displayedBytes: number
  /** Whether something was displayed that there was no room for. */
  readonly displayedDropped: boolean
  /** What went wrong, as far as it is told. */
  readonly error: string | undefined
  /** Whether the session's variables are gone. */
  readonly stateLost: boolean
  readonly finished: Extract<ExecEvent, { readonly _tag: "Finished" }> | undefined
  /** Bytes of text so far; beyond the limit, text is dropped. */
  readonly bytes: number
}

/** Pieces that are told apart; each event costs as many steps as there are. */
export const maximumPieces = 1000

/** Displayed things that an answer holds, and bytes of them; what is beyond is dropped, and said to be. */
export const maximumDisplayed = 100
export const maximumDisplayedBytes = 25 * 1024 * 1024

/** Nothing yet. */
export const nothing: ExecutionOutput = {
  pieces: [],
  displayed: [],
  displayedBytes: 0,
  displayedDropped: false,
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
  const last = output.pieces.length - 1
  const place =
    output.pieces[last]?.stream === stream && stream !== "display"
      ? last
      : output.pieces.length < maximumPieces
        ? -1
        : output.pieces.findLastIndex((piece) => piece.stream === stream)
  const before = output.pieces[place]
  const pieces =
    before === undefined
      ? [...output.pieces, { stream, text: shown }]
      : output.pieces.with(place, { stream, text: before.text + shown })
  return { ...output, pieces, bytes: Math.min(maxBytes, output.bytes + size) }
}

const isText = (form: RichBody): form is RichBody & { readonly body: string } =>
  typeof form.body === "string" && (form.mediaType === "text/plain" || form.mediaType === "text/markdown")

const sizeOf = ({ body }: DisplayedBody): number => (typeof body === "string" ? utf8Length(body) : body.length)

/** Adds something displayed as far as there is room for it; the first that there is none for is said to be missing. */
const withDisplayed = (output: ExecutionOutput, shown: DisplayedBody, maxBytes: number): ExecutionOutput => {
  const displayedBytes = output.displayedBytes + sizeOf(shown)
  if (output.displayed.length < maximumDisplayed && displayedBytes <= maximumDisplayedBytes) {
    return { ...output, displayed: [...output.displayed, shown], displayedBytes }
  }
  return output.displayedDropped
    ? output
    : { ...withText(output, "display", truncated, maxBytes), displayedDropped: true }
}

/** An exception as it is kept: the beginning of where it came from, and what it says. */
const errorOf = ({ message, name, traceback }: Extract<ExecEvent, { readonly _tag: "Error" }>): string =>
  [
    ...(traceback.length === 0 ? [] : [previewOf(traceback.join("\n"))]),
    // An exception without words is told by its name, as Python does.
    previewOf(message === "" ? name : `${name}: ${message}`)
  ].join("\n")

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
      return best === undefined ? shown : withDisplayed(shown, best, maxBytes)
    }
    case "Error":
      return { ...output, error: errorOf(event) }
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
  const lost = output.stateLost ? stateIsLost : ""
  switch (output.finished?.outcome) {
    case "completed":
      return Complete.make({})
    case "failed":
      return Fail.make({ error: `${output.error ?? `exit code ${output.finished.exitCode}`}${lost}` })
    case "interrupted":
      return Interrupt.make({ stateLost: output.stateLost })
    case "timed_out":
      return Fail.make({ error: `the execution ran past its time limit${lost}` })
    case undefined:
      return Fail.make({ error: `the sandbox broke off before the execution ended${lost}` })
  }
}
