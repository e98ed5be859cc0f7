/**
 * A PostgreSQL server as the place where everything is kept: its connections, its schema, and the role as which the
 * service works.
 *
 * Source: architecture.md §1 (`@castellan/postgres`), §4 ("many servers").
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { migrate, requireCurrent, type SchemaMismatch } from "../migration/Migrator.ts"

/** The role as which every statement of the service runs: it owns nothing, and row-level security binds it. */
export const applicationRole = "castellan_application"

/** Which server, as whom, and how many connections. */
export interface PostgresDatabaseOptions {
  /** Where the server is, and the login of the service: `postgres://user:password@host:5432/database`. */
  readonly url: Redacted.Redacted<string>
  /**
   * The login that owns the schema. With it, the migrations that are missing are applied at the start; without it, the
   * database has to be at the schema of this version.
   */
  readonly ownerUrl?: Redacted.Redacted<string>
  /**
   * Whether the service's login may be a superuser or the owner of the schema. Row-level security is in force all the
   * same, as every connection takes the application's role; but whoever smuggles a statement in could lay it down.
   */
  readonly allowOwner?: boolean
  /** Connections at most; 10 unless given. */
  readonly maxConnections?: number
}

/** The service's login could lay down row-level security. */
export class UnsafeLogin extends Schema.TaggedError<UnsafeLogin>()("UnsafeLogin", {
  message: Schema.String
}) {}

/** Why a database cannot be used. */
export type DatabaseError = SchemaMismatch | SqlError | UnsafeLogin

interface Login {
  readonly name: string
  readonly superuser: boolean
  readonly bypasses: boolean
  readonly owns: boolean
}

/** Fails when the login of the connection could see other organizations' rows by itself. */
const requireSafeLogin = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [login] = yield* sql<Login>`
    SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses,
      EXISTS (SELECT FROM pg_class WHERE relnamespace = 'castellan'::regnamespace AND relowner = pg_roles.oid) AS owns
    FROM pg_roles WHERE rolname = session_user`
  if (login === undefined || !(login.superuser || login.bypasses || login.owns)) return
  const what = login.superuser ? "is a superuser" : login.bypasses ? "bypasses row-level security" : "owns its tables"
  return yield* new UnsafeLogin({
    message: `the database login "${login.name}" ${what}: use one that is only a member of ${applicationRole}, or allow it explicitly`
  })
})

/** Applies what is missing, as the owner. */
const migrated = (url: Redacted.Redacted<string>) =>
  Effect.provide(migrate, PgClient.layer({ url, applicationName: "castellan-migrations", maxConnections: 1 }))

/** The connections of the service to a server whose schema is that of this version. */
export const layer = (options: PostgresDatabaseOptions): Layer.Layer<PgClient.PgClient | SqlClient, DatabaseError> => {
  const { allowOwner = false, maxConnections = 10, ownerUrl, url } = options
  const owner = ownerUrl ?? (allowOwner ? url : undefined)
  const prepared = owner === undefined ? Effect.void : migrated(owner)
  const checked = allowOwner ? requireCurrent : Effect.andThen(requireSafeLogin, requireCurrent)
  const client = PgClient.layer({
    url,
    maxConnections,
    // Statements outside of a transaction are pipelined: each is whole in itself, the entering of its organization too.
    multiplex: true,
    applicationName: "castellan",
    startupParameters: { role: applicationRole }
  })
  return Layer.effectDiscard(checked).pipe(Layer.provideMerge(client), (ready) =>
    Layer.unwrap(Effect.as(prepared, ready))
  )
}
