/**
 * A process that draws, as a resource: started, asked, and ended whatever happens.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { fork, type ChildProcess } from "node:child_process"
import { createRequire } from "node:module"
import { Socket } from "node:net"
import { Reply, type Request } from "./Protocol.ts"

/** The process ended and left a drawing undone. */
export class DrawingEnded extends Schema.TaggedError<DrawingEnded>()("DrawingEnded", {
  /**
   * It was gone before it was asked; the drawing used up the memory that it may use; or the process was lost, most
   * often to an operating system that ran short of memory itself.
   */
  reason: Schema.Literals(["beforehand", "outOfMemory", "lost"]),
  detail: Schema.String
}) {
  override get message(): string {
    return `the drawing process ended: ${this.detail}`
  }
}

/** A process that draws one chart at a time. */
export interface DrawingProcess {
  /** The id that the operating system gave it. */
  readonly id: number | undefined
  readonly draw: (request: Request) => Effect.Effect<Reply, DrawingEnded>
}

/** The program. A package finds its own modules by its name, in sources and when built alike. */
const program = (): string => createRequire(import.meta.url).resolve("@castellan/charts/vega/child")

/** Enough for the largest chart that is drawn; and no text becomes code, whoever would like to have it. */
const nodeArguments = [
  "--max-old-space-size=384",
  "--disallow-code-generation-from-strings",
  "--disable-warning=ExperimentalWarning"
]

/** How much of what the process said before it ended is kept, in characters. */
const keptErrors = 4096

/** Starts a process, and ends it with the scope. Succeeds when the process is ready to draw. */
export const make: Effect.Effect<DrawingProcess, DrawingEnded, Scope.Scope> = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(Effect.sync(spawn), end)
  const errors = listen(child)
  yield* next(child, undefined, errors).pipe(
    // A program that does not even start, though nobody killed it, is the installation's fault and not a chart's.
    Effect.catchIf(() => child.signalCode === null, Effect.die)
  )
  return { id: child.pid, draw: (request) => next(child, request, errors) }
})

const spawn = (): ChildProcess =>
  fork(program(), {
    // Nothing of the server is passed on; and moments are read in UTC even where something should forget to ask for it.
    env: { TZ: "UTC" },
    execArgv: nodeArguments,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // A group of its own, so that a signal to the server's terminal does not hit it.
    detached: true
  })

const end = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resume(Effect.void)
    hold(child, true)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** Collects what the process writes before it ends; Node says there that its memory is used up. */
const listen = (child: ChildProcess): (() => string) => {
  let text = ""
  child.stderr?.on("data", (chunk) => {
    text = (text + String(chunk)).slice(-keptErrors)
  })
  return () => text
}

/** Keeps the server's event loop alive exactly while it waits: an idle process does not keep a program running. */
const hold = (child: ChildProcess, busy: boolean): void => {
  const { channel, stderr } = child
  if (stderr instanceof Socket) stderr.unref()
  if (busy) {
    child.ref()
    channel?.ref()
  } else {
    child.unref()
    channel?.unref()
  }
}

const readReply = Schema.decodeUnknownEffect(Reply)

/** Sends a request, if there is one, and waits for the next reply. */
const next = (
  child: ChildProcess,
  request: Request | undefined,
  errors: () => string
): Effect.Effect<Reply, DrawingEnded> =>
  Effect.callback<Reply, DrawingEnded>((resume) => {
    const ended = (detail: string): void => {
      const reason = /out of memory|allocation failed/i.test(errors()) ? "outOfMemory" : "lost"
      settle(new DrawingEnded({ reason, detail: `${detail} ${errors()}`.trim() }))
    }
    const onMessage = (message: unknown): void => settle(Effect.orDie(readReply(message)))
    const onError = (error: Error): void => ended(error.message)
    const onClose = (code: number | null, signal: string | null): void => ended(`with ${signal ?? code}.`)
    const forget = (): void => {
      child.off("message", onMessage)
      child.off("error", onError)
      child.off("close", onClose)
      hold(child, false)
    }
    const settle = (result: Effect.Effect<Reply, DrawingEnded>): void => {
      forget()
      resume(result)
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      return settle(new DrawingEnded({ reason: "beforehand", detail: "before it was asked." }))
    }
    child.on("message", onMessage)
    child.on("error", onError)
    child.on("close", onClose)
    hold(child, true)
    if (request !== undefined) child.send(request, (error) => (error === null ? undefined : onError(error)))
    return Effect.sync(forget)
  })
