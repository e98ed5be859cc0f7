/**
 * The service's side of the embedded database's thread: starts it, opens sessions, and starts it again after a crash,
 * from which PostgreSQL recovers by its log.
 */
import { createRequire } from "node:module"
import type { Duplex } from "node:stream"
import { Worker } from "node:worker_threads"
import type { EngineAnswer, EngineOptions, EngineRequest, StartFailure } from "./EngineMessage.ts"
import { EngineStream } from "./EngineStream.ts"

const program = (): string => createRequire(import.meta.url).resolve("@castellan/postgres/embedded/worker")

/** The database could not be started, or has ended. */
export class EngineEnded extends Error {
  readonly failure: StartFailure

  constructor(failure: StartFailure, message: string) {
    super(message)
    this.failure = failure
  }
}

interface Running {
  readonly worker: Worker
  readonly sessions: Map<number, EngineStream>
  readonly ready: Promise<void>
  readonly ended: Promise<void>
}

/** Bytes change hands; nothing is copied. */
const post = (worker: Worker, request: EngineRequest): void =>
  worker.postMessage(request, request.type === "data" ? [request.bytes.buffer] : [])

/** A database in a thread. */
export class EngineHandle {
  readonly #options: EngineOptions
  #running: Running | undefined
  #isStopped = false
  #sessions = 0

  constructor(options: EngineOptions) {
    this.#options = options
  }

  /** Resolves when the database is there; rejects with `EngineEnded` where it cannot be. */
  async start(): Promise<void> {
    await this.#current().ready
  }

  /** A session, as a role or as the owner. After a crash, it starts the database again. */
  connect(role?: string): Duplex {
    const running = this.#current()
    const session = ++this.#sessions
    const stream = new EngineStream({
      open: () => post(running.worker, { type: "open", session, role }),
      send: (bytes) => post(running.worker, { type: "data", session, bytes }),
      close: () => {
        running.sessions.delete(session)
        post(running.worker, { type: "close", session })
      }
    })
    running.sessions.set(session, stream)
    stream.once("close", () => running.sessions.delete(session))
    return stream
  }

  /** Ends the database in order: everything is in its files, and the folder is free. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const running = this.#running
    if (running === undefined) return
    post(running.worker, { type: "stop" })
    await running.ended
  }

  /** Ends the thread as a crash would, for tests of what follows. */
  async crash(): Promise<void> {
    await this.#running?.worker.terminate()
  }

  #current(): Running {
    if (this.#isStopped) throw new EngineEnded("Unusable", "the embedded database was stopped")
    return (this.#running ??= this.#spawn())
  }

  #spawn(): Running {
    const worker = new Worker(program(), {
      workerData: this.#options,
      name: "castellan-database",
      execArgv: ["--disable-warning=ExperimentalWarning"]
    })
    const sessions = new Map<number, EngineStream>()
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    // Who waits for it is told; a session is told on its own.
    ready.promise.catch(() => undefined)
    let reason = new EngineEnded("Unusable", `the database in ${this.#options.folder} ended unexpectedly`)
    worker.on("message", (answer: EngineAnswer) => {
      switch (answer.type) {
        case "ready":
          return ready.resolve()
        case "failed":
          reason = new EngineEnded(answer.failure, answer.message)
          return ready.reject(reason)
        case "data":
          return sessions.get(answer.session)?.receive(answer.bytes)
        case "closed":
          return void sessions.get(answer.session)?.push(null)
      }
    })
    worker.on("error", (error) => {
      reason = new EngineEnded("Unusable", `the database in ${this.#options.folder} failed: ${error.message}`)
    })
    worker.once("exit", () => {
      this.#running = undefined
      ready.reject(reason)
      for (const stream of sessions.values()) stream.destroy(reason)
      ended.resolve()
    })
    return { worker, sessions, ready: ready.promise, ended: ended.promise }
  }
}
