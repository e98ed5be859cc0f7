/**
 * The thread of a session's Python. It reads orders between programs, and tells the host by itself what they do, since
 * no other thread has to wait for it then.
 */
import { DiskQuota } from "../internal/deno/DiskQuota.ts"
import { encodeFrame } from "../internal/deno/Frames.ts"
import type { Pyodide, PyodideModule, PyodideOptions, PythonKernel } from "../internal/deno/Pyodide.ts"
import { complain, type DenoRuntime, renounce, writeAll } from "../internal/deno/Runtime.ts"
import { SessionTree } from "../internal/deno/SessionTree.ts"
import { SignalReceiver } from "../internal/deno/Signals.ts"
import { type Boot, type ChildOrder, type ExecuteOrder, filesRoot, pieceBytes, split } from "../internal/deno/Wire.ts"
import type { ThreadReport } from "./kernel.ts"

declare const Deno: DenoRuntime

/** The folder of our own modules inside of Pyodide. */
const modulesFolder = "/castellan"

const environment = {
  HOME: filesRoot,
  LANG: "C.UTF-8",
  TZ: "UTC",
  MPLBACKEND: "agg",
  PYTHONDONTWRITEBYTECODE: "1"
}

type Head = Readonly<Record<string, unknown>>

const nothing = new Uint8Array(0)
const text = new TextDecoder()

const send = (head: Head, payload: Uint8Array = nothing): void => writeAll(Deno, encodeFrame(head, payload))
/** As it is before anything of a user is there, who can put another in its place. */
const post = postMessage.bind(globalThis)
const tell = (report: ThreadReport): void => post(report)

/** What a program's reports are marked with. */
interface Mark {
  readonly id: number
  readonly nonce: string
}

/** The interpreter once it runs. */
class Interpreter {
  readonly #pyodide: Pyodide
  readonly #signals: SignalReceiver
  readonly #kernel: PythonKernel
  readonly #tree: SessionTree
  #mark: Mark = { id: 0, nonce: "" }
  #left = 0
  #dropped = 0
  #calls = 0

  constructor(pyodide: Pyodide, signals: SignalReceiver, boot: Boot) {
    this.#pyodide = pyodide
    this.#signals = signals
    pyodide.FS.mkdirTree(filesRoot)
    pyodide.FS.chdir(filesRoot)
    const output = (stream: "stdout" | "stderr") => ({
      isatty: false as const,
      write: (bytes: Uint8Array) => this.#output(stream, bytes)
    })
    pyodide.setStdin({ stdin: () => null })
    pyodide.setStdout(output("stdout"))
    pyodide.setStderr(output("stderr"))
    const quota = new DiskQuota(pyodide.FS, boot.fileBytes, boot.fileCount)
    this.#tree = new SessionTree(pyodide.FS, quota)
    this.#kernel = pyodide.pyimport("castellan_embedded").start(this.#bridge(), JSON.stringify(environment))
    quota.hold()
  }

