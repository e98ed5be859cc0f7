import * as AuditStoreSuite from "@castellan/testing/suite/AuditStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresAuditStore from "../../src/audit/PostgresAuditStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  AuditStoreSuite.suite(name, Layer.provide(PostgresAuditStore.layer, layer))
}
