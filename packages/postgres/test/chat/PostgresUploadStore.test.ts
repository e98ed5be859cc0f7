import * as UploadStoreSuite from "@castellan/testing/suite/UploadStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresUploadStore from "../../src/chat/PostgresUploadStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  UploadStoreSuite.suite(name, Layer.provide(PostgresUploadStore.layer, layer))
}
