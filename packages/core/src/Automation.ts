/**
 * What runs by itself, as one layer: playbooks with their schedules, agents with their triggers; and apps.
 *
 * Reports are delivered by `delivery/Deliveries`, which a host adds where it has a `Mailer` and a `ChatChannel`.
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import * as AgentRunner from "./agent/AgentRunner.ts"
import * as AgentRuns from "./agent/AgentRuns.ts"
import * as Agents from "./agent/Agents.ts"
import * as Apps from "./app/Apps.ts"
import type { UseCase } from "./audit/UseCase.ts"
import type { Chats } from "./chat/Chats.ts"
import type { Connectors } from "./connector/Connectors.ts"
import type { Stores } from "./memory/Stores.ts"
import type { Models } from "./model/Models.ts"
import * as PlaybookExecution from "./playbook/PlaybookExecution.ts"
import type { Asks } from "./playbook/PlaybookAsking.ts"
import * as PlaybookRunner from "./playbook/PlaybookRunner.ts"
import * as PlaybookRuns from "./playbook/PlaybookRuns.ts"
import * as Playbooks from "./playbook/Playbooks.ts"
import type { Runner } from "./run/Runner.ts"
import * as Schedules from "./schedule/Schedules.ts"

/** The use cases of what runs by itself, with what carries it out. */
export type Automation =
  | AgentRunner.AgentRunner
  | AgentRuns.AgentRuns
  | Agents.Agents
  | Apps.Apps
  | PlaybookExecution.PlaybookExecution
  | PlaybookRunner.PlaybookRunner
  | PlaybookRuns.PlaybookRuns
  | Playbooks.Playbooks
  | Schedules.Schedules

/** Playbooks, schedules, agents and apps, with their runs carried out in this process. */
export const layer: Layer.Layer<
  Automation,
  never,
  Asks | Chats | Connectors | Models | Runner | SecureRandom.SecureRandom | Stores | UseCase
> = Layer.mergeAll(Agents.layer, Apps.layer, PlaybookExecution.layer, Playbooks.layer, Schedules.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(AgentRunner.layer, PlaybookRunner.layer)),
  Layer.provideMerge(Layer.mergeAll(AgentRuns.layer, PlaybookRuns.layer))
)
