import * as CredentialFactsSuite from "@castellan/testing/suite/CredentialFactsSuite"
import * as Layer from "effect/Layer"
import * as PostgresCredentialFacts from "../../src/access/PostgresCredentialFacts.ts"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { databases } from "../support/Databases.ts"

const stores = Layer.mergeAll(
  PostgresCredentialFacts.layer,
  PostgresApiKeyStore.layer,
  PostgresMemberStore.layer,
  PostgresRoleStore.layer
)

for (const { layer, name } of databases()) CredentialFactsSuite.suite(name, Layer.provide(stores, layer))
