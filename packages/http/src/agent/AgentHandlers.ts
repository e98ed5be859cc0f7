/**
 * The operations of agents, their triggers and their runs, bound to their use cases.
 *
 * Source: decisions.md §9 (`/v2/agents`).
 */
import * as AgentWire from "@castellan/api/agent/AgentWire"
import { Api } from "@castellan/api/Api"
import { toOffsetPage } from "@castellan/api/wire/PageWire"
import { Agents } from "@castellan/core/agent/Agents"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of agents. */
export const layer = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* Agents

    return handlers.handleAll({
      create: Effect.fnUntraced(
        function* ({ payload }) {
          return AgentWire.ofAgent(yield* agents.create(AgentWire.toAgentPatch(payload)))
        },
        declared("InvalidRequest", "PermissionDenied", "Conflict")
      ),

      list: Effect.fnUntraced(function* ({ query }) {
        return AgentWire.ofAgents(yield* agents.list(toOffsetPage(query)))
      }, declared("PermissionDenied")),

      get: Effect.fnUntraced(
        function* ({ params }) {
          return AgentWire.ofAgent(yield* agents.get(params.id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      update: Effect.fnUntraced(
        function* ({ params, payload }) {
          return AgentWire.ofAgent(yield* agents.update(params.id, AgentWire.toAgentPatch(payload)))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ params }) {
          yield* agents.delete(params.id)
          return { id: params.id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      listTriggers: Effect.fnUntraced(
        function* ({ params }) {
          return AgentWire.ofTriggers(yield* agents.triggers(params.id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      createTrigger: Effect.fnUntraced(
        function* ({ params }) {
          return AgentWire.ofTrigger(yield* agents.addTrigger(params.id))
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      deleteTrigger: Effect.fnUntraced(
        function* ({ params }) {
          yield* agents.removeTrigger(params.id, params.trigger_id)
          return { trigger_id: params.trigger_id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      listRuns: Effect.fnUntraced(
        function* ({ params, query }) {
          return AgentWire.ofAgentRuns(yield* agents.runs(params.id, toOffsetPage(query)))
        },
        declared("PermissionDenied", "NotFound")
      )
    })
  }, OperationServices.given)
)
