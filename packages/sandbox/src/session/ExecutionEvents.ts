/**
 * What a supervisor says of one execution, made into the events of the port: bounded, in order, harmless to show.
 */
import type { Dataframe, ExecEvent, ExecOutcome, RichBody } from "@castellan/core/sandcastle/SandboxRuntime"
import type { Frame } from "../protocol/FrameReader.ts"
import type { Report, ReportedDataframe } from "../protocol/Report.ts"
import { harmless, lossy, OutputDecoder } from "./OutputText.ts"
import type { SessionLimits } from "./SessionLimits.ts"

type Reported<Event extends Report["event"]> = Extract<Report, { readonly event: Event }>

/** A dataframe as the port tells it. */
export const dataframeOf = ({ columns, memory, name, rows }: typeof ReportedDataframe.Type): Dataframe => ({
  name: harmless(name),
  rows,
  columns,
  ...(memory === undefined ? {} : { memoryBytes: memory })
})

/** Media types that are text, which others would be told as bytes. */
const isText = (mediaType: string): boolean =>
  /^text\/|\+(?:json|xml)$|^application\/(?:json|javascript)$/u.test(mediaType)

/** Texts that people read as they are; markup and data keep every character. */
const isProse = (mediaType: string): boolean => mediaType === "text/plain" || mediaType === "text/markdown"

const formsOf = ({ forms }: Reported<"rich">, payload: Uint8Array): ReadonlyArray<RichBody> => {
  let at = 0
  return forms.flatMap(({ bytes, media_type: mediaType }) => {
    const body = payload.subarray(at, (at += bytes))
    if (mediaType === "") return []
    const text = isText(mediaType) ? lossy(body) : undefined
    return [
      { mediaType, body: text === undefined ? Uint8Array.from(body) : isProse(mediaType) ? harmless(text) : text }
    ]
  })
}

/** The events of one execution, made of reports that were checked and not checked again. Each method is called with what came, and answers what became of it. */
export class ExecutionEvents {
  readonly #tell: (event: ExecEvent) => void
  readonly #decoders = { stdout: new OutputDecoder(), stderr: new OutputDecoder() }
  #outputLeft: number
  #richLeft: number
  #eventsLeft: number
  /** Letters of exceptions that are told beyond the first, which always is. */
  #errorsLeft: number
  #hasFailed = false
  #dropped = 0
  #started = false
  #finished = false

  constructor(limits: SessionLimits, tell: (event: ExecEvent) => void) {
    this.#tell = tell
    this.#outputLeft = limits.outputBytes
    this.#richLeft = limits.richBytes
    this.#eventsLeft = limits.events
    this.#errorsLeft = limits.outputBytes
  }

  /** Whether the last event was told. */
  get finished(): boolean {
    return this.#finished
  }

  /** It runs; false where that was said before. */
  started(): boolean {
    if (this.#started) return false
    this.#started = true
    this.#tell({ _tag: "Started" })
    return true
  }

  /** Text that was put out; false where it comes before the beginning, as with the others. */
  output({ stream }: Reported<"output">, payload: Uint8Array): boolean {
    if (!this.#started || this.#finished) return this.#started
    const bytes = payload.subarray(0, this.#outputLeft)
    this.#outputLeft -= bytes.length
    this.#dropped += payload.length - bytes.length
    this.#text(stream, this.#decoders[stream].push(bytes))
    return true
  }

  /** A value that was displayed. */
  rich({ payload, report }: Frame & { readonly report: Reported<"rich"> }): boolean {
    if (!this.#open(payload.length)) return this.#started
    if (payload.length > this.#richLeft) {
      this.#dropped += payload.length
      return true
    }
    this.#richLeft -= payload.length
    const forms = formsOf(report, payload)
    if (forms.length > 0) this.#tell({ _tag: "Rich", forms })
    return true
  }

  /** An exception that nothing caught. */
  error({ message, name, traceback }: Pick<Reported<"error">, "message" | "name" | "traceback">): boolean {
    const letters = traceback.reduce((sum, line) => sum + line.length, name.length + message.length)
    if (!this.#open(letters)) return this.#started
    if (this.#hasFailed && letters > this.#errorsLeft) {
      this.#dropped += letters
      return true
    }
    this.#hasFailed = true
    this.#errorsLeft -= letters
    this.#tell({
      _tag: "Error",
      name: harmless(name),
      message: harmless(message),
      traceback: traceback.map(harmless)
    })
    return true
  }

  /** The interpreter is another now. */
  restarted(stateLost: boolean): boolean {
    if (!this.#open(0)) return this.#started
    this.#tell({ _tag: "KernelRestarted", stateLost })
    return true
  }

  /** It ended; false where it had not begun. Nothing is told after it. */
  finish(
    outcome: ExecOutcome,
    told: Pick<Reported<"finished">, "dataframes" | "dropped_bytes" | "exit_code" | "files">
  ): boolean {
    if (!this.#started || this.#finished) return false
    this.#text("stdout", this.#decoders.stdout.end())
    this.#text("stderr", this.#decoders.stderr.end())
    this.#finished = true
    this.#tell({
      _tag: "Finished",
      outcome,
      exitCode: told.exit_code,
      files: told.files,
      dataframes: told.dataframes.map(dataframeOf),
      droppedBytes: this.#dropped + told.dropped_bytes
    })
    return true
  }

  #text(stream: "stderr" | "stdout", text: string): void {
    if (text === "") return
    this.#tell({ _tag: stream === "stdout" ? "Stdout" : "Stderr", text })
  }

  /** Whether there is room for another event; bytes that there is none for are counted. */
  #open(bytes: number): boolean {
    if (!this.#started || this.#finished) return false
    if (this.#eventsLeft === 0) {
      this.#dropped += bytes
      return false
    }
    this.#eventsLeft -= 1
    return true
  }
}
