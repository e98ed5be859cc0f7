import * as AgentRunStoreSuite from "@castellan/testing/suite/AgentRunStoreSuite"
import * as Layer from "effect/Layer"
import * as PostgresAgentRunStore from "../../src/agent/PostgresAgentRunStore.ts"
import { databases } from "../support/Databases.ts"

for (const { layer, name } of databases()) {
  AgentRunStoreSuite.suite(name, Layer.provide(PostgresAgentRunStore.layer, layer))
}
