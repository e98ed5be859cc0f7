import * as ScimGroupMappingStoreSuite from "@castellan/testing/suite/ScimGroupMappingStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresScimGroupMappingStore from "../../src/scim/PostgresScimGroupMappingStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ScimGroupMappingStoreSuite.suite(name, Layer.provide(PostgresScimGroupMappingStore.layer, layer))
}
