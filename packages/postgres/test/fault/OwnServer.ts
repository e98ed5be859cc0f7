/** A PostgreSQL that a test has to itself, to stop it, crash it, and start it again. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { chown, readFile, stat } from "node:fs/promises"
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
  // What crashes is PostgreSQL; the machine stays up, so nothing has to be on the disk.
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => EmbeddedServer.make(["fsync=off"])),
    ({ remove }) => Effect.promise(remove)
  )
  const { folder, port } = server
  /** After a crash, what is left of it has to notice first. */
  const start = Effect.tryPromise(() => server.start()).pipe(
    Effect.retry({ times: 600, schedule: Schedule.spaced("50 millis") }),
    Effect.orDie
  )
  yield* Effect.acquireRelease(start, () => Effect.promise(() => server.stop()))
  const own: OwnServer = {
    name: "PostgreSQL of its own",
    url: `postgres://postgres:postgres@127.0.0.1:${port}`,
    end: Effect.fnUntraced(function* (signal) {
      const [pid = ""] = (yield* Effect.promise(() => readFile(join(folder, "postmaster.pid"), "utf8"))).split("\n")
      process.kill(Number(pid), signal)
      while (isAlive(Number(pid))) yield* Effect.sleep(5)
    }),
    start,
    give: (path) =>
      Effect.promise(async () => {
        const { gid, uid } = await stat(folder)
        await chown(path, uid, gid)
      })
  }
  yield* prepare(own)
  return own
})
