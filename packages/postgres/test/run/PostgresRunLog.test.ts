import * as RunLogSuite from "@castellan/testing/suite/RunLogSuite"
import * as Layer from "effect/Layer"
import * as PostgresRunLog from "../../src/run/PostgresRunLog.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { databases } from "../support/Databases.ts"

for (const { isEmbedded, layer, name } of databases()) {
  const notifications = isEmbedded ? RunNotifications.layerInProcess : RunNotifications.layer
  RunLogSuite.suite(name, PostgresRunLog.layer().pipe(Layer.provide(notifications), Layer.provide(layer)))
}
