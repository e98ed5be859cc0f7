/**
 * The children of embedded sessions, ready to work: interpreters, shells, and the one that makes a snapshot.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { EmbeddedBounds } from "../EmbeddedOptions.ts"
import type { ChildEnded } from "./ChildEnded.ts"
import { type DenoChild, start, type Told } from "./DenoChild.ts"
import type { Boot } from "./deno/Wire.ts"
import type { Installation } from "./Installation.ts"
import type { PackageSet } from "./PackageSet.ts"

/** Bytes of a snapshot, at most: Python's memory after its start. */
const maximumSnapshot = 256 * 1024 * 1024

/** What interpreters are started with. */
export interface InterpreterOptions {
  readonly installation: Installation
  readonly bounds: EmbeddedBounds
  readonly packages: PackageSet
  /** What to start with; absent: nothing. */
  readonly snapshot?: { readonly path: string; readonly digest: string }
}

const newNonce = (): string => randomBytes(16).toString("hex")
const nothing = new Uint8Array(0)

const startInterpreter = ({ bounds, installation, packages, snapshot }: InterpreterOptions) => {
  const wheels = packages.packages.map(({ file_name }) => join(packages.folder, file_name))
  return start({
    deno: installation.deno,
    program: installation.kernelProgram,
    readable: [
      installation.programs,
      installation.pyodide,
      ...(snapshot === undefined ? [] : [snapshot.path]),
      ...wheels
    ],
    memory: bounds.memoryBytes,
    packages: false
  })
}

const bootOf = ({ bounds, installation, packages, snapshot }: InterpreterOptions, makeSnapshot: boolean): Boot => ({
  op: "boot",
  nonce: newNonce(),
  pyodide: installation.pyodide,
  snapshot: snapshot?.path ?? "",
  snapshotDigest: snapshot?.digest ?? "",
  makeSnapshot,
  packages: packages.packages.map(({ name }) => name),
  lock: packages.lock,
  fileBytes: bounds.fileBytes,
  fileCount: bounds.fileCount,
  modules: installation.modules.map(({ content, path }) => ({ path, bytes: content.length }))
})

const contentsOf = ({ modules }: Installation): Uint8Array => Buffer.concat(modules.map(({ content }) => content))

const untilReady = ({ head }: Told) => Effect.succeed(head.event === "ready" ? ("last" as const) : ("breach" as const))

/** Starts an interpreter, and waits until it can run programs. */
export const interpreter: (options: InterpreterOptions) => Effect.Effect<DenoChild, ChildEnded, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const child = yield* startInterpreter(options)
    const boot = bootOf(options, false)
    yield* child.ask(boot, contentsOf(options.installation), { id: 0, nonce: boot.nonce, take: untilReady })
    return child
  })

/** The memory of an interpreter that has just started. */
export const snapshot: (options: InterpreterOptions) => Effect.Effect<Uint8Array, ChildEnded> = Effect.fnUntraced(
  function* (options) {
    const child = yield* startInterpreter(options)
    const boot = bootOf(options, true)
    const pieces: Array<Uint8Array> = []
    let left = 0
    yield* child.ask(boot, contentsOf(options.installation), {
      id: 0,
      nonce: boot.nonce,
      take: ({ head, payload }) =>
        Effect.sync(() => {
          if (head.event === "snapshot" && pieces.length === 0 && head.size <= maximumSnapshot) {
            left = head.size
            return left === 0 ? "breach" : "more"
          }
          if (head.event !== "more" || payload.length > left) return "breach"
          pieces.push(payload)
          left -= payload.length
          return left === 0 ? "last" : "more"
        })
    })
    return new Uint8Array(Buffer.concat(pieces))
  },
  Effect.scoped
)

/** Starts a shell, and waits until it can run commands. */
export const shell: (
  installation: Installation,
  bounds: EmbeddedBounds
) => Effect.Effect<DenoChild, ChildEnded, Scope.Scope> = Effect.fnUntraced(function* (installation, bounds) {
  const child = yield* start({
    deno: installation.deno,
    program: installation.shellProgram,
    readable: [installation.shell],
    memory: bounds.memoryBytes,
    packages: true
  })
  const nonce = newNonce()
  const { fileBytes, fileCount } = bounds
  const boot = { op: "boot", nonce, module: installation.shellModule, fileBytes, fileCount } as const
  yield* child.ask(boot, nothing, { id: 0, nonce, take: untilReady })
  return child
})
