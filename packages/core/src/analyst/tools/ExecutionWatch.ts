/**
 * An execution as its cell shows it while it goes on: what it puts out is gathered, and told every few seconds where
 * there is more of it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as ExecutionOutput from "../../sandcastle/ExecutionOutput.ts"
import type { ExecEvent, RichBody } from "../../sandcastle/SandboxRuntime.ts"
import { count } from "../../text/Count.ts"
import type { OpenCell } from "../Step.ts"

/** Things that one execution may display as assets, and the bytes of all of them. */
export const maximumDisplays = 20
export const maximumDisplayBytes = 25 * 1024 * 1024

/** Bytes of text that are gathered of one execution. */
const gatheredBytes = 1024 * 1024

/** Characters that a cell shows when its execution has ended, and while it goes on. */
const shownCharacters = 32_000
const shownMeanwhile = 8_000

/**
 * How long it takes until more is told: two seconds, and a twentieth of the time that it has run, so that an hour costs
 * no more than some hundred events.
 */
const shortestPause = Duration.seconds(2)
const pauseAfter = (elapsed: number): number => Math.max(Duration.toMillis(shortestPause), elapsed / 20)

/** A text of at most so many characters: its beginning and its end, where it has more. */
export const bothEnds = (text: string, maxCharacters: number): string => {
  if (text.length <= maxCharacters) return text
  const tail = Math.floor(maxCharacters / 3)
  const head = maxCharacters - tail
  const left = `\n… ${count(text.length - head - tail, "character")} left out …\n`
  return `${text.slice(0, head)}${left}${text.slice(text.length - tail)}`.toWellFormed()
}

/** What was put out, in order; what was displayed has lines of its own among what was printed. */
export const textOf = ({ pieces }: ExecutionOutput.ExecutionOutput): string =>
  pieces.reduce((text, piece) => {
    if (piece.stream !== "display") return text + piece.text
    const before = text === "" || text.endsWith("\n") ? text : `${text}\n`
    return `${before}${piece.text}${piece.text.endsWith("\n") ? "" : "\n"}`
  }, "")

/** The text that a cell shows, line by line. */
export const linesOf = (output: ExecutionOutput.ExecutionOutput, maxCharacters = shownCharacters) => {
  const text = bothEnds(textOf(output), maxCharacters)
  return text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
}

/** What an execution has come to so far. */
export interface Watched {
  readonly output: ExecutionOutput.ExecutionOutput
  /** What it displayed, each in all of its forms. */
  readonly displays: ReadonlyArray<ReadonlyArray<RichBody>>
  readonly displayBytes: number
  /** Things that it displayed beyond the limits. */
  readonly displaysLeftOut: number
}

const nothing: Watched = {
  output: ExecutionOutput.nothing,
  displays: [],
  displayBytes: 0,
  displaysLeftOut: 0
}

const sizeOf = (forms: ReadonlyArray<RichBody>): number => forms.reduce((sum, { body }) => sum + body.length, 0)

const add = (before: Watched, event: ExecEvent): Watched => {
  const after = { ...before, output: ExecutionOutput.add(before.output, event, gatheredBytes) }
  if (event._tag !== "Rich") return after
  const displayBytes = before.displayBytes + sizeOf(event.forms)
  return before.displays.length < maximumDisplays && displayBytes <= maximumDisplayBytes
    ? { ...after, displays: [...before.displays, event.forms], displayBytes }
    : { ...after, displaysLeftOut: before.displaysLeftOut + 1 }
}

/** Watches one execution for its cell. */
export interface ExecutionWatch {
  readonly observe: (event: ExecEvent) => Effect.Effect<void>
  readonly watched: Effect.Effect<Watched>
  /** Runs what is watched, and tells the cell meanwhile; what was put out stays with the cell, however it ends. */
  readonly during: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** A watch over an execution that has not begun. */
export const make = (cell: OpenCell): Effect.Effect<ExecutionWatch> =>
  Effect.map(Ref.make(nothing), (state) => {
    const keep = (maxCharacters: number) =>
      Effect.flatMap(Ref.get(state), ({ output }) => {
        const lines = linesOf(output, maxCharacters)
        return lines.length === 0 ? Effect.void : cell.keep({ output: lines })
      })

    const tellMeanwhile = Effect.gen(function* () {
      const began = yield* Clock.currentTimeMillis
      let told = 0
      while (true) {
        yield* Effect.sleep(pauseAfter((yield* Clock.currentTimeMillis) - began))
        const { bytes } = (yield* Ref.get(state)).output
        if (bytes === told) continue
        told = bytes
        yield* Effect.uninterruptible(Effect.andThen(keep(shownMeanwhile), cell.tell))
      }
    })

    return {
      observe: (event) => Ref.update(state, (before) => add(before, event)),
      watched: Ref.get(state),
      during: (work) => Effect.ensuring(Effect.raceFirst(work, tellMeanwhile), keep(shownCharacters))
    }
  })
