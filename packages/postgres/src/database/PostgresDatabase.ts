/**
 * A PostgreSQL server as the place where everything is kept: its connections, its schema, and the role as which the
 * service works.
 *
 * Source: architecture.md §1 (`@castellan/postgres`), §4 ("many servers").
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import { migrate, requireCurrent, type SchemaMismatch } from "../migration/Migrator.ts"
import * as DatabaseUnusable from "./DatabaseUnusable.ts"
import * as ServerSocket from "./ServerSocket.ts"
import * as StrandedStatements from "./StrandedStatements.ts"

/** The role as which every statement of the service runs: it owns nothing, and row-level security binds it. */
export const applicationRole = "castellan_application"

/** The connections of the service to its database. */
export type Connections = PgClient.PgClient | SqlClient

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
  /** How long a statement of the service may take; 20 seconds unless given, which is less than a request has. */
  readonly statementTimeout?: Duration.Input
}

/** The service's login could lay down row-level security. */
export class UnsafeLogin extends Schema.TaggedError<UnsafeLogin>()("UnsafeLogin", {
  message: Schema.String
}) {}

/** Why a database cannot be used. */
export type DatabaseError = DatabaseUnusable.DatabaseUnusable | SchemaMismatch | UnsafeLogin

interface Login {
  readonly name: string
  readonly superuser: boolean
  readonly bypasses: boolean
  readonly owns: boolean
}

/**
 * Fails when the login of the connection could see other organizations' rows by itself, or become somebody who can:
 * what it is a member of counts as its own.
 */
const requireSafeLogin = Effect.gen(function* () {
  const sql = yield* SqlClient
  const logins = yield* sql<Login>`
    SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses,
      EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('castellan') AND relowner = r.oid) AS owns
    FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER') ORDER BY rolname = session_user DESC`
  const unsafe = logins.find(({ bypasses, owns, superuser }) => superuser || bypasses || owns)
  if (unsafe === undefined) return
  const [self] = logins
  const what = unsafe.superuser ? "is a superuser" : unsafe.bypasses ? "bypasses row-level security" : "owns its tables"
  const who = unsafe.name === self?.name ? what : `is a member of "${unsafe.name}", which ${what}`
  return yield* new UnsafeLogin({
    message: `the database login "${self?.name}" ${who}: use one that is only a member of ${applicationRole}, or allow it explicitly (\`allowOwner\`; for the standalone server CASTELLAN_DATABASE_ALLOW_OWNER=true)`
  })
})

/** The name of a login in an address. */
const nameIn = (url: Redacted.Redacted<string>): string => decodeURIComponent(new URL(Redacted.value(url)).username)

/** Lets the service's login work as the application, where it cannot yet. */
const admit = Effect.fnUntraced(function* (login: string) {
  const sql = yield* SqlClient
  // Before PostgreSQL 16, a member was always one that may take the role.
  const [found] = yield* sql<{ readonly may: boolean }>`
    SELECT pg_has_role(rolname, ${applicationRole}, CASE WHEN current_setting('server_version_num')::int < 160000
      THEN 'MEMBER' ELSE 'SET' END) AS may
    FROM pg_roles WHERE rolname = ${login}`
  if (found?.may === false) yield* sql`GRANT ${sql(applicationRole)} TO ${sql(login)}`
})

/** Applies what is missing, as the owner. */
const migrated = (owner: Redacted.Redacted<string>, service: Redacted.Redacted<string>) =>
  Effect.provide(
    Effect.andThen(migrate, admit(nameIn(service))),
    PgClient.layer({ url: owner, applicationName: "castellan-migrations", maxConnections: 1 })
  ).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(DatabaseUnusable.of(owner)(error))))

/**
 * Bytes of one message of the server at most. What is long is read in pieces (`LongBytes`), but not by an export: a file
 * of 25 MiB is written in it with two characters for each byte, as is a table of results.
 */
export const longestMessage = 512 * 1024 * 1024

/** How long a server may be silent before its connection is given up: longer than any statement takes. */
const patienceOf = (statementTimeout: Duration.Duration): Duration.Duration => Duration.times(statementTimeout, 1.25)

/**
 * What the service asks of every session. A statement that takes too long is ended by the server; and a server that no
 * longer hears of the service (its machine is gone, or the way to it) does not keep its transaction open, with all that
 * others wait for, for the two hours that the operating system would take to notice.
 */
const sessionParameters = (statementTimeout: Duration.Duration): Readonly<Record<string, string>> => ({
  role: applicationRole,
  statement_timeout: String(Duration.toMillis(statementTimeout)),
  idle_in_transaction_session_timeout: "60s",
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3"
})

/** The connections of the service to a server whose schema is that of this version. */
export const layer = (options: PostgresDatabaseOptions): Layer.Layer<Connections, DatabaseError> =>
  Layer.unwrap(Effect.map(Queue.sliding<void>(1), (opened) => connected(options, opened)))

/** The connections, each of which is told of as soon as it is open. */
const connected = (
  options: PostgresDatabaseOptions,
  opened: Queue.Queue<void>
): Layer.Layer<Connections, DatabaseError> => {
  const { allowOwner = false, maxConnections = 10, ownerUrl, url } = options
  const statementTimeout = Duration.fromInputUnsafe(options.statementTimeout ?? "20 seconds")
  const address = ServerSocket.addressIn(Redacted.value(url))
  const owner = ownerUrl ?? (allowOwner ? url : undefined)
  const prepared = owner === undefined ? Effect.void : migrated(owner, url)
  const checked = allowOwner ? requireCurrent : Effect.andThen(requireSafeLogin, requireCurrent)
  const client = PgClient.layer({
    url,
    maxConnections,
    // Statements outside of a transaction are pipelined: each is whole in itself, the entering of its organization too.
    multiplex: true,
    applicationName: "castellan",
    maxMessageSize: longestMessage,
    startupParameters: sessionParameters(statementTimeout),
    ...(address === undefined
      ? {}
      : {
          stream: () => {
            const socket = ServerSocket.open(address, patienceOf(statementTimeout))
            return socket.once("connect", () => Queue.offerUnsafe(opened, undefined))
          }
        })
  })
  return Layer.merge(Layer.effectDiscard(checked), StrandedStatements.layer(opened)).pipe(
    Layer.provideMerge(client),
    Layer.catchTag("SqlError", (error) => Layer.effectContext(Effect.fail(DatabaseUnusable.of(url)(error)))),
    (ready) => Layer.unwrap(Effect.as(prepared, ready))
  )
}
