import * as ScheduleStoreSuite from "@castellan/testing/suite/ScheduleStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresScheduleStore from "../../src/schedule/PostgresScheduleStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ScheduleStoreSuite.suite(name, Layer.provide(PostgresScheduleStore.layer, layer))
}
