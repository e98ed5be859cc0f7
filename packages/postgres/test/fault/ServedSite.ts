/** A whole server of a deployment, behind a port, over connections of its own to a real PostgreSQL. */
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import type { HttpLimits } from "@castellan/http/HttpLimits"
import { Layer, Redacted } from "effect"
import { Base64 } from "effect/encoding"
import * as Site from "../../../http/test/support/Site.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresStores from "../../src/PostgresStores.ts"
import * as PostgresRunLog from "../../src/run/PostgresRunLog.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"

const secretKeys = SecretKeys.layer({
  current: Redacted.make(`k1:${Base64.encode(new Uint8Array(32).fill(1))}`),
  former: []
})

/** A server of its own. A follower of a run that is not told of something looks by itself only after the test. */
export const layer = (database: PostgresDatabase.PostgresDatabaseOptions, limits: Partial<HttpLimits> = {}) =>
  Layer.fresh(
    Site.layer({
      limits,
      deployment: {
        stores: Layer.merge(PostgresStores.layer, PostgresRunLog.layer({ pollInterval: "1 hour" })).pipe(
          Layer.provide(RunNotifications.layer),
          Layer.provide(secretKeys),
          Layer.provide(Deployment.layerCrypto),
          Layer.provide(PostgresDatabase.layer(database)),
          Layer.orDie
        )
      }
    })
  )
