/** A PostgreSQL that a test has to itself, to stop it, crash it, and start it again. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { chown, cp, readdir, readFile, rm, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import * as EmbeddedServer from "../support/EmbeddedServer.ts"
import { prepare, type TestServer } from "../support/PostgresServer.ts"

/** A server of the test's own. */
export interface OwnServer extends TestServer {
  /**
   * Ends it: `SIGINT` in order, with every session ended at once; `SIGQUIT` without order, so that it recovers from its
   * log; `SIGKILL` as a crash of the postmaster. Done when nothing of it runs any more.
   */
  readonly end: (signal: "SIGINT" | "SIGQUIT" | "SIGKILL") => Effect.Effect<void>
  /** Starts it again. Done when it takes connections. */
  readonly start: Effect.Effect<void>
  /** Whether its postmaster runs. It does not after a crash that it could not recover from. */
  readonly isRunning: Effect.Effect<boolean>
  /** Gives it a folder of ours, for it to keep tables in. */
  readonly give: (path: string) => Effect.Effect<void>
  /** Stops it, and starts it again with its write-ahead log in a new folder. */
  readonly keepLogIn: (path: string) => Effect.Effect<void>
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
  // What crashes is PostgreSQL; the machine stays up, so nothing has to be on the disk.
  const server = yield* Effect.acquireRelease(
    // A log that is no longer than it has to be: what is not needed any more makes room.
    Effect.promise(() => EmbeddedServer.make(["fsync=off", "min_wal_size=32MB", "wal_recycle=off"])),
    ({ remove }) => Effect.promise(remove)
  )
  const { folder, port } = server
  /** After a crash, what is left of it has to notice first. */
  const start = Effect.tryPromise(() => server.start()).pipe(
    Effect.retry({ times: 600, schedule: Schedule.spaced("50 millis") }),
    Effect.orDie
  )
  yield* Effect.acquireRelease(start, () => Effect.promise(() => server.stop()))
  /** The process of its postmaster; absent once that has gone in order, or has given up. */
  const postmaster = Effect.promise(async () => {
    const text = await readFile(join(folder, "postmaster.pid"), "utf8").catch(() => undefined)
    return text === undefined ? undefined : Number(text.split("\n")[0])
  })
  const end = Effect.fnUntraced(function* (signal: "SIGINT" | "SIGQUIT" | "SIGKILL") {
    const pid = yield* postmaster
    if (pid === undefined) return yield* Effect.die(new Error("there is no postmaster to end"))
    process.kill(pid, signal)
    // A process that is no child of ours has no event for us: it is looked at.
    while (isAlive(pid)) yield* Effect.sleep(5)
  })
  const give = (path: string) =>
    Effect.promise(async () => {
      const { gid, uid } = await stat(folder)
      await chown(path, uid, gid)
    })
  const own: OwnServer = {
    name: "PostgreSQL of its own",
    url: `postgres://postgres:postgres@127.0.0.1:${port}`,
    end,
    start,
    isRunning: Effect.map(postmaster, (pid) => pid !== undefined && isAlive(pid)),
    give,
    keepLogIn: Effect.fnUntraced(function* (path) {
      yield* end("SIGINT")
      const log = join(folder, "pg_wal")
      yield* Effect.promise(() => cp(log, path, { recursive: true }))
      for (const name of yield* Effect.promise(() => readdir(path, { recursive: true }))) yield* give(join(path, name))
      yield* give(path)
      yield* Effect.promise(() => rm(log, { recursive: true }))
      yield* Effect.promise(() => symlink(path, log))
      yield* start
    })
  }
  yield* prepare(own)
  return own
})
