/**
 * Where everything is kept: PostgreSQL in the process, over the data folder, or a server.
 */
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as Readiness from "@castellan/http/system/Readiness"
import * as PostgresDatabase from "@castellan/postgres/database/PostgresDatabase"
import * as EmbeddedDatabase from "@castellan/postgres/embedded"
import * as PostgresStores from "@castellan/postgres/PostgresStores"
import * as RunNotifications from "@castellan/postgres/run/RunNotifications"
import { type Duration, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { Keep } from "./Keep.ts"
import type { Settings } from "./Settings.ts"

/** The connections to the database, at the schema of this version. `statementTimeout` is for a server's statements. */
export const database = (
  settings: Settings,
  keep: Keep,
  statementTimeout?: Duration.Input
): Layer.Layer<PostgresDatabase.Connections, EmbeddedDatabase.EmbeddedDatabaseError | PostgresDatabase.DatabaseError> =>
  Option.match(settings.database, {
    onNone: () => EmbeddedDatabase.layer({ folder: keep.databaseFolder }),
    onSome: (server) =>
      PostgresDatabase.layer(statementTimeout === undefined ? server : { ...server, statementTimeout })
  })

/** What secrets are encrypted with: the settings' key, or that of the data folder, which can be read in either case. */
export const secretKeys = (settings: Settings, keep: Keep) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const [current, ...kept] = [...Option.toArray(settings.secretsKey), ...Option.toArray(keep.secretsKey)]
      if (current === undefined) {
        return yield* new SecretKeys.SecretKeysRefusal({
          message: "there is no key for secrets: CASTELLAN_SECRETS_KEY"
        })
      }
      return SecretKeys.layer({ current, former: [...settings.formerSecretsKeys, ...kept] })
    })
  )

// #region stores
/** Servers that share a database tell each other of runs; a folder's is this server's alone. */
const notifications = ({ database: server }: Settings) =>
  Option.isSome(server) ? RunNotifications.layer : RunNotifications.layerInProcess

/** Requests can be answered when the database answers, within two seconds, and takes writes: each of them notes something. */
const readiness = Layer.effect(
  Readiness.Readiness,
  Effect.map(SqlClient.SqlClient, (sql) =>
    sql<{
      readonly isReadOnly: boolean
    }>`SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`.pipe(
      Effect.flatMap(([row]) =>
        row?.isReadOnly === true
          ? Effect.as(Effect.logWarning("the database takes no writes: it is read-only"), false)
          : Effect.succeed(true)
      ),
      Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed(false) }),
      Effect.catch((error) => Effect.as(Effect.logWarning("the database does not answer", error), false))
    )
  )
)

/** Every store, and whether they answer. */
export const layer = (settings: Settings, keep: Keep) =>
  Layer.mergeAll(PostgresStores.layer, readiness).pipe(
    Layer.provide(Layer.mergeAll(notifications(settings), secretKeys(settings, keep))),
    Layer.provide(database(settings, keep))
  )
// #endregion
