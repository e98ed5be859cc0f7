/**
 * The program of a session's Python: its main thread hears the host while the other runs Python.
 *
 * It speaks by `internal/deno/Wire.ts` over its standard streams, ends with its input, and has no permission from the
 * moment that Pyodide is loaded, before anything of a user comes near it.
 */
import { MessageChannel } from "node:worker_threads"
import { FrameReader } from "../internal/deno/Frames.ts"
import { complain, renounce, type DenoRuntime } from "../internal/deno/Runtime.ts"
import { makeSignals, SignalSender } from "../internal/deno/Signals.ts"
import type { AnswerOrder, ChildOrder } from "../internal/deno/Wire.ts"

declare const Deno: DenoRuntime

/** What the other thread says to this one; the host hears it without this one. */
export type ThreadReport =
  /** Pyodide is loaded: nothing has to be read any more. */
  | { readonly kind: "loaded" }
  /** The interpreter is of no use any more. */
  | { readonly kind: "over"; readonly exitCode: number }

/** The program beside this one, in sources and when built alike. */
const beside = (name: string): URL => new URL(import.meta.url.replace(/kernel(\.\w+)$/, `${name}$1`))

const memory = makeSignals()
const signals = new SignalSender(memory)
/** Deno's own option: the thread may read what this one may, until it gives that up itself. */
const inherited = { deno: { permissions: "inherit" } }
const thread = new Worker(beside("interpreter"), { type: "module", name: "python", ...inherited })

thread.addEventListener("message", ({ data }: MessageEvent<ThreadReport>) => {
  if (data.kind === "over") Deno.exit(data.exitCode)
  renounce(Deno)
})
thread.addEventListener("error", (event) => {
  event.preventDefault()
  complain(Deno, event.message)
  Deno.exit(70)
})
// A thread that hostile code ends by a way of Deno's own says nothing: its end of this channel goes with it.
const { port1: watched, port2: life } = new MessageChannel()
watched.on("close", () => Deno.exit(70))
watched.start()
thread.postMessage({ memory, life }, { transfer: [life] })

const toldOf = ({ error }: AnswerOrder, payload: Uint8Array): Uint8Array =>
  error === undefined ? payload : new TextEncoder().encode(error)

// The host's orders are as they are declared: it is this side that nobody trusts.
const reader = new FrameReader<ChildOrder>({ line: 64 * 1024 * 1024, payload: 1024 * 1024 * 1024 }, JSON.parse)
for await (const chunk of Deno.stdin.readable) {
  for (const { head: order, payload } of reader.push(chunk)) {
    if (order.op === "interrupt") signals.interrupt(order.id)
    else if (order.op === "answer") void signals.answer(order.call, toldOf(order, payload), order.error !== undefined)
    else thread.postMessage({ order, payload }, { transfer: [payload.buffer] })
  }
}
Deno.exit(0)
