import * as BudgetStoreSuite from "@castellan/testing/suite/BudgetStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresBudgetStore from "../../src/usage/PostgresBudgetStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  BudgetStoreSuite.suite(name, Layer.provide(PostgresBudgetStore.layer, layer))
}
