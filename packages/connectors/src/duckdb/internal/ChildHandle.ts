/**
 * The server's end of a DuckDB process, at the edge to Node: spawning, frames, the memory watchdog and killing.
 *
 * Its timers are Node's and not Effect's: they guard an operating-system process, which lives in real time also
 * where a test has stopped the clock.
 */
import * as Exit from "effect/Exit"
import { type ChildProcess, spawn } from "node:child_process"
import { createRequire } from "node:module"
import { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { encode, type Frame, makeReader } from "./Frame.ts"
import { decodeResponse, type Load, type Open, type Request, type Response, type Run, type Select } from "./Message.ts"
import { type EndReason, ProcessEnded } from "./ProcessEnded.ts"
import { type Cage, enclose } from "./Enclosure.ts"
import { residentMemory } from "./ResidentMemory.ts"

/** A request before it has its number. */
export type Work = Omit<Open, "id"> | Omit<Load, "id"> | Omit<Run, "id"> | Omit<Select, "id">

/** A response with its payload. */
export interface Reply {
  readonly response: Response
  readonly payload: Uint8Array
}

/**
 * What an answer may weigh beside twice the cells of a result: header, Arrow's schema and padding. Twice, because
 * cells are counted as they come, and a column may turn from numbers to text.
 */
const frameOverhead = 8 * 1024 * 1024
const watch = 50
const keptStderr = 4096

interface Pending {
  readonly settle: (reply: Exit.Exit<Reply, ProcessEnded>) => void
  /** Bytes that the answer's frame may have. */
  readonly limit: number
  grace: NodeJS.Timeout | undefined
  readonly stopped: Array<() => void>
}

/** How a process is started. */
export interface HandleOptions {
  /** Absolute path of the connector's folder. */
  readonly folder: string
  /** The directory that the process starts in. */
  readonly directory: string
  /** A private directory for compiled code, shared by all processes. */
  readonly codeDirectory: string
  /** Resident memory that it may use, in bytes. */
  readonly memory: number
  /** Milliseconds that it has to stop a request, or to end, before it is killed. */
  readonly grace: number
  /** Whether it has namespaces of its own. */
  readonly sealed: boolean
  /** What it can see, where that is not all that its user sees; then `folder` is of no meaning. */
  readonly cage?: Cage
  /** The program that answers; another than our own only to see what its misbehaviour does. */
  readonly program?: string
}

const require = createRequire(import.meta.url)
const nodeArguments = ["--max-old-space-size=256", "--disable-warning=ExperimentalWarning"]

/** A running process. It takes one request at a time, and is over when `ended` is set. */
export class ChildHandle {
  /** Why the process ended; undefined as long as it runs. */
  ended: ProcessEnded | undefined
  readonly #child: ChildProcess
  readonly #input: Writable
  readonly #memory: number
  readonly #grace: number
  readonly #pending = new Map<number, Pending>()
  readonly #onEnd: Array<() => void> = []
  #nextId = 1
  #killedFor: EndReason | undefined
  #stderr = ""
  #watchdog: NodeJS.Timeout | undefined

  /** Spawns a process. */
  constructor({ cage, codeDirectory, directory, folder, grace, memory, program, sealed }: HandleOptions) {
    this.#memory = memory
    this.#grace = grace
    const script = program ?? require.resolve("@castellan/connectors/duckdb/child")
    const command = enclose(
      { program: process.execPath, arguments: [...nodeArguments, script, codeDirectory] },
      cage === undefined ? { folder, memory, sealed } : { folder: directory, cage, memory, sealed }
    )
    // A group of its own, so that a signal to the server's terminal does not hit it, and a kill hits all of it.
    this.#child = spawn(command.program, command.arguments, {
      cwd: directory,
      detached: true,
      env: {},
      stdio: ["pipe", "ignore", "pipe", "pipe"],
      windowsHide: true
    })
    const [input, , errors, output] = this.#child.stdio
    if (input === null || !(output instanceof Socket) || !errors) throw new TypeError("a process without pipes")
    this.#input = input
    this.#read(output)
    errors.on("data", (chunk) => {
      this.#stderr = (this.#stderr + String(chunk)).slice(-keptStderr)
    })
    input.on("error", () => undefined)
    errors.on("error", () => undefined)
    output.on("error", () => undefined)
    this.#child.on("error", (error) => this.#end(`cannot be started: ${error.message}`, null))
    this.#child.on("close", (code, signal) => this.#end(`ended with ${signal ?? code}`, signal))
    this.#holdHost()
  }

  /** The process's id; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether it runs, as far as the platform tells: it may have died a moment ago, and Node not know it yet. */
  get running(): boolean {
    return this.ended === undefined && (process.platform !== "linux" || this.residentMemory !== undefined)
  }

  /** Resident memory in bytes, where the platform tells. */
  get residentMemory(): number | undefined {
    return this.pid === undefined ? undefined : residentMemory(this.pid)
  }

  /** Sends a request with its payload; `settle` is called exactly once. Answers the request's number. */
  post(work: Work, payloadLimit: number, settle: Pending["settle"], payloads: ReadonlyArray<Uint8Array> = []): number {
    const id = this.#nextId++
    if (this.ended !== undefined) {
      settle(Exit.fail(this.ended))
      return id
    }
    this.#pending.set(id, { settle, limit: 2 * payloadLimit + frameOverhead, grace: undefined, stopped: [] })
    this.#write({ ...work, id }, payloads)
    this.#holdHost()
    return id
  }

  /** Stops a request. `stopped` is called once the process does no more work for it, or is gone. */
  cancel(id: number, stopped: () => void): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return stopped()
    pending.stopped.push(stopped)
    if (pending.grace !== undefined) return
    pending.grace = setTimeout(() => this.kill("unresponsive"), this.#grace)
    this.#write({ _tag: "Cancel", id })
  }

  /** Kills the process and everything it may have started. */
  kill(reason: EndReason): void {
    if (this.ended !== undefined) return
    this.#killedFor ??= reason
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL")
    } catch {
      this.#child.kill("SIGKILL")
    }
  }

  /** Lets the process end by closing its input, and kills it after the grace. `closed` is called when it is gone. */
  close(closed: () => void): void {
    if (this.ended !== undefined) return closed()
    this.#killedFor ??= "closed"
    const grace = setTimeout(() => this.kill("closed"), this.#grace)
    this.#onEnd.push(() => {
      clearTimeout(grace)
      closed()
    })
    this.#child.ref()
    this.#input.end()
  }

  #write(request: Request, payloads: ReadonlyArray<Uint8Array> = []): void {
    for (const part of encode(JSON.stringify(request), ...payloads)) this.#input.write(part)
  }

  #read(output: Readable): void {
    const read = makeReader(() => {
      let limit = frameOverhead
      for (const pending of this.#pending.values()) limit = Math.max(limit, pending.limit)
      return limit
    })
    output.on("data", (chunk: Buffer) => {
      try {
        for (const frame of read(chunk)) this.#answer(frame)
      } catch (error) {
        this.#stderr = String(error)
        this.kill("protocol")
      }
    })
  }

  #answer(frame: Frame): void {
    const decoded = decodeResponse(frame.header)
    if (Exit.isFailure(decoded)) throw new TypeError("a response that does not decode")
    const response = decoded.value
    const pending = this.#pending.get(response.id)
    if (pending === undefined) throw new TypeError("a response to no request")
    this.#pending.delete(response.id)
    this.#settle(pending, Exit.succeed({ response, payload: frame.payload }))
    this.#holdHost()
  }

  #settle(pending: Pending, reply: Exit.Exit<Reply, ProcessEnded>): void {
    clearTimeout(pending.grace)
    pending.settle(reply)
    for (const stopped of pending.stopped) stopped()
  }

  #end(detail: string, signal: NodeJS.Signals | null): void {
    if (this.ended !== undefined) return
    clearInterval(this.#watchdog)
    const starved = signal !== "SIGKILL" && /out of memory|bad_alloc|allocation failed/i.test(this.#stderr)
    const reason = this.#killedFor ?? (starved ? "memory" : "ended")
    this.ended = new ProcessEnded({ reason, detail: `${detail} ${this.#stderr}`.trim() })
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const one of pending) this.#settle(one, Exit.fail(this.ended))
    for (const ended of this.#onEnd) ended()
  }

  /** Keeps the host's event loop alive, and the watchdog awake, exactly while a request is in flight. */
  #holdHost(): void {
    const busy = this.#pending.size > 0
    const holders = [this.#child, ...this.#child.stdio.filter((stream) => stream instanceof Socket)]
    for (const holder of holders) {
      if (busy) holder.ref()
      else holder.unref()
    }
    if (!busy) {
      clearInterval(this.#watchdog)
      this.#watchdog = undefined
    } else {
      this.#watchdog ??= setInterval(() => {
        if ((this.residentMemory ?? 0) > this.#memory) this.kill("memory")
      }, watch)
    }
  }
}
