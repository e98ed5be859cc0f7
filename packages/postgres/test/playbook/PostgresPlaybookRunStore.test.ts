import * as PlaybookRunStoreSuite from "@castellan/testing/suite/PlaybookRunStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresPlaybookRunStore from "../../src/playbook/PostgresPlaybookRunStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  PlaybookRunStoreSuite.suite(name, Layer.provide(PostgresPlaybookRunStore.layer, layer))
}
