/**
 * Everything that Castellan keeps, on a PostgreSQL server, as a deployment of several servers has it.
 */
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as PostgresDatabase from "@castellan/postgres/database/PostgresDatabase"
import * as PostgresStores from "@castellan/postgres/PostgresStores"
import * as RunNotifications from "@castellan/postgres/run/RunNotifications"
import { Layer, Redacted, References } from "effect"

/** Where a database is, for the service and for the owner of its schema. */
export interface DatabaseUrls {
  readonly service: string
  readonly owner: string
}

const secretKeys = SecretKeys.layer({ current: Redacted.make(`bench:${Buffer.alloc(32, 7).toString("base64")}`) })

/** The connections of the service to a database, with the schema of this version. */
export const database = ({ owner, service }: DatabaseUrls): Layer.Layer<PostgresDatabase.Connections> =>
  Layer.orDie(PostgresDatabase.layer({ url: Redacted.make(service), ownerUrl: Redacted.make(owner) })).pipe(
    // What is measured goes to the standard output: the steps of the schema are not said there.
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )

/** Every store over these connections, and the connections themselves. */
export const layer = (urls: DatabaseUrls) =>
  PostgresStores.layer.pipe(
    Layer.provide(Layer.mergeAll(RunNotifications.layer, Layer.orDie(secretKeys))),
    Layer.provideMerge(database(urls))
  )
