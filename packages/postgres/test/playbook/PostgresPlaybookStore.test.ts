import * as PlaybookStoreSuite from "@castellan/testing/suite/PlaybookStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresPlaybookStore from "../../src/playbook/PostgresPlaybookStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  PlaybookStoreSuite.suite(name, Layer.provide(PostgresPlaybookStore.layer, layer))
}
