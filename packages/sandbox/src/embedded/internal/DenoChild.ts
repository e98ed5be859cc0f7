/**
 * A child process of the embedded tier as a resource: started, given orders, listened to, and gone with its scope.
 *
 * It answers one order at a time. A report that belongs to none, or that breaks the rules of reports, ends it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ChildEnded } from "./ChildEnded.ts"
import { type ChildReport, parseReport } from "./ChildReport.ts"
import { type DenoOptions, DenoProcess } from "./DenoProcess.ts"
import { encodeFrame, type Frame, FrameReader } from "./deno/Frames.ts"
import type { ChildOrder } from "./deno/Wire.ts"
import { maximumLine, maximumPayload } from "../../protocol/Command.ts"

/** A report with the bytes that follow it. */
export type Told = Frame<ChildReport>

/** How an order is answered. */
export interface Answering {
  /** 0 for the answers that have no id. */
  readonly id: number
  readonly nonce: string
  /** Takes a report, and says whether it was the last; `breach` where it cannot have been meant. */
  readonly take: (told: Told) => Effect.Effect<"more" | "last" | "breach">
}

/** A running child. */
export interface DenoChild {
  readonly pid: number | undefined
  readonly running: () => boolean
  /** Sends an order that is answered by nothing, with what follows it: not copied, so it must not change. */
  readonly tell: (order: ChildOrder, contents?: ReadonlyArray<Uint8Array>) => Effect.Effect<void>
  /** Sends an order, and waits until it is answered. */
  readonly ask: (order: ChildOrder, payload: Uint8Array, answering: Answering) => Effect.Effect<void, ChildEnded>
  /** Kills it; completes when it is gone. */
  readonly kill: Effect.Effect<void>
  readonly memoryBytes: Effect.Effect<number | undefined>
}

const limits = { line: maximumLine, payload: maximumPayload }

interface Open extends Answering {
  readonly over: Deferred.Deferred<void, ChildEnded>
}

/** Starts a child. */
export const start: (options: DenoOptions) => Effect.Effect<DenoChild, never, Scope.Scope> = Effect.fnUntraced(
  function* (options) {
    const ended = (process: DenoProcess): Effect.Effect<ChildEnded> =>
      Effect.callback((resume) => process.onEnd((reason) => resume(Effect.succeed(reason))))
    const kill = (process: DenoProcess): Effect.Effect<void> =>
      Effect.suspend(() => {
        process.kill("killed")
        return Effect.asVoid(ended(process))
      })
    const process = yield* Effect.acquireRelease(
      Effect.sync(() => new DenoProcess(options)),
      kill
    )
    let open: Open | undefined

    const take = Effect.fnUntraced(function* (told: Told) {
      const { head } = told
      const id = "id" in head && head.id !== undefined ? head.id : 0
      const conversation = open
      if (conversation === undefined || head.nonce !== conversation.nonce || id !== conversation.id) {
        return process.kill("breach")
      }
      const went = yield* conversation.take(told)
      if (went === "breach") return process.kill("breach")
      if (went === "more") return
      open = undefined
      yield* Deferred.succeed(conversation.over, undefined)
    })

    const reader = new FrameReader(limits, parseReport)
    const read = (chunk: Uint8Array): ReadonlyArray<Told> => {
      try {
        return process.ended === undefined || open !== undefined ? reader.push(chunk) : []
      } catch {
        process.kill("breach")
        return []
      }
    }
    const chunks = Stream.fromAsyncIterable<Uint8Array, unknown>(process.output, (error) => error)
    yield* chunks.pipe(
      Stream.runForEach((chunk) => Effect.forEach(read(chunk), take, { discard: true })),
      // The pipe broke: what ended the process is told by its end.
      Effect.ignore,
      Effect.andThen(ended(process)),
      Effect.andThen((reason) => (open === undefined ? Effect.void : Deferred.fail(open.over, reason))),
      Effect.forkScoped({ startImmediately: true })
    )

    const send = (order: ChildOrder, contents: ReadonlyArray<Uint8Array>): Effect.Effect<void> =>
      Effect.callback((resume) => {
        const bytes = contents.reduce((sum, content) => sum + content.length, 0)
        const line = encodeFrame(bytes === 0 ? { ...order } : { ...order, bytes })
        process.send([line, ...contents], () => resume(Effect.void))
      })

    return {
      pid: process.pid,
      running: () => process.ended === undefined,
      tell: (order, contents = []) => send(order, contents),
      ask: Effect.fnUntraced(function* (order, payload, answering) {
        if (process.ended !== undefined) return yield* process.ended
        const over = yield* Deferred.make<void, ChildEnded>()
        open = { ...answering, over }
        yield* send(order, [payload])
        yield* Deferred.await(over)
      }),
      kill: kill(process),
      memoryBytes: Effect.promise(() => process.residentMemory())
    }
  }
)
