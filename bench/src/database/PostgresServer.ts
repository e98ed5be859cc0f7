/**
 * A real PostgreSQL 18 for a benchmark, of its own, stopped and removed with the scope. It runs on the core of whoever
 * starts it, which is that of the load: a server under test has its own core to itself.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { readdirSync, readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as EmbeddedServer from "../../../packages/postgres/test/support/EmbeddedServer.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"

/** A PostgreSQL server. */
export interface PostgresServer {
  /** Where its superuser logs in to a database. */
  readonly ownerUrl: (database: string) => string
  /** Where a login that owns nothing does: that of a service. */
  readonly serviceUrl: (database: string) => string
  /** Runs an effect as the superuser, over one connection to a database. */
  readonly asOwner: <A, E>(
    database: string,
    effect: Effect.Effect<A, E, SqlClient.SqlClient>
  ) => Effect.Effect<A, BenchmarkFailure>
  /** Makes an empty database. */
  readonly create: (database: string) => Effect.Effect<void, BenchmarkFailure>
  /** Processor time of all of its processes, in microseconds; absent where the system does not tell. */
  readonly cpuMicros: Effect.Effect<number | undefined>
}

/** How a server is set up. */
export interface PostgresServerOptions {
  /** Whether what is committed is on the disk, as in production; false where nothing that is measured writes. */
  readonly durable: boolean
}

const service = "castellan_service"

const open = async ({ durable }: PostgresServerOptions) => {
  const server = await EmbeddedServer.make([
    `fsync=${durable ? "on" : "off"}`,
    "max_connections=100",
    "shared_buffers=1GB",
    "max_wal_size=8GB",
    "maintenance_work_mem=256MB"
  ])
  await server.start()
  const [pid = ""] = (await readFile(join(server.folder, "postmaster.pid"), "utf8")).split("\n", 1)
  const stop = async () => {
    await server.stop()
    await server.remove()
  }
  return { port: server.port, pid, stop }
}

/** Ticks of the processor's clock a second, as `/proc` counts them on every Linux that Node runs on. */
const ticksPerSecond = 100

/** What the processes of a server have used up: the first one's own, its living children's and its ended ones'. */
const cpuMicrosOf = (postmaster: string): number | undefined => {
  try {
    let ticks = 0
    for (const pid of readdirSync("/proc")) {
      if (!/^\d+$/.test(pid)) continue
      let stat: string
      try {
        stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      } catch {
        // It has ended meanwhile; its parent knows what it has used.
        continue
      }
      // After the name, which is in brackets: the state, the parent, …; 11 is user and 12 system time, 13 and 14 those
      // of children that have ended.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const at = (index: number): number => Number(fields[index] ?? 0)
      if (pid === postmaster) ticks += at(11) + at(12) + at(13) + at(14)
      else if (fields[1] === postmaster) ticks += at(11) + at(12)
    }
    return (ticks * 1_000_000) / ticksPerSecond
  } catch {
    // Only Linux tells it here.
    return undefined
  }
}

/** An error with what has caused it: the client wraps the server's. */
const sentenceOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [sentenceOf(error.cause)])].join(": ")
    : String(error)

const failed = (error: unknown): BenchmarkFailure =>
  new BenchmarkFailure({ message: `PostgreSQL: ${sentenceOf(error)}` })

/** Starts a server. */
export const start: (options: PostgresServerOptions) => Effect.Effect<PostgresServer, BenchmarkFailure, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const { pid, port } = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => open(options), catch: failed }),
      ({ stop }) => Effect.promise(stop)
    )
    const urlOf = (user: string) => (database: string) => `postgres://${user}:${user}@127.0.0.1:${port}/${database}`
    const ownerUrl = urlOf("postgres")
    const asOwner = <A, E>(database: string, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
      effect.pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(ownerUrl(database)), maxConnections: 1, prepare: false })),
        Effect.mapError((error: E | SqlError) => failed(error))
      )
    yield* asOwner(
      "postgres",
      SqlClient.SqlClient.use((sql) => sql.unsafe(`CREATE ROLE ${service} LOGIN PASSWORD '${service}'`))
    )
    return {
      ownerUrl,
      serviceUrl: urlOf(service),
      asOwner,
      create: (database) =>
        Effect.asVoid(
          asOwner(
            "postgres",
            SqlClient.SqlClient.use((sql) => sql.unsafe(`CREATE DATABASE ${database}`))
          )
        ),
      cpuMicros: Effect.sync(() => cpuMicrosOf(pid))
    }
  })
