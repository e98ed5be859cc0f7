/**
 * A machine of the local E2B: a folder, and processes that are what they would be in a real one but for the walls.
 * Paths below `/sandbox` mean the folder.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const terminal = fileURLToPath(new URL("terminal.py", import.meta.url))

/** What a process says. */
export interface Listener {
  readonly data: (stream: "stdout" | "stderr" | "pty", bytes: Uint8Array) => void
  readonly end: (exitCode: number) => void
}

/** What a process is started with. */
export interface Program {
  readonly command: string
  readonly arguments: ReadonlyArray<string>
  readonly terminal: boolean
}

const parents = (): ReadonlyMap<number, number> => {
  const found = new Map<number, number>()
  for (const name of readdirSync("/proc")) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      if (fields[0] !== "Z") found.set(pid, Number(fields[1]))
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

const descendants = (of: number): ReadonlyArray<number> => {
  const table = [...parents()]
  const found: Array<number> = []
  const pending = [of]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [pid, parent] of table) {
      if (parent !== next) continue
      found.push(pid)
      pending.push(pid)
    }
  }
  return found
}

const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1")
  } catch {
    return ""
  }
}

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}

export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), "castellan-e2b-"))
  readonly #python: string
  readonly #processes = new Map<number, { readonly child: ChildProcess; listener: Listener | undefined }>()

  constructor(python: string) {
    this.#python = python
    mkdirSync(join(this.folder, "sandbox"))
  }

  /** What a path of the sandbox is here; also each in a text. */
  placed(text: string): string {
    return text.replaceAll(/(?<![\w/])\/sandbox(?=[/\s]|$)/g, join(this.folder, "sandbox"))
  }

  write(path: string, content: Uint8Array): void {
    const at = this.placed(path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, content)
  }

  read(path: string): Uint8Array | undefined {
    return existsSync(this.placed(path)) ? readFileSync(this.placed(path)) : undefined
  }

  start(program: Program, listener: Listener): number {
    const own = [program.command, ...program.arguments.map((argument) => this.placed(argument))]
    const [command = "", ...rest] = program.terminal ? [this.#python, "-I", terminal, ...own] : own
    const child = spawn(command, rest, {
      cwd: this.folder,
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: this.folder, TERM: "dumb" },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true
    })
    const pid = child.pid ?? -1
    const entry: { readonly child: ChildProcess; listener: Listener | undefined } = { child, listener }
    this.#processes.set(pid, entry)
    const pass = (stream: "stdout" | "stderr") => (bytes: Uint8Array) =>
      entry.listener?.data(program.terminal ? "pty" : stream, bytes)
    child.stdout.on("data", pass("stdout"))
    child.stderr.on("data", pass("stderr"))
    child.stdin.on("error", () => undefined)
    child.on("close", (code) => {
      this.#processes.delete(pid)
      entry.listener?.end(code ?? 137)
    })
    return pid
  }

  /** Nobody listens any more; the process goes on. */
  leave(pid: number): void {
    const entry = this.#processes.get(pid)
    if (entry !== undefined) entry.listener = undefined
  }

  input(pid: number, bytes: Buffer): boolean {
    const entry = this.#processes.get(pid)
    if (entry === undefined) return false
    // What a shell reads has paths; what follows is the session's own.
    const text = bytes.subarray(0, 5).toString() === "exec " ? Buffer.from(this.placed(bytes.toString())) : bytes
    entry.child.stdin?.write(text)
    return true
  }

  signal(pid: number): boolean {
    const entry = this.#processes.get(pid)
    if (entry === undefined) return false
    for (const one of [...descendants(pid), pid]) kill(one, "SIGKILL")
    return true
  }

  /** Everything that runs in it: what it started, and what has left its parents but not its folder. */
  get running(): ReadonlyArray<number> {
    const alive = parents()
    const own = [...alive.keys()].filter((pid) => commandLine(pid).includes(this.folder))
    return [...new Set([...this.#processes.keys(), ...own].flatMap((pid) => [pid, ...descendants(pid)]))].filter(
      (pid) => alive.has(pid)
    )
  }

  /** Ends the machine with all that runs in it. */
  end(): void {
    for (let round = 0; round < 20 && this.running.length > 0; round++) {
      for (const pid of this.running) kill(pid, "SIGKILL")
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}
