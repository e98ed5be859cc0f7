import { suite } from "@castellan/testing/ontology/OntologyEngineContract"
import * as MalloyEngine from "../src/malloy/MalloyEngine.ts"

suite("Malloy", MalloyEngine.layer)
