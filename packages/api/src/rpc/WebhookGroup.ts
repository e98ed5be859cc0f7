/**
 * The webhook by which an external system starts an agent.
 *
 * Source: api-v2.md "Agent webhook"; decisions.md §9.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { operation, reportingInput } from "../wire/Operation.ts"
import { DeadlineExceeded, FailedPrecondition, NotFoundConnect, PermissionDeniedConnect } from "./ConnectError.ts"
import { ConnectHeaders, ConnectSchemaErrors, WebhookAuthentication } from "./ConnectProtocol.ts"
import { TriggerAgentRequest, TriggerAgentResponse } from "./RpcWire.ts"

const trigger = HttpApiEndpoint.post("trigger", "/v1/agents/webhook/trigger", {
  headers: ConnectHeaders,
  payload: TriggerAgentRequest,
  success: TriggerAgentResponse,
  error: [PermissionDeniedConnect, NotFoundConnect, FailedPrecondition, DeadlineExceeded]
}).annotateMerge(
  operation(
    "triggerAgent",
    "Start an agent",
    "Queues a run of the agent that the trigger belongs to, with a payload as its context. It needs `agent:trigger`, and sight of the agent. It speaks the Connect protocol; a plain POST with JSON will do."
  )
)

/** The webhook. */
export class WebhookGroup extends HttpApiGroup.make("webhook")
  .add(trigger)
  .middleware(ConnectSchemaErrors)
  .middleware(WebhookAuthentication)
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(OpenApi.annotations({ title: "Agent Webhook", description: "How external systems start agents" })) {}
