/**
 * A child process of the embedded tier, at the edge to Node: started with an empty environment and with no more than
 * it needs to load, watched, killed whole.
 *
 * Its timer is Node's and not Effect's: it guards a process of the system, which lives in real time also where a test
 * has stopped the clock.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { type ChildEnd, ChildEnded } from "./ChildEnded.ts"
import { askEvery, residentMemory } from "./ResidentMemory.ts"

/** How a child is started. */
export interface DenoOptions {
  /** The path of Deno's program. */
  readonly deno: string
  /** The path of the program that Deno runs. */
  readonly program: string
  /** Files and folders that may be read until the child gives that up. */
  readonly readable: ReadonlyArray<string>
  /** Bytes that Python's memory may have. */
  readonly memory: number
  /** Whether the program's packages are looked up in `node_modules`. */
  readonly packages: boolean
}

/** What the process has resident beside Python's memory: Deno, the compiled interpreter, JavaScript's heap, files. */
const overhead = 768 * 1024 * 1024

/**
 * What the system counts as data beside Python's memory: the engine maps 1.3 GB before it runs anything, and needs some
 * more to compile what runs often.
 */
const reserved = 1792 * 1024 * 1024

const javascriptMegabytes = 256
const pageBytes = 64 * 1024
const keptErrors = 4096
/** Milliseconds that a child has to end once it has closed its output: it cannot say anything any more. */
const endLimit = 1000
/** Bytes of errors that a child may write: what Deno itself says when it fails is a fraction of it. */
const maximumErrors = 1024 * 1024

/**
 * The whole environment. Deno's folder is one that cannot be made, so that nothing can be stored. Graphics processors
 * need no permission of Deno's: without a backend there is none, nor a driver that compiles what a program brings and
 * stores it in the home folder of whoever runs the host.
 */
const environment: Readonly<Record<string, string>> = {
  DENO_DIR: process.platform === "win32" ? "NUL\\x" : "/dev/null/x",
  DENO_WEBGPU_BACKEND: "none",
  NO_COLOR: "1",
  DENO_NO_UPDATE_CHECK: "1"
}

/** Deno's arguments. */
export const argumentsOf = ({ memory, packages, program, readable }: DenoOptions): ReadonlyArray<string> => [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-remote",
  ...(packages ? ["--node-modules-dir=manual"] : ["--no-npm"]),
  "--no-config",
  "--no-lock",
  "--cached-only",
  // Some hosts' modules may be imported unless it is said that none may.
  "--deny-import",
  "--unstable-worker-options",
  `--v8-flags=--wasm-max-mem-pages=${Math.floor(memory / pageBytes)},--max-old-space-size=${javascriptMegabytes}`,
  `--allow-read=${readable.map((path) => path.replaceAll(",", ",,")).join(",")}`,
  program
]

/**
 * Where memory runs out, this process goes before any other; it leaves no core file; what writes to any file ends with
 * it, since SQLite makes temporary ones without a permission of Deno's; allocations beyond the limit (`$1`, in kilobytes)
 * fail. The shell adds variables to the environment, which `env -i` takes away again.
 */
const limits = `{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
ulimit -c 0
ulimit -f 0
ulimit -d "$1" || exit 70
shift
exec env -i "$@"`

const start = (options: DenoOptions): ChildProcess => {
  const given = argumentsOf(options)
  const more = {
    cwd: process.platform === "win32" ? undefined : "/",
    stdio: "pipe" as const,
    // A group of its own, so that a signal to the server's terminal does not hit it, and a kill hits all of it.
    detached: process.platform !== "win32",
    windowsHide: true
  }
  if (process.platform !== "linux") return spawn(options.deno, [...given], { ...more, env: { ...environment } })
  const kilobytes = String(Math.ceil((options.memory + reserved) / 1024))
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const all = ["-c", limits, "sh", kilobytes, ...variables, options.deno, ...given]
  return spawn("/bin/sh", all, { ...more, env: {} })
}

/** A running child. */
export class DenoProcess {
  /** Why it ended; undefined as long as it runs. */
  ended: ChildEnded | undefined
  readonly #child: ChildProcess
  readonly #watchdog: NodeJS.Timeout
  readonly #onEnd: Array<(ended: ChildEnded) => void> = []
  #killedFor: ChildEnd | undefined
  #errors = ""

  constructor(options: DenoOptions) {
    this.#child = start(options)
    let errorBytes = 0
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      errorBytes += chunk.length
      // Nothing holds a child back here: one that never stops would have the host read for ever.
      if (errorBytes > maximumErrors) return this.kill("breach")
      this.#errors = (this.#errors + chunk.toString()).slice(-keptErrors)
    })
    for (const stream of this.#child.stdio) stream?.on("error", () => undefined)
    this.#child.stdout?.once("end", () => {
      if (this.ended === undefined) setTimeout(() => this.kill("ended"), endLimit).unref()
    })
    this.#child.on("error", (error) => this.#end(70, error.message))
    this.#child.on("close", (code, signal) => this.#end(code ?? 137, signal ?? `exit code ${code}`))
    let asking = false
    this.#watchdog = setInterval(() => {
      if (asking) return
      asking = true
      void this.residentMemory().then((bytes) => {
        asking = false
        if ((bytes ?? 0) > options.memory + overhead) this.kill("memory")
      })
    }, askEvery)
    this.#watchdog.unref()
  }

  /** Its id; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** What it says. */
  get output(): Readable {
    const { stdout } = this.#child
    if (stdout === null) throw new TypeError("a process without pipes")
    return stdout
  }

  /** Sends bytes, one part after another; `sent` is called when the child has room for more, or is gone. */
  send(parts: ReadonlyArray<Uint8Array>, sent: () => void): void {
    const { stdin } = this.#child
    if (this.ended !== undefined || stdin === null || !stdin.writable) return sent()
    stdin.cork()
    for (const part of parts) if (part.length > 0) stdin.write(part)
    stdin.write("", () => sent())
    stdin.uncork()
  }

  /** Resident memory in bytes, where the system tells. */
  async residentMemory(): Promise<number | undefined> {
    return this.pid === undefined || this.ended !== undefined ? undefined : await residentMemory(this.pid)
  }

  /** Kills it with everything that it may have started. */
  kill(reason: ChildEnd): void {
    if (this.ended !== undefined) return
    this.#killedFor ??= reason
    if (this.pid === undefined) return
    try {
      process.kill(process.platform === "win32" ? this.pid : -this.pid, "SIGKILL")
    } catch {
      this.#child.kill("SIGKILL")
    }
  }

  /** Calls back when it has ended, at once where it has already. */
  onEnd(callback: (ended: ChildEnded) => void): void {
    if (this.ended === undefined) this.#onEnd.push(callback)
    else callback(this.ended)
  }

  #end(exitCode: number, detail: string): void {
    if (this.ended !== undefined) return
    clearInterval(this.#watchdog)
    const starved = /out of memory|allocation failed|RangeError: WebAssembly.Memory/i.test(this.#errors)
    const reason = this.#killedFor ?? (starved ? "memory" : "ended")
    this.ended = new ChildEnded({ reason, exitCode, detail: `${detail} ${this.#errors}`.trim() })
    for (const callback of this.#onEnd) callback(this.ended)
  }
}
