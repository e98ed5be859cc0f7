/**
 * The peers' connections: `pg`, as most of Node talks to PostgreSQL.
 */
import { Effect, type Scope } from "effect"
import { Pool } from "pg"

/** A pool of connections to a database, ended with the scope. */
export const open = (url: string, max: number): Effect.Effect<Pool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new Pool({ connectionString: url, max })
      // A failed statement fails whoever asked for it. What is left is a server that stops while connections end.
      const stopping = () => {}
      pool.on("error", stopping)
      pool.on("connect", (client) => client.on("error", stopping))
      return pool
    }),
    (pool) => Effect.promise(() => pool.end())
  )
