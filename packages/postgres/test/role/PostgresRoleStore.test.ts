import * as RoleStoreSuite from "@castellan/testing/suite/RoleStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  RoleStoreSuite.suite(name, Layer.provide(PostgresRoleStore.layer, layer))
}
