import * as ReportStoreSuite from "@castellan/testing/suite/ReportStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresReportStore from "../../src/report/PostgresReportStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ReportStoreSuite.suite(name, Layer.provide(PostgresReportStore.layer, layer))
}
