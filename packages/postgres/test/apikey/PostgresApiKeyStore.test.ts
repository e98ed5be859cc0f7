import * as ApiKeyStoreSuite from "@castellan/testing/suite/ApiKeyStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  ApiKeyStoreSuite.suite(name, Layer.provide(PostgresApiKeyStore.layer, layer))
}
