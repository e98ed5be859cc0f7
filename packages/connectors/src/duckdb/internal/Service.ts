/**
 * What a DuckDB process does: it answers the requests on its standard input, one at a time, with frames on file
 * descriptor 3, and ends when its input ends, so that it never outlives the server.
 */
import { accessSync, constants } from "node:fs"
import { Socket } from "node:net"
import { type Answer, type Engine, open, spillOf } from "./Engine.ts"
import { EngineFailure } from "./EngineFailure.ts"
import { encode, makeReader } from "./Frame.ts"
import type { FailureKind, Request, Response } from "./Message.ts"
import { spilled } from "./Spill.ts"
import * as SuppliedTables from "./SuppliedTables.ts"

const maxRequest = 1024 * 1024 * 1024
const watch = 100
const retryInterrupt = 10
/** Characters of a message: a statement decides what the engine says of it, and could make it as long as a result. */
const longestMessage = 10_000

/** Serves the requests of this process until its input ends. */
export const serve = (): void => {
  const output = new Socket({ fd: 3, readable: false, writable: true })
  let engine: Engine | undefined
  let selection: SuppliedTables.Selection | undefined
  let watchdog: NodeJS.Timeout | undefined
  let hidden: ReadonlyArray<readonly [string, string]> = []
  let running: { readonly id: number; cancelled: boolean } | undefined

  const send = (response: Response, payload: ReadonlyArray<Uint8Array> = []): void => {
    // At once: the parts of a large result are many, and each alone would be a call to the system.
    output.cork()
    for (const part of encode(JSON.stringify(response), ...payload)) output.write(part)
    output.uncork()
  }

  /** Ends at once. An orderly exit would wait for the engine's threads, which may be busy for hours. */
  const end = (): void => {
    process.kill(process.pid, "SIGKILL")
  }

  /** The message of an engine's error without the folders of this machine. */
  const scrub = (message: string): string =>
    hidden
      .reduce((text, [path, name]) => text.replaceAll(path, name), message)
      .slice(0, longestMessage)
      .toWellFormed()

  const kindOf = (message: string): FailureKind => {
    if (/^Out of Memory Error|bad_alloc|bad allocation/.test(message)) return "memory"
    return /^INTERRUPT Error|^Interrupted/i.test(message) ? "cancelled" : "failed"
  }

  const failure = ({ _tag, id }: Request, error: unknown): Response => {
    const message = (error instanceof Error ? error.message : String(error)).replace(/^Failed to [a-z ]+: /, "")
    const kind = error instanceof EngineFailure ? error.kind : kindOf(message)
    if (_tag !== "Load" || kind !== "failed") return { _tag: "Failed", id, kind, message: scrub(message) }
    // The SQL that reads a file is ours, and tells the reader nothing. What the disk did may pass, what is in a file not.
    const [reason = ""] = message.split(/\s*\n/)
    return { _tag: "Failed", id, kind: reason.startsWith("IO Error") ? "failed" : "unreadable", message: scrub(reason) }
  }

  const isReadable = (file: string): boolean => {
    try {
      accessSync(file, constants.R_OK)
      return true
    } catch {
      return false
    }
  }

  /**
   * Says that memory has run out, and ends, where the process is found above its limit in the midst of a request, or
   * where more is spilled than it may: the engine's own bound is not kept by all that spills, a sort above all.
   */
  const watchLimits = (memory: number, directory: string, spill: number): void => {
    watchdog ??= setInterval(() => {
      if (running === undefined || (process.memoryUsage.rss() <= memory && spilled(directory) <= spill)) return
      send({ _tag: "Failed", id: running.id, kind: "memory", message: "the process is above its limit" })
      output.end(end)
    }, watch)
  }

  const answer = async (request: Exclude<Request, { _tag: "Cancel" }>, payload: Uint8Array): Promise<Answer> => {
    if (request._tag === "Select") {
      hidden = [
        [`${request.directory}/`, ""],
        [request.directory, "the temporary folder"]
      ]
      watchLimits(request.memory, request.directory, request.spill)
      selection = SuppliedTables.select(request, payload)
      return selection.answer
    }
    if (request._tag === "Open") {
      hidden = [
        [`${request.temporaryDirectory}/`, ""],
        [request.temporaryDirectory, "the temporary folder"],
        [`${request.cacheDirectory}/`, ""],
        [request.cacheDirectory, "the cache"],
        [`${request.folder}/`, ""],
        [request.folder, "the folder"]
      ]
      engine = await open(request)
      watchLimits(request.memory, request.temporaryDirectory, spillOf(request))
      const readable = request.tables.every((table) => table.files.every(isReadable))
      return { response: { _tag: "Opened", id: request.id, readable } }
    }
    if (engine === undefined) throw new EngineFailure("failed", "the engine is not open")
    return request._tag === "Load" ? engine.load(request) : engine.run(request)
  }

  const interrupt = (): void => {
    engine?.interrupt()
    selection?.interrupt()
  }

  const handle = async (request: Request, received: Uint8Array): Promise<void> => {
    if (request._tag === "Cancel") {
      if (running?.id !== request.id) return
      running.cancelled = true
      interrupt()
      return
    }
    const own = { id: request.id, cancelled: false }
    running = own
    // An interrupt that comes between two steps of a request is lost on the engine, so it is repeated until the end.
    const interrupter = setInterval(() => {
      if (own.cancelled) interrupt()
    }, retryInterrupt)
    try {
      const { payload, response } = await answer(request, received)
      send(response, payload)
    } catch (error) {
      send(failure(request, error))
    } finally {
      clearInterval(interrupter)
      selection = undefined
      running = undefined
    }
  }

  const read = makeReader(() => maxRequest)
  process.stdin.on("data", (chunk: Buffer) => {
    for (const frame of read(chunk)) {
      const request: Request = JSON.parse(frame.header)
      void handle(request, frame.payload)
    }
  })
  process.stdin.on("end", end)
  process.stdin.on("error", end)
  output.on("error", end)
}
