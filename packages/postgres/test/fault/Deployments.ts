/** Deployments over a database, whose connections may die. */
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { Layer, Redacted } from "effect"
import { Base64 } from "effect/encoding"
import type { Connections } from "../../src/database/PostgresDatabase.ts"
import * as PostgresStores from "../../src/PostgresStores.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { script } from "./FaultedUseCases.ts"

const secretKeys = SecretKeys.layer({
  current: Redacted.make(`k1:${Base64.encode(new Uint8Array(32).fill(1))}`),
  former: []
})

/** A server of its own over connections. */
export const server = <E>(connections: Layer.Layer<Connections, E>, scripts: Deployment.Scripts = { script }) =>
  Layer.fresh(
    Deployment.layer({
      ...scripts,
      stores: PostgresStores.layer.pipe(
        Layer.provide(RunNotifications.layerInProcess),
        Layer.provide(secretKeys),
        Layer.provide(Deployment.layerCrypto),
        Layer.provide(connections),
        Layer.orDie
      )
    })
  )
