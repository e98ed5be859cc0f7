import * as ConnectorStoreSuite from "@castellan/testing/suite/ConnectorStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresConnectorStore from "../../src/connector/PostgresConnectorStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ConnectorStoreSuite.suite(name, Layer.provide(PostgresConnectorStore.layer, layer))
}
