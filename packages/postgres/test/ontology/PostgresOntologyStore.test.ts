import * as OntologyStoreSuite from "@castellan/testing/suite/OntologyStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresOntologyStore from "../../src/ontology/PostgresOntologyStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  OntologyStoreSuite.suite(name, Layer.provide(PostgresOntologyStore.layer, layer))
}