  #output(stream: "stdout" | "stderr", bytes: Uint8Array): number {
    const shown = bytes.subarray(0, this.#left)
    this.#left -= shown.length
    this.#dropped += bytes.length - shown.length
    if (shown.length > 0) send({ event: "output", ...this.#mark, stream }, shown)
    return bytes.length
  }

  /** What `castellan_embedded` calls. */
  #bridge(): object {
    return {
      send: (head: string, payload: Uint8Array | undefined) => {
        const fields: Head = JSON.parse(head)
        send({ ...fields, ...this.#mark }, payload ?? nothing)
      },
      arm: () => {
        this.#signals.arm(this.#mark.id)
        this.#pyodide.setInterruptBuffer(this.#signals.buffer)
      },
      disarm: () => {
        this.#pyodide.setInterruptBuffer(undefined)
        this.#signals.disarm()
      },
      struck: () => this.#signals.wants(this.#mark.id),
      sleep: (seconds: number) => {
        this.#signals.sleep(seconds * 1000)
        this.#pyodide.checkInterrupt()
      },
      call: (tables: string, statement: Uint8Array): readonly [string, Uint8Array] => {
        const call = ++this.#calls
        const told: ReadonlyArray<unknown> = JSON.parse(tables)
        this.#signals.expect(call)
        send({ event: "call", ...this.#mark, call, tables: told, bytes: 0 }, statement)
        const answer = this.#signals.wait()
        return answer.kind === "interrupted" ? ["interrupted", nothing] : [answer.kind, answer.content]
      }
    }
  }

  async take(order: ChildOrder, payload: Uint8Array): Promise<void> {
    if (order.op === "files") this.#tree.apply(order.edits, payload)
    else if (order.op === "execute") await this.#execute(order, text.decode(payload))
    else if (order.op === "bind") this.#answer(order, this.#kernel.bind(order.name, payload))
    else if (order.op === "export") {
      this.#mark = order
      this.#answer(order, this.#kernel.export(order.name))
    }
  }

  #answer({ id, nonce }: Mark, said: string): void {
    const fields: Head = JSON.parse(said)
    send({ ...fields, id, nonce })
  }

  async #execute({ environment: more, id, nonce, outputBytes, within }: ExecuteOrder, code: string): Promise<void> {
    this.#mark = { id, nonce }
    this.#left = outputBytes
    this.#dropped = 0
    const said =
      within === "session"
        ? await this.#kernel.execute.callPromising(code)
        : await this.#kernel.execute_alone.callPromising(code, JSON.stringify(more))
    const ending: Head = JSON.parse(said)
    for (const change of this.#tree.changes()) {
      if (change.kind === "file") {
        const { content, path } = change
        const mark = this.#mark
        send(
          { event: "changed", ...mark, path, kind: "file", size: content.length, bytes: 0 },
          content.subarray(0, pieceBytes)
        )
        for (let at = pieceBytes; at < content.length; at += pieceBytes) {
          send({ event: "more", ...mark, bytes: 0 }, content.subarray(at, at + pieceBytes))
        }
      } else send({ event: "changed", ...this.#mark, size: 0, bytes: 0, ...change })
    }
    send({ event: "finished", ...this.#mark, ...ending, dropped_bytes: this.#dropped })
  }
}

/** The memory to start with, which has to be what the host found. */
const snapshotOf = async ({ snapshot, snapshotDigest }: Boot): Promise<Uint8Array> => {
  const memory = Deno.readFileSync(snapshot)
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", memory))
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")
  if (found !== snapshotDigest) throw new Error("the snapshot is not what it was")
  return memory
}

/** Loads Pyodide, and gives up what that needed. */
const load = async (boot: Boot, modules: Uint8Array): Promise<Pyodide> => {
  const loaded: PyodideModule = await import(`file://${boot.pyodide}/pyodide.mjs`)
  const options: PyodideOptions = {
    indexURL: `${boot.pyodide}/`,
    env: environment,
    // What Pyodide says while it starts is for nobody.
    stdout: () => undefined,
    stderr: () => undefined,
    ...(boot.lock === "" ? {} : { lockFileContents: boot.lock, packageBaseUrl: `${boot.pyodide}/` }),
    ...(boot.makeSnapshot ? { _makeSnapshot: true } : {}),
    ...(boot.snapshot === "" ? {} : { _loadSnapshot: await snapshotOf(boot) })
  }
  const pyodide = await loaded.loadPyodide(options)
  const contents = split(modules, boot.modules)
  for (const { path } of boot.modules) {
    const at = `${modulesFolder}/${path}`
    pyodide.FS.mkdirTree(at.slice(0, at.lastIndexOf("/")))
    pyodide.FS.writeFile(at, contents.next().value ?? nothing)
  }
  if (boot.packages.length > 0) {
    const errors: Array<string> = []
    await pyodide.loadPackage(boot.packages, {
      checkIntegrity: true,
      messageCallback: () => undefined,
      errorCallback: (message) => errors.push(message)
    })
    // It only says what went wrong; a session without what it was promised does not start.
    if (errors.length > 0) throw new Error(errors.join("\n"))
  }
  renounce(Deno)
  tell({ kind: "loaded" })
  // What was imported before the wheels were there looks for them again.
  if (boot.packages.length > 0 && boot.snapshot !== "") {
    pyodide.runPython(`
import importlib, sys
importlib.invalidate_caches()
for name in [name for name in sys.modules if name.partition(".")[0] in ("castellan", "castellan_embedded")]:
    del sys.modules[name]
`)
  }
  if (boot.snapshot === "") {
    pyodide.runPython(`import sys; sys.path.insert(0, ${JSON.stringify(modulesFolder)})`)
    pyodide.pyimport("castellan_embedded").warm()
  }
  return pyodide
}

const over = (cause: unknown): void => {
  const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined
  complain(Deno, cause)
  tell({ kind: "over", exitCode: typeof status === "number" ? status & 0xff : 70 })
}

const { exit: end } = Deno
const { wait } = Atomics
const still = new Int32Array(new SharedArrayBuffer(4))
/** Milliseconds in which the other thread ends the process, once it was told. */
const endLimit = 1000

/**
 * A thread that ends by a way of Deno's own tells nobody what with, so that each of them says it first. Where that is
 * not heard, the thread ends all the same, and the other one sees its end of a channel (`life`) go.
 */
const leave = (code: unknown): never => {
  const exitCode = typeof code === "number" ? code & 0xff : 0
  tell({ kind: "over", exitCode })
  // Nothing runs on until the process is gone.
  wait(still, 0, 0, endLimit)
  return end(exitCode)
}
Reflect.set(Deno, "exit", leave)
Reflect.set(globalThis, "close", leave)
Reflect.set(Reflect.get(globalThis, "process"), "exit", leave)

// A program of the user's may leave promises that fail behind; that is nobody's end.
addEventListener("unhandledrejection", (event) => event.preventDefault())

let signals: SignalReceiver | undefined
/** Held as long as this thread lives, and by nobody else: that it ends tells the other thread. */
const life: Array<unknown> = []
let interpreter: Interpreter | undefined

const take = async (order: ChildOrder, payload: Uint8Array): Promise<void> => {
  if (interpreter !== undefined) return interpreter.take(order, payload)
  if (order.op !== "boot" || !("pyodide" in order) || signals === undefined) return
  const pyodide = await load(order, payload)
  if (order.makeSnapshot) {
    const memory = pyodide.makeMemorySnapshot()
    send({ event: "snapshot", nonce: order.nonce, size: memory.length })
    for (let at = 0; at < memory.length; at += pieceBytes) {
      send({ event: "more", nonce: order.nonce, bytes: 0 }, memory.subarray(at, at + pieceBytes))
    }
    return
  }
  interpreter = new Interpreter(pyodide, signals, order)
  send({ event: "ready", nonce: order.nonce, version: pyodide.version })
}

let last = Promise.resolve()
addEventListener("message", ({ data }: MessageEvent) => {
  if ("memory" in data) {
    signals = new SignalReceiver(data.memory)
    life.push(data.life)
  } else last = last.then(() => take(data.order, data.payload)).catch(over)
})
