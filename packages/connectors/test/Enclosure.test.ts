/**
 * What holds where the gate would let something through: the engine's own lock, and the operating system's walls.
 */
import { assert, describe, it } from "@effect/vitest"
import type { DuckDBConnection } from "@duckdb/node-api"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { locked } from "../src/duckdb/internal/Engine.ts"
import { canSeal, enclose } from "../src/duckdb/internal/Enclosure.ts"
import * as Folder from "./support/Folder.ts"

const memory = 512 * 1024 * 1024

describe("the engine's lock", () => {
  const withLock = <A>(body: (connection: DuckDBConnection, folder: string, outside: string) => Promise<A>) =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n", "notes.txt": "private", "b/b.csv": "v\n2\n" })
      const outside = yield* Folder.scoped({ "secret.csv": "v\n3\n" })
      const cache = yield* Folder.scoped({})
      const instance = yield* Effect.promise(() =>
        locked({
          folder,
          cacheDirectory: cache,
          temporaryDirectory: join(cache, "spill"),
          tables: [
            { name: "a", aliases: [], format: "csv", files: [join(folder, "a.csv")], partitioned: false },
            { name: "b", aliases: [], format: "csv", files: [join(folder, "b/b.csv")], partitioned: false }
          ],
          memory,
          threads: 1
        })
      )
      const connection = yield* Effect.promise(() => instance.connect())
      return yield* Effect.promise(() => body(connection, folder, outside)).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            connection.closeSync()
            instance.closeSync()
          })
        )
      )
    })

  it.live("opens the files of the tables", () =>
    withLock(async (connection, folder) => {
      const read = await connection.runAndReadAll(`FROM read_csv(['${folder}/a.csv', '${folder}/b/b.csv'])`)
      assert.deepStrictEqual(read.getRowsJson(), [["1"], ["2"]])
    })
  )

  it.live.each([
    "FROM read_csv('OUTSIDE/secret.csv')",
    "FROM read_text('/etc/passwd')",
    "FROM read_text('FOLDER/notes.txt')",
    "FROM read_text('FOLDER/../FOLDER/notes.txt')",
    "FROM glob('FOLDER/*')",
    "FROM read_csv('http://127.0.0.1:1/x.csv')",
    "COPY (SELECT 1) TO 'FOLDER/new.csv'",
    "COPY (SELECT 1) TO 'FOLDER/a.csv'",
    "COPY (SELECT 1) TO 'OUTSIDE/new.csv'",
    "EXPORT DATABASE 'FOLDER'",
    "ATTACH 'FOLDER/new.duckdb'",
    "ATTACH 'OUTSIDE/new.duckdb'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '/tmp/x.duckdb_extension'",
    "CREATE SECRET s (TYPE s3)",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "SET lock_configuration = false",
    "SET memory_limit = '100GB'",
    "SET threads = 100",
    "SET temp_directory = '/tmp'",
    "RESET memory_limit",
    "PRAGMA enable_external_access"
  ])("holds against %s", (statement) =>
    withLock(async (connection, folder, outside) => {
      const sql = statement.replaceAll("FOLDER", folder).replaceAll("OUTSIDE", outside)
      const error: unknown = await connection.run(sql).then(
        () => undefined,
        (caught: unknown) => caught
      )
      assert.instanceOf(error, Error, sql)
      assert.deepStrictEqual(readdirSync(folder).toSorted(), ["a.csv", "b", "notes.txt"])
      assert.strictEqual(readFileSync(join(folder, "a.csv"), "utf8"), "v\n1\n")
      assert.deepStrictEqual(readdirSync(outside), ["secret.csv"])
    })
  )
})

const sealable = await canSeal(import.meta.dirname)

describe.runIf(sealable)("the operating system's walls", () => {
  /** Runs a program of Node in an enclosure, and answers what it prints. */
  const run = (folder: string, program: string) =>
    Effect.callback<string>((resume) => {
      const command = enclose(
        { program: process.execPath, arguments: ["-e", program] },
        { folder, memory, sealed: true }
      )
      execFile(command.program, command.arguments, { env: {} }, (error, stdout, stderr) => {
        resume(error === null ? Effect.succeed(stdout.trim()) : Effect.die(new Error(stderr)))
      })
    })

  const attempt = (statement: string): string =>
    `try { ${statement}; console.log("done") } catch (error) { console.log(error.code) }`

  it.live.each([
    { what: "a new file", statement: 'require("fs").writeFileSync("FOLDER/new.csv", "x")' },
    { what: "over a file", statement: 'require("fs").writeFileSync("FOLDER/a.csv", "x")' },
    { what: "the end of a file", statement: 'require("fs").truncateSync("FOLDER/a.csv")' },
    { what: "a file away", statement: 'require("fs").unlinkSync("FOLDER/a.csv")' },
    { what: "another mode", statement: 'require("fs").chmodSync("FOLDER/a.csv", 0o777)' }
  ])("keep $what from being written", ({ statement }) =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      assert.strictEqual(yield* run(folder, attempt(statement.replaceAll("FOLDER", folder))), "EROFS")
      assert.strictEqual(readFileSync(join(folder, "a.csv"), "utf8"), "v\n1\n")
    })
  )

  it.live("let the files be read", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      const read = `console.log(require("fs").readFileSync(${JSON.stringify(join(folder, "a.csv"))}, "utf8"))`
      assert.strictEqual(yield* run(folder, read), "v\n1")
    })
  )

  it.live("keep the mount from being undone", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({ "a.csv": "v\n1\n" })
      const undo = `console.log(require("child_process").spawnSync("/bin/mount", ["-o", "remount,bind,rw", ${JSON.stringify(folder)}]).status)`
      assert.notStrictEqual(yield* run(folder, undo), "0")
    })
  )

  it.live("keep every connection from being made", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.scoped({})
      const seen = { connections: 0 }
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const listener = createServer(() => {
            seen.connections++
          }).listen(0, "127.0.0.1", () => resume(Effect.succeed(listener)))
        }),
        (listener) => Effect.callback<void>((resume) => void listener.close(() => resume(Effect.void)))
      )
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const connect = `require("net").connect(${port}, "127.0.0.1")
        .on("connect", () => { console.log("connected"); process.exit() })
        .on("error", (error) => console.log(error.code))`
      assert.include(["ENETUNREACH", "ECONNREFUSED"], yield* run(folder, connect))
      assert.strictEqual(seen.connections, 0)
    })
  )

  it.live("are not there for a folder that is not", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* Effect.promise(() => canSeal("/no/such/folder")))
    })
  )
})
