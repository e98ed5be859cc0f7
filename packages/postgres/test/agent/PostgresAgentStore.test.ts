import * as AgentStoreSuite from "@castellan/testing/suite/AgentStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresAgentStore from "../../src/agent/PostgresAgentStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  AgentStoreSuite.suite(name, Layer.provide(PostgresAgentStore.layer, layer))
}
