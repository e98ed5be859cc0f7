/** A PostgreSQL that a test has to itself, to stop it, crash it, and start it again. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { chmod, chown, mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { embeddedPostgres, freePort, prepare, type TestServer } from "../support/PostgresServer.ts"

/** A server of the test's own. */
export interface OwnServer extends TestServer {
  /**
   * Ends it: `SIGINT` in order, with every session ended at once; `SIGQUIT` without order, so that it recovers from its
   * log; `SIGKILL` as a crash of the postmaster. Done when nothing of it runs any more.
   */
  readonly end: (signal: "SIGINT" | "SIGQUIT" | "SIGKILL") => Effect.Effect<void>
  /** Starts it again. Done when it takes connections. */
  readonly start: Effect.Effect<void>
  /** Gives it a folder of ours, for it to keep tables in. */
  readonly give: (path: string) => Effect.Effect<void>
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A new one, with the template of every test's database on it, for as long as the scope. */
export const make = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made = await mkdtemp(join(tmpdir(), "castellan-own-postgres-"))
      await chmod(made, 0o755)
      return made
    }),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const port = yield* Effect.promise(freePort)
  const EmbeddedPostgres = yield* Effect.promise(embeddedPostgres)
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C.UTF-8"],
    // What crashes is PostgreSQL; the machine stays up, so nothing has to be on the disk.
    postgresFlags: ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"],
    onLog: () => {}
  })
  /** After a crash, what is left of it has to notice first. */
  const start = Effect.tryPromise(() => server.start()).pipe(
    Effect.retry({ times: 600, schedule: Schedule.spaced("50 millis") }),
    Effect.orDie
  )
  yield* Effect.promise(() => server.initialise())
  yield* Effect.acquireRelease(start, () => Effect.promise(() => server.stop()))
  const own: OwnServer = {
    name: "PostgreSQL of its own",
    url: `postgres://postgres:postgres@127.0.0.1:${port}`,
    end: Effect.fnUntraced(function* (signal) {
      const [pid = ""] = (yield* Effect.promise(() => readFile(join(folder, "data", "postmaster.pid"), "utf8"))).split(
        "\n"
      )
      process.kill(Number(pid), signal)
      while (isAlive(Number(pid))) yield* Effect.sleep(5)
    }),
    start,
    give: (path) =>
      Effect.promise(async () => {
        const { gid, uid } = await stat(join(folder, "data"))
        await chown(path, uid, gid)
      })
  }
  yield* prepare(own)
  return own
})
