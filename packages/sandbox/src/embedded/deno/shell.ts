/**
 * The program of a session's shell: just-bash over files in memory, in a process that has no permission once the shell
 * is loaded. Each command gets a shell of its own over a copy of the session's files, and what it changed goes back.
 */
import { FrameReader, encodeFrame } from "../internal/deno/Frames.ts"
import { complain, type DenoRuntime, renounce, writeAll } from "../internal/deno/Runtime.ts"
import { ShellFiles, type ShellFileSystem } from "../internal/deno/ShellFiles.ts"
import { type ChildOrder, type ExecuteOrder, filesRoot, pieceBytes, type ShellBoot } from "../internal/deno/Wire.ts"

declare const Deno: DenoRuntime

interface Shell {
  readonly exec: (
    code: string,
    options: { readonly env: Readonly<Record<string, string>>; readonly signal: AbortSignal; readonly rawScript: true }
  ) => Promise<ShellResult>
}

interface ShellResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly stdoutKind?: "text" | "bytes"
  readonly stdoutEncoding?: "binary"
}

/** What just-bash exports, as far as it is used. */
interface ShellModule {
  readonly Bash: new (options: Readonly<Record<string, unknown>>) => Shell
  readonly InMemoryFs: new (files: object, options: { readonly maxTotalBytes: number }) => ShellFileSystem
  readonly getCommandNames: () => ReadonlyArray<string>
}

/** Commands that need what this process has not: threads that read their program, a network, other interpreters. */
const missing = new Set(["sqlite3", "python3", "python", "js-exec", "node", "curl", "wget", "html-to-markdown"])

const nothing = new Uint8Array(0)
const utf8 = new TextEncoder()
const text = new TextDecoder()

const send = (head: Readonly<Record<string, unknown>>, payload: Uint8Array = nothing): void =>
  writeAll(Deno, encodeFrame(head, payload))

/** The bytes of an output, which is text, or one character for each byte. */
const bytesOf = (output: string, binary: boolean): Uint8Array =>
  binary ? Uint8Array.from(output, (character) => character.charCodeAt(0)) : utf8.encode(output)

const load = async (boot: ShellBoot): Promise<ShellModule> => {
  // Some of its dependencies look at the environment, which this process has none of and may not read.
  Object.defineProperty(Reflect.get(globalThis, "process"), "env", { value: Object.freeze({}) })
  const shell: ShellModule = await import(boot.module)
  renounce(Deno)
  return shell
}

/** The shell of one session. */
class SessionShell {
  readonly #module: ShellModule
  readonly #files: ShellFiles
  readonly #commands: ReadonlyArray<string>
  readonly #running = new Map<number, AbortController>()

  constructor(module: ShellModule, boot: ShellBoot) {
    this.#module = module
    this.#files = new ShellFiles(new module.InMemoryFs({}, { maxTotalBytes: boot.fileBytes }), boot.fileCount)
    this.#commands = module.getCommandNames().filter((name) => !missing.has(name))
  }

  take(order: ChildOrder, payload: Uint8Array): Promise<void> | void {
    if (order.op === "files") return this.#files.apply(order.edits, payload)
    if (order.op === "execute") return this.#execute(order, text.decode(payload))
  }

  interrupt(id: number): void {
    this.#running.get(id)?.abort()
  }

  async #execute({ environment, id, nonce, outputBytes }: ExecuteOrder, code: string): Promise<void> {
    const stopped = new AbortController()
    this.#running.set(id, stopped)
    const shell = new this.#module.Bash({
      fs: this.#files.system,
      cwd: filesRoot,
      env: { HOME: filesRoot, LANG: "C.UTF-8", TZ: "UTC" },
      commands: this.#commands,
      executionLimitProfile: "hardened",
      // It would warn about what Deno lacks at every execution; the walls are this process's.
      defenseInDepth: false
    })
    let result: ShellResult
    try {
      result = await shell.exec(code, { env: environment, signal: stopped.signal, rawScript: true })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      result = { stdout: "", stderr: `bash: ${message}\n`, exitCode: stopped.signal.aborted ? 130 : 1 }
    }
    this.#running.delete(id)
    const mark = { id, nonce }
    let left = outputBytes
    let dropped = 0
    const output = (stream: "stdout" | "stderr", bytes: Uint8Array): void => {
      const shown = bytes.subarray(0, left)
      left -= shown.length
      dropped += bytes.length - shown.length
      for (let at = 0; at < shown.length; at += pieceBytes) {
        send({ event: "output", ...mark, stream, bytes: 0 }, shown.subarray(at, at + pieceBytes))
      }
    }
    output("stdout", bytesOf(result.stdout, result.stdoutKind === "bytes" || result.stdoutEncoding === "binary"))
    output("stderr", utf8.encode(result.stderr))
    for (const change of await this.#files.changes()) {
      const { content, ...head } = change
      const size = content.length
      send({ event: "changed", ...mark, ...head, size, bytes: 0 }, content.subarray(0, pieceBytes))
      for (let at = pieceBytes; at < size; at += pieceBytes) {
        send({ event: "more", ...mark, bytes: 0 }, content.subarray(at, at + pieceBytes))
      }
    }
    const failed = result.exitCode === 0 ? "completed" : "failed"
    const outcome = stopped.signal.aborted ? "interrupted" : failed
    const exit_code = result.exitCode & 0xff
    send({ event: "finished", ...mark, outcome, exit_code, dataframes: [], changed: [], dropped_bytes: dropped })
  }
}

let session: SessionShell | undefined

const take = async (order: ChildOrder, payload: Uint8Array): Promise<void> => {
  if (session !== undefined) return session.take(order, payload)
  if (order.op !== "boot" || !("module" in order)) return
  session = new SessionShell(await load(order), order)
  send({ event: "ready", nonce: order.nonce, version: "just-bash" })
}

const over = (cause: unknown): never => {
  complain(Deno, cause)
  return Deno.exit(70)
}

let last = Promise.resolve()
// The host's orders are as they are declared: it is this side that nobody trusts.
const reader = new FrameReader<ChildOrder>({ line: 64 * 1024 * 1024, payload: 1024 * 1024 * 1024 }, JSON.parse)
for await (const chunk of Deno.stdin.readable) {
  for (const { head: order, payload } of reader.push(chunk)) {
    if (order.op === "interrupt") session?.interrupt(order.id)
    else last = last.then(() => take(order, payload)).catch(over)
  }
}
Deno.exit(0)
