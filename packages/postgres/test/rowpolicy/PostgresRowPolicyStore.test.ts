import * as RowPolicyStoreSuite from "@castellan/testing/suite/RowPolicyStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresRowPolicyStore from "../../src/rowpolicy/PostgresRowPolicyStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  RowPolicyStoreSuite.suite(name, Layer.provide(PostgresRowPolicyStore.layer, layer))
}
