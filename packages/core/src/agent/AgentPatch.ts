/**
 * What an agent is to be, and changes of it: what is omitted stays, an empty model clears.
 *
 * Source: decisions.md §9 (`/v2/agents`).
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ConnectorId } from "../connector/Connector.ts"
import { InvalidRequest } from "../error/Failure.ts"
import { ModelId } from "../model/Model.ts"
import type { Agent } from "./Agent.ts"

/** The fields of an agent, or of a change of one, as they were sent. */
export interface AgentPatch {
  readonly name?: string
  readonly prompt?: string
  readonly connectorIds?: ReadonlyArray<number>
  readonly model?: string
}

/** What of an agent its author decides. */
export type AgentDefinition = Pick<Agent, "name" | "prompt" | "connectorIds"> & { readonly model?: ModelId }

/** Characters of a name, and of a prompt, at most; connectors at most. */
export const maximumName = 200
export const maximumPrompt = 50_000
export const maximumConnectors = 100

const refuse = (message: string): Result.Result<never, InvalidRequest> => Result.fail(new InvalidRequest({ message }))

const text = (field: string, value: string, maximum: number): Result.Result<string, InvalidRequest> => {
  if (value.trim() === "") return refuse(`${field}: must not be empty`)
  return value.length > maximum ? refuse(`${field}: must be at most ${maximum} characters`) : Result.succeed(value)
}

const isConnectorId = Schema.is(ConnectorId)

const connectors = (ids: ReadonlyArray<number>): Result.Result<ReadonlyArray<ConnectorId>, InvalidRequest> => {
  if (ids.length > maximumConnectors) return refuse(`connector_ids: must have at most ${maximumConnectors} entries`)
  const kept = new Set<ConnectorId>()
  for (const [index, id] of ids.entries()) {
    if (!isConnectorId(id)) return refuse(`connector_ids[${index}]: ${id} is not a connector's id`)
    kept.add(id)
  }
  return Result.succeed([...kept])
}

/** What an agent is after a change; for a new one, `before` is absent and a name and a prompt are needed. */
export const apply = (
  before: AgentDefinition | undefined,
  patch: AgentPatch
): Result.Result<AgentDefinition, InvalidRequest> =>
  Result.gen(function* () {
    const name = patch.name ?? before?.name ?? ""
    const prompt = patch.prompt ?? before?.prompt ?? ""
    const model = patch.model === undefined ? before?.model : patch.model === "" ? undefined : ModelId.make(patch.model)
    return {
      name: yield* text("name", name, maximumName),
      prompt: yield* text("prompt", prompt, maximumPrompt),
      connectorIds:
        patch.connectorIds === undefined ? (before?.connectorIds ?? []) : yield* connectors(patch.connectorIds),
      ...(model === undefined ? {} : { model })
    }
  })
