import * as TransactionSuite from "@castellan/testing/suite/TransactionSuite"
import * as Layer from "effect/Layer"
import * as PostgresAuditStore from "../../src/audit/PostgresAuditStore.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresOrganizationStore from "../../src/organization/PostgresOrganizationStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  TransactionSuite.suite(
    name,
    Layer.mergeAll(PostgresAuditStore.layer, PostgresOrganizationStore.layer, PostgresTransaction.layer).pipe(
      Layer.provide(layer)
    )
  )
}
