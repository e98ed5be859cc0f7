import * as OrganizationStoreSuite from "@castellan/testing/suite/OrganizationStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresOrganizationStore from "../../src/organization/PostgresOrganizationStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  OrganizationStoreSuite.suite(name, Layer.provide(PostgresOrganizationStore.layer, layer))
}
