import * as ExecutionStoreSuite from "@castellan/testing/suite/ExecutionStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresExecutionStore from "../../src/sandcastle/PostgresExecutionStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ExecutionStoreSuite.suite(name, Layer.provide(PostgresExecutionStore.layer, layer))
}
