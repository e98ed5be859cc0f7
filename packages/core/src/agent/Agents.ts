/**
 * The use cases of agents, their triggers and their runs.
 *
 * Source: api-v2.md "Agent webhook"; decisions.md §9.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Connectors } from "../connector/Connectors.ts"
import { ConnectorStore } from "../connector/ConnectorStore.ts"
import { type Failure, NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Models } from "../model/Models.ts"
import type { Counted, OffsetPage } from "../page/Page.ts"
import { Agent, AgentId } from "./Agent.ts"
import * as AgentPatch from "./AgentPatch.ts"
import * as AgentPayload from "./AgentPayload.ts"
import * as AgentPolicy from "./AgentPolicy.ts"
import { AgentRun, AgentRunId, AgentRunStatus } from "./AgentRun.ts"
import { AgentRunner } from "./AgentRunner.ts"
import { AgentRunStore } from "./AgentRunStore.ts"
import { AgentStore } from "./AgentStore.ts"
import { Trigger, TriggerId } from "./Trigger.ts"
import { TriggerStore } from "./TriggerStore.ts"

/** The use cases of agents. */
export class Agents extends Context.Service<
  Agents,
  {
    /** Makes an agent; it needs a name and a prompt. */
    readonly create: (definition: AgentPatch.AgentPatch) => Effect.Effect<Agent, Failure, CurrentPrincipal>
    /** The agents that the caller may read, and whose connectors they may all use. */
    readonly list: (page: OffsetPage) => Effect.Effect<Counted<Agent>, Failure, CurrentPrincipal>
    readonly get: (id: AgentId) => Effect.Effect<Agent, Failure, CurrentPrincipal>
    /** Changes an agent: what is omitted stays, an empty model clears. */
    readonly update: (id: AgentId, patch: AgentPatch.AgentPatch) => Effect.Effect<Agent, Failure, CurrentPrincipal>
    /** Removes an agent with its triggers; its runs are kept. */
    readonly delete: (id: AgentId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** Makes a trigger of an agent. */
    readonly addTrigger: (id: AgentId) => Effect.Effect<Trigger, Failure, CurrentPrincipal>
    readonly triggers: (id: AgentId) => Effect.Effect<ReadonlyArray<Trigger>, Failure, CurrentPrincipal>
    /** Removes a trigger of an agent: it starts nothing any more. */
    readonly removeTrigger: (id: AgentId, triggerId: TriggerId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** The runs of an agent, newest first. */
    readonly runs: (id: AgentId, page: OffsetPage) => Effect.Effect<Counted<AgentRun>, Failure, CurrentPrincipal>
    /** Queues a run, and returns as soon as it is kept. `payload` is whatever was sent. */
    readonly trigger: (triggerId: TriggerId, payload: unknown) => Effect.Effect<AgentRun, Failure, CurrentPrincipal>
    /**
     * Takes up the runs that servers which have stopped left unfinished: those that were made before a moment. The
     * host calls it when it starts; a run that is being carried out here goes on as it is. Answers with their number.
     */
    readonly resume: (before: DateTime.Utc) => Effect.Effect<number>
  }
>()("@castellan/core/agent/Agents") {}

const target = (id: AgentId): AuditTarget => ({ type: "agent", id })

const said = (agent: AgentPatch.AgentDefinition) => ({
  name: agent.name,
  prompt: agent.prompt,
  connectors: agent.connectorIds,
  ...(agent.model === undefined ? {} : { model: agent.model })
})

/** Runs taken up at a time. */
const resumedAtOnce = 1000

/** The use cases over the stores and the runner. */
export const layer: Layer.Layer<
  Agents,
  never,
  | AgentRunner
  | AgentRunStore
  | AgentStore
  | Connectors
  | ConnectorStore
  | Models
  | SecureRandom.SecureRandom
  | TriggerStore
  | UseCase
> = Layer.effect(
  Agents,
  Effect.gen(function* () {
    const connectors = yield* Connectors
    const connectorStore = yield* ConnectorStore
    const models = yield* Models
    const random = yield* SecureRandom.SecureRandom
    const runner = yield* AgentRunner
    const runs = yield* AgentRunStore
    const store = yield* AgentStore
    const triggers = yield* TriggerStore
    const useCase = yield* UseCase
    const nextId = Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)

    /** The connectors of the organization that a principal may not use. One that was removed keeps nobody out. */
    const lackingOf = Effect.fnUntraced(function* (principal: Principal) {
      const usable = new Set((yield* connectors.usableBy(principal, undefined)).map(({ id }) => id))
      const existing = yield* connectorStore.list(principal.organizationId)
      return existing.flatMap(({ connector: { id } }) => (usable.has(id) ? [] : [id]))
    })

    const find = Effect.fnUntraced(function* (principal: Principal, id: AgentId, action: AgentPolicy.AgentAction) {
      const found = yield* store.get(principal.organizationId, id)
      if (Option.isNone(found)) return yield* new NotFound({ message: "agent not found" })
      const now = yield* DateTime.now
      const lacking = yield* lackingOf(principal)
      const open = found.value.connectorIds.filter((one) => !lacking.includes(one))
      yield* enforce(AgentPolicy.may(principal, action, found.value, open, now))
      return found.value
    })

    /** An author cannot put into an agent what they may not use themselves. */
    const permit = Effect.fnUntraced(function* (
      principal: Principal,
      patch: AgentPatch.AgentPatch,
      definition: AgentPatch.AgentDefinition
    ) {
      if (patch.connectorIds !== undefined) yield* connectors.usableBy(principal, definition.connectorIds)
      if (patch.model !== undefined && definition.model !== undefined) yield* models.choose(principal, definition.model)
    })

    return Agents.of({
      create: Effect.fn("Agents.create")(function* (sent) {
        const definition = yield* Effect.fromResult(AgentPatch.apply(undefined, sent))
        return yield* useCase.run({ action: "create", target: { type: "agent" } }, (principal) =>
          Effect.gen(function* () {
            yield* enforce(requires(principal, "agent:write"))
            yield* permit(principal, sent, definition)
            const now = yield* DateTime.now
            const agent = new Agent({
              ...definition,
              id: AgentId.make(yield* nextId),
              organizationId: principal.organizationId,
              access: { isPublic: false, grants: [], creator: creatorOf(principal) },
              createdBy: principal.memberId,
              createdAt: now,
              updatedAt: now
            })
            yield* store.save(agent)
            const entry: AuditEntry = { action: "create", target: target(agent.id), after: said(agent) }
            return { answer: agent, entries: [entry] }
          })
        )
      }),

      list: Effect.fn("Agents.list")(function* (page) {
        return yield* useCase.read({ action: "list", target: { type: "agent" } }, (reader) =>
          Effect.gen(function* () {
            yield* enforce(requires(reader, "agent:read"))
            return yield* store.list({ ...page, reader, now: yield* DateTime.now, lacking: yield* lackingOf(reader) })
          })
        )
      }),

      get: Effect.fn("Agents.get")(function* (id) {
        return yield* useCase.read({ action: "read", target: target(id) }, (reader) => find(reader, id, "read"))
      }),

      update: Effect.fn("Agents.update")(function* (id, patch) {
        // What no agent would take is told before anything is said of this one.
        yield* Effect.fromResult(AgentPatch.apply({ name: "agent", prompt: "prompt", connectorIds: [] }, patch))
        return yield* useCase.run({ action: "update", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const agent = yield* find(principal, id, "update")
            const { model: _, ...rest } = agent
            const definition = yield* Effect.fromResult(AgentPatch.apply(agent, patch))
            yield* permit(principal, patch, definition)
            const changed = new Agent({ ...rest, ...definition, updatedAt: yield* DateTime.now })
            yield* store.save(changed)
            const entry: AuditEntry = {
              action: "update",
              target: target(id),
              before: said(agent),
              after: said(changed)
            }
            return { answer: changed, entries: [entry] }
          })
        )
      }),

      delete: Effect.fn("Agents.delete")(function* (id) {
        yield* useCase.run({ action: "delete", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const agent = yield* find(principal, id, "delete")
            for (const trigger of yield* triggers.ofAgent(principal.organizationId, id)) {
              yield* triggers.remove(principal.organizationId, trigger.id)
            }
            yield* store.remove(principal.organizationId, id)
            const entry: AuditEntry = { action: "delete", target: target(id), before: said(agent) }
            return { answer: undefined, entries: [entry] }
          })
        )
      }),

      addTrigger: Effect.fn("Agents.addTrigger")(function* (id) {
        return yield* useCase.run({ action: "create", target: { type: "trigger" } }, (principal) =>
          Effect.gen(function* () {
            yield* find(principal, id, "update")
            const trigger = new Trigger({
              id: TriggerId.make(yield* nextId),
              organizationId: principal.organizationId,
              agentId: id,
              createdBy: principal.memberId,
              createdAt: yield* DateTime.now
            })
            yield* triggers.add(trigger)
            const entry: AuditEntry = {
              action: "create",
              target: { type: "trigger", id: trigger.id },
              after: { agent: id }
            }
            return { answer: trigger, entries: [entry] }
          })
        )
      }),

      triggers: Effect.fn("Agents.triggers")(function* (id) {
        return yield* useCase.read({ action: "list", target: { type: "trigger" } }, (reader) =>
          Effect.andThen(find(reader, id, "read"), triggers.ofAgent(reader.organizationId, id))
        )
      }),

      removeTrigger: Effect.fn("Agents.removeTrigger")(function* (id, triggerId) {
        yield* useCase.run({ action: "delete", target: { type: "trigger", id: triggerId } }, (principal) =>
          Effect.gen(function* () {
            yield* find(principal, id, "update")
            const found = yield* triggers.get(principal.organizationId, triggerId)
            if (Option.isNone(found) || found.value.agentId !== id) {
              return yield* new NotFound({ message: "trigger not found" })
            }
            yield* triggers.remove(principal.organizationId, triggerId)
            const entry: AuditEntry = {
              action: "delete",
              target: { type: "trigger", id: triggerId },
              before: { agent: id }
            }
            return { answer: undefined, entries: [entry] }
          })
        )
      }),

      runs: Effect.fn("Agents.runs")(function* (id, page) {
        return yield* useCase.read({ action: "list", target: target(id) }, (reader) =>
          Effect.andThen(find(reader, id, "read"), runs.list({ ...page, reader, agentId: id }))
        )
      }),

      trigger: Effect.fn("Agents.trigger")(function* (triggerId, payload) {
        const checked = yield* Effect.fromResult(AgentPayload.parse(payload))
        const attempt = { action: "trigger", target: { type: "trigger", id: triggerId } } as const
        // Kept and handed over in one step: a client that leaves in between must not leave a run that nobody starts.
        return yield* Effect.uninterruptible(
          Effect.tap(
            useCase.run(attempt, (principal) =>
              Effect.gen(function* () {
                const trigger = yield* triggers.get(principal.organizationId, triggerId)
                if (Option.isNone(trigger)) return yield* new NotFound({ message: "trigger not found" })
                const { agentId } = trigger.value
                // A trigger of an agent that is hidden is hidden as well, in the same words as one that is not there.
                yield* Effect.catchTag(find(principal, agentId, "trigger"), "NotFound", () =>
                  Effect.fail(new NotFound({ message: "trigger not found" }))
                )
                const run = new AgentRun({
                  id: AgentRunId.make(yield* nextId),
                  organizationId: principal.organizationId,
                  agentId,
                  triggerId,
                  payload: checked,
                  principal,
                  status: AgentRunStatus.cases.Queued.make({}),
                  createdAt: yield* DateTime.now
                })
                yield* runs.save(run)
                const entry: AuditEntry = {
                  action: "trigger",
                  target: { type: "trigger", id: triggerId },
                  after: { agent: agentId, run: run.id }
                }
                return { answer: run, entries: [entry] }
              })
            ),
            (run) => runner.start(run)
          )
        )
      }),

      resume: Effect.fn("Agents.resume")(function* (before) {
        const unfinished = yield* runs.unfinished(before, resumedAtOnce)
        yield* Effect.forEach(unfinished, (run) => runner.start(run), { discard: true })
        return unfinished.length
      })
    })
  })
)
