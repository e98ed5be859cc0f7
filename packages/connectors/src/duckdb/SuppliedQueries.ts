/**
 * Statements over tables that come with them, in DuckDB processes like those over folders: no network, no file but
 * the process's own, a gate before every statement, and bounds of memory, time and size.
 *
 * Both the tables and the statement may be hostile. A process works for one owner at a time and is gone with it; each
 * statement has an engine of its own, so that nothing stays in the process either.
 *
 * Source: decisions.md §5, §7.
 */
import {
  ConnectorError,
  SourceOutOfMemory,
  StatementFailed,
  StatementTimedOut
} from "@castellan/core/connector/ConnectorDriver"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import * as PrivateDirectory from "../files/internal/PrivateDirectory.ts"
import { formatOf } from "../files/internal/TableNames.ts"
import { type DuckProcess, start } from "./internal/DuckProcess.ts"
import { type Cage, canCage, canSeal } from "./internal/Enclosure.ts"
import type { ProcessEnded } from "./internal/ProcessEnded.ts"
import { programFiles } from "./internal/ProgramFiles.ts"
import * as ProcessPool from "./internal/ProcessPool.ts"
import { ofEnd, ofReply, unavailable } from "./internal/SourceFailure.ts"

/** How the machine may be used. Every value has a default. */
export interface Options {
  /** Resident memory of one process, in bytes: 1 GiB by default. A statement that needs more is stopped. */
  readonly memory?: number
  /** Bytes that one process may keep in the system's temporary folder beside the files of a statement: `memory` by default. */
  readonly spill?: number
  /** Threads of one process: by default as many as the machine has processors, at most 4. */
  readonly threads?: number
  /**
   * Processes at the same time: 4 by default. Statements beyond wait, and of one owner those beyond a half, so that no
   * owner's endless ones keep all others waiting.
   */
  readonly concurrency?: number
  /** How long a process without work is kept for its owner: 1 minute by default. */
  readonly idle?: Duration.Input
  /** How long a statement may take, its wait included: 1 minute by default. */
  readonly timeout?: Duration.Input
  /** How long a statement may take to stop before its process is killed: half a second by default. */
  readonly grace?: Duration.Input
  /** Bytes of the tables of a statement together, at most: 256 MiB by default. */
  readonly maximumTables?: number
  /** Bytes of the cells of a result, at most: 256 MiB by default. A larger one fails. */
  readonly maximumResult?: number
}

/** A table that comes with a statement. */
export interface SuppliedTable {
  /** What the statement calls it. One that ends as a file of a known kind does is that file; any other is Arrow. */
  readonly name: string
  readonly content: Uint8Array
}

/** What asks for one owner. */
export interface SuppliedSession {
  /** The result of one read-only statement over these tables, as an Arrow IPC stream. */
  readonly query: (statement: string, tables: ReadonlyArray<SuppliedTable>) => Effect.Effect<Uint8Array, ConnectorError>
}

/** Asks for owners, each apart from the others. */
export interface SuppliedQueries {
  /** Starts nothing: a process comes with the first statement, and is gone with the scope. */
  readonly open: Effect.Effect<SuppliedSession, never, Scope.Scope>
}

/** Who asks. */
interface Owner {
  readonly group: string
  /** How many statements of one owner are answered at a time. */
  readonly turns: Semaphore.Semaphore
}

const megabyte = 1024 * 1024

const tooLarge = (message: string): ConnectorError => new ConnectorError({ reason: new SourceOutOfMemory({ message }) })

