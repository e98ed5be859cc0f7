/**
 * The host's end of a fork-server, at the edge to Node: spawning it, its lines, and its end.
 *
 * Its timers are Node's and not Effect's: they guard an operating-system process, which lives in real time also where a
 * test has stopped the clock.
 */
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { Writable } from "node:stream"
import { Notice } from "./SessionRequest.ts"

/** Who a process runs as. */
export interface ProcessUser {
  readonly uid: number
  readonly gid: number
}

/** How a fork-server is started. */
export interface HandleOptions {
  readonly bubblewrap: string
  /** Its options, which no command line shows. */
  readonly options: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
  /** Absent: as the host. */
  readonly user: ProcessUser | undefined
}

/** What a fork-server says when it is ready. */
export interface Ready {
  readonly packages: ReadonlyArray<string>
  readonly python: string
}

interface Tracked {
  hasEnded: boolean
  wasKilled: boolean
  readonly waiting: Array<() => void>
}

const keptErrors = 8192
/** Milliseconds: for the imports of a start on a loaded machine, and for an end in order. */
const startLimit = 60_000
const endLimit = 2000
/** Milliseconds in which a session whose connection was closed is gone; else the fork-server itself is at fault. */
const sessionEndLimit = 10_000

const decodeNotice = Schema.decodeUnknownExit(Notice)

/** A running fork-server. */
export class ForkServerHandle {
  readonly #child: ChildProcess
  readonly #input: Writable
  readonly #tracked = new Map<string, Tracked>()
  readonly #memory = new Map<string, Array<(bytes: number | undefined) => void>>()
  readonly #onReady: Array<(ready: Exit.Exit<Ready, string>) => void> = []
  readonly #onEnd: Array<() => void> = []
  readonly #startTimer: NodeJS.Timeout
  #ready: Ready | undefined
  #errors = ""
  #hasEnded = false

  /** Spawns it, in a group of its own, so that a signal to the host's terminal does not hit it. */
  constructor(options: HandleOptions) {
    this.#child = spawn(options.bubblewrap, ["--args", "3", ...options.command], {
      cwd: "/",
      detached: true,
      env: {},
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      ...options.user
    })
    const [input, output, errors, given] = this.#child.stdio
    if (!input || !output || !errors || !given || !("end" in given)) throw new TypeError("a process without pipes")
    this.#input = input
    for (const stream of [input, output, errors, given]) stream.on("error", () => undefined)
    given.end(options.options.map((argument) => `${argument}\0`).join(""))
    errors.on("data", (chunk) => {
      this.#errors = (this.#errors + String(chunk)).slice(-keptErrors)
    })
    createInterface({ input: output }).on("line", (line) => this.#hear(line))
    this.#child.on("error", (error) => {
      this.#errors += error.message
      this.#end()
    })
    this.#child.on("close", () => this.#end())
    this.#startTimer = setTimeout(() => {
      this.#errors += "it was not ready in time"
      this.kill()
    }, startLimit)
  }

  /** Whether it can take sessions. */
  get isRunning(): boolean {
    return !this.#hasEnded && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The number of bubblewrap's process. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Tells once whether it became ready, or what it wrote to standard error before it ended. */
  whenReady(tell: (ready: Exit.Exit<Ready, string>) => void): void {
    if (this.#ready !== undefined) tell(Exit.succeed(this.#ready))
    else if (this.#hasEnded) tell(Exit.fail(this.#errors))
    else this.#onReady.push(tell)
  }

  /** Notes a session that is about to be opened. */
  track(token: string): void {
    this.#tracked.set(token, { hasEnded: false, wasKilled: false, waiting: [] })
  }

  /** Forgets a session. */
  forget(token: string): void {
    this.#tracked.delete(token)
  }

  /** Whether a session was ended because of the memory that it held. */
  wasKilled(token: string): boolean {
    return this.#tracked.get(token)?.wasKilled ?? false
  }

  /** Tells once nothing of a session is left, whenever that is. */
  whenGone(token: string, tell: () => void): void {
    const tracked = this.#tracked.get(token)
    if (this.#hasEnded || tracked === undefined || tracked.hasEnded) tell()
    else tracked.waiting.push(tell)
  }

  /** The same where its connection was closed: if it takes too long, the fork-server ends with all its sessions. */
  expectGone(token: string, tell: () => void): void {
    const timer = setTimeout(() => this.kill(), sessionEndLimit)
    this.whenGone(token, () => {
      clearTimeout(timer)
      tell()
    })
  }

  /** Asks for the memory of a session; undefined where there is none any more. */
  askMemory(token: string, tell: (bytes: number | undefined) => void): void {
    if (!this.isRunning) return tell(undefined)
    const waiting = this.#memory.get(token)
    if (waiting !== undefined) return void waiting.push(tell)
    this.#memory.set(token, [tell])
    this.#input.write(`${JSON.stringify({ memory: token })}\n`)
  }

  /** Ends it in order, with all its sessions. */
  close(tell: () => void): void {
    if (this.#hasEnded) return tell()
    const timer = setTimeout(() => this.kill(), endLimit)
    this.#onEnd.push(() => {
      clearTimeout(timer)
      tell()
    })
    this.#input.end()
  }

  /** Kills it, and all its sessions with it: their namespace of processes ends with bubblewrap. */
  kill(): void {
    this.#child.kill("SIGKILL")
  }

  #hear(line: string): void {
    const decoded = decodeNotice(line)
    if (Exit.isFailure(decoded)) {
      this.#errors += `it said ${line.slice(0, 200)}`
      return this.kill()
    }
    const notice = decoded.value
    if ("ready" in notice) this.#becomeReady(notice)
    else if ("ended" in notice) this.#endSession(notice.ended)
    else if ("killed" in notice) {
      const tracked = this.#tracked.get(notice.killed)
      if (tracked !== undefined) tracked.wasKilled = true
    } else this.#tellMemory(notice.memory, notice.bytes ?? undefined)
  }

  #becomeReady(ready: Ready): void {
    clearTimeout(this.#startTimer)
    this.#ready = ready
    for (const tell of this.#onReady.splice(0)) tell(Exit.succeed(ready))
  }

  #endSession(token: string): void {
    const tracked = this.#tracked.get(token)
    if (tracked === undefined) return
    tracked.hasEnded = true
    for (const tell of tracked.waiting.splice(0)) tell()
  }

  #tellMemory(token: string, bytes: number | undefined): void {
    const waiting = this.#memory.get(token) ?? []
    this.#memory.delete(token)
    for (const tell of waiting) tell(bytes)
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#startTimer)
    for (const tell of this.#onReady.splice(0)) tell(Exit.fail(this.#errors))
    for (const token of this.#tracked.keys()) this.#endSession(token)
    for (const token of this.#memory.keys()) this.#tellMemory(token, undefined)
    for (const tell of this.#onEnd.splice(0)) tell()
  }
}
