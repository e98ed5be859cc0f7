/** The matrix on PostgreSQL, where what is kept is looked at row by row. */
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as PostgresStores from "@castellan/postgres/PostgresStores"
import * as RunNotifications from "@castellan/postgres/run/RunNotifications"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { Layer, Redacted } from "effect"
import * as TestDatabase from "../../../postgres/test/support/TestDatabase.ts"
import * as MatrixSuite from "./MatrixSuite.ts"
import * as TableWitness from "./TableWitness.ts"

const keys = SecretKeys.layer({ current: Redacted.make(`matrix:${btoa("k".repeat(32))}`), former: [] }).pipe(
  Layer.provide(Deployment.layerCrypto)
)

for (const server of TestDatabase.servers()) {
  const layer = TestDatabase.layer(server)
  const stores = PostgresStores.layer.pipe(
    Layer.provide(Layer.mergeAll(RunNotifications.layer, keys, Deployment.layerCrypto)),
    Layer.provideMerge(layer),
    Layer.orDie
  )
  MatrixSuite.suite(
    server.name,
    Layer.provideMerge(TableWitness.layer, Deployment.layer({ script: () => says("The answer is 42."), stores })).pipe(
      Layer.provideMerge(Layer.orDie(layer))
    ),
    { isThorough: false }
  )
}