/** Makes it; its processes and temporary files are gone when the scope closes. */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<SuppliedQueries, never, Scope.Scope> {
  const memory = options.memory ?? 1024 * megabyte
  const spill = options.spill ?? memory
  const threads = options.threads ?? Math.min(availableParallelism(), 4)
  const grace = Duration.fromInputUnsafe(options.grace ?? "500 millis")
  const timeout = Duration.fromInputUnsafe(options.timeout ?? "1 minute")
  const maximumTables = options.maximumTables ?? 256 * megabyte
  const maximumResult = options.maximumResult ?? 256 * megabyte
  const concurrency = options.concurrency ?? 4

  const directory = yield* PrivateDirectory.acquire
  // Where a process has its cage, and where it looks for a connector's folder if it has none.
  const empty = join(directory, "nothing")
  const codeDirectory = join(directory, "code")
  yield* Effect.promise(() => Promise.all([mkdir(empty), mkdir(codeDirectory)]))
  const readable = programFiles()
  const cageFor = (own: string): Cage => ({ root: empty, readable, writable: [own, codeDirectory] })
  const walls = yield* Effect.cached(
    Effect.gen(function* () {
      if (yield* Effect.promise(() => canCage(codeDirectory, cageFor(codeDirectory)))) return "cage"
      yield* Effect.logWarning(
        "SQL of sandboxes runs in processes that see the files of this machine: they cannot have namespaces here"
      )
      return (yield* Effect.promise(() => canSeal(empty))) ? "seal" : "none"
    })
  )
  /** Where each process keeps what it writes. */
  const directories = new WeakMap<DuckProcess, string>()

  const startProcess = Effect.fnUntraced(function* (): Effect.fn.Return<DuckProcess, ProcessEnded, Scope.Scope> {
    const own = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(directory, "statement-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    )
    const kind = yield* walls
    const process = yield* start({
      memory,
      grace,
      folder: empty,
      sealed: kind !== "none",
      ...(kind === "cage" ? { cage: cageFor(own) } : {}),
      directory: own,
      codeDirectory
    })
    directories.set(process, own)
    return process
  })

  const pool = yield* ProcessPool.make(startProcess, {
    concurrency,
    idle: Duration.fromInputUnsafe(options.idle ?? "1 minute"),
    keepBelow: memory / 2
  })

  const ask = ({ group, turns }: Owner, statement: string, tables: ReadonlyArray<SuppliedTable>) =>
    pool
      .use({ group, version: "" }, (process) =>
        process.ask(
          {
            _tag: "Select",
            statement,
            tables: tables.map(({ content, name }) => ({
              name,
              format: formatOf(name) ?? "arrow",
              bytes: content.length
            })),
            maxBytes: maximumResult,
            directory: directories.get(process) ?? "",
            memory,
            spill,
            threads
          },
          maximumResult,
          tables.map(({ content }) => content)
        )
      )
      .pipe(
        Effect.tapErrorTag("ProcessEnded", ({ detail, reason }) =>
          reason === "closed" ? Effect.void : Effect.logWarning("a DuckDB process did not answer", { reason, detail })
        ),
        Effect.catchTag("ProcessEnded", (end) => Effect.fail(ofEnd(end))),
        turns.withPermit
      )

  const query = Effect.fn("SuppliedQueries.query")(
    function* (owner: Owner, statement: string, tables: ReadonlyArray<SuppliedTable>) {
      const size = tables.reduce((sum, { content }) => sum + content.length, 0)
      if (size > maximumTables) {
        return yield* tooLarge(`the tables have ${size} bytes, of which at most ${maximumTables} can be queried`)
      }
      if (statement.trim() === "") {
        return yield* new ConnectorError({ reason: new StatementFailed({ message: "there is no statement" }) })
      }
      const { payload, response } = yield* ask(owner, statement, tables)
      if (response._tag === "Failed" && response.kind === "oversized") return yield* tooLarge(response.message)
      return response._tag === "Selected" ? payload : yield* ofReply(response)
    },
    (effect) =>
      Effect.timeoutOrElse(effect, {
        duration: timeout,
        orElse: () => {
          const message = `the statement did not finish within ${Duration.format(timeout)}, and was stopped`
          return Effect.fail(new ConnectorError({ reason: new StatementTimedOut({ message }) }))
        }
      })
  )

  let owners = 0

  const open = Effect.gen(function* () {
    const scope = yield* Effect.scope
    const group = yield* Effect.acquireRelease(
      Effect.sync(() => `owner-${owners++}`),
      (closed) => pool.forget(closed)
    )
    const owner: Owner = { group, turns: yield* Semaphore.make(Math.max(1, Math.floor(concurrency / 2))) }
    const session: SuppliedSession = {
      // In the owner's scope: what is still asked when it closes is stopped first, and its process is forgotten then.
      query: (statement, tables) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.forkIn(restore(query(owner, statement, tables)), scope, { startImmediately: true }).pipe(
            Effect.flatMap((asking) =>
              restore(Fiber.await(asking)).pipe(Effect.onInterrupt(() => Fiber.interrupt(asking)))
            ),
            Effect.flatMap((exit) =>
              Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
                ? Effect.fail(unavailable("this source is being closed"))
                : exit
            )
          )
        )
    }
    return session
  })

  return { open }
})
