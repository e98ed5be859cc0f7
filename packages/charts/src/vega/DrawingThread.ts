/**
 * A worker thread as a resource: started, asked, and ended whatever happens.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import type { Reply, Request, Start } from "./Protocol.ts"

/** What a drawing needed more of than it may have. */
export type Exhausted = { readonly _tag: "Exhausted"; readonly message: string }

/** A thread that draws one chart at a time. */
export interface DrawingThread {
  /** Draws. Dies when the thread ends without an answer. */
  readonly draw: (request: Request) => Effect.Effect<Reply | Exhausted>
}

/** Limits of the memory of one thread, in megabytes. */
const resourceLimits = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 } as const

/** The program of the thread. A package finds its own modules by its name, in sources and when built alike. */
const program = (): string => createRequire(import.meta.url).resolve("@castellan/charts/vega/worker")

/** Starts a thread, and ends it with the scope. Succeeds when the thread is ready to draw. */
export const make = (fontFiles: ReadonlyArray<string>): Effect.Effect<DrawingThread, never, Scope.Scope> =>
  Effect.gen(function* () {
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(fontFiles)),
      (thread) => Effect.promise(() => thread.terminate())
    )
    yield* next(worker, undefined)
    return { draw: (request) => next(worker, request) }
  })

const spawn = (fontFiles: ReadonlyArray<string>): Worker => {
  const workerData: Start = { castellan: "charts", fontFiles }
  // Nothing of the process is passed on: no environment, no flags, no output.
  const worker = new Worker(program(), {
    workerData,
    resourceLimits,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true
  })
  worker.stdout.resume()
  worker.stderr.resume()
  // An idle thread does not keep a program alive; a waiting fiber does.
  worker.unref()
  return worker
}

/** Sends a request, if there is one, and waits for the next reply. */
const next = (worker: Worker, request: Request | undefined): Effect.Effect<Reply | Exhausted> =>
  Effect.callback<Reply | Exhausted>((resume) => {
    const onMessage = (reply: Reply): void => settle(Effect.succeed(reply))
    const onError = (error: unknown): void => settle(failure(error))
    const onExit = (code: number): void => settle(Effect.die(new Error(`the drawing thread ended with code ${code}`)))
    const forget = (): void => {
      worker.off("message", onMessage)
      worker.off("error", onError)
      worker.off("exit", onExit)
    }
    const settle = (result: Effect.Effect<Reply | Exhausted>): void => {
      forget()
      resume(result)
    }
    worker.on("message", onMessage)
    worker.on("error", onError)
    worker.on("exit", onExit)
    if (request !== undefined) worker.postMessage(request, [])
    return Effect.sync(forget)
  })

const failure = (error: unknown): Effect.Effect<Exhausted> =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? Effect.succeed({ _tag: "Exhausted", message: "the chart needs more memory than a chart may use" })
    : Effect.die(error)
