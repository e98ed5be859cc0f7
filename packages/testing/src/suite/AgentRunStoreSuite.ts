/**
 * What every store of agents' runs keeps to.
 */
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { AgentRun, AgentRunStatus } from "@castellan/core/agent/AgentRun"
import { AgentRunStore } from "@castellan/core/agent/AgentRunStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const at = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

const client = (region: string): ClientMetadata => ({ text: `{"region":"${region}"}`, attributes: { region } })

/** Runs the contract of `AgentRunStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<AgentRunStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`AgentRunStore (${name})`, (it) => {
    it.effect("gives back what was saved, in every status, whatever its payload", () =>
      Effect.gen(function* () {
        const store = yield* AgentRunStore
        const principal = yield* Sample.principal(yield* Sample.organizationId)
        const payload = { order: 7, "ünï 🚀": [null, true, { deep: ["'", '"', "\\", "\u0000 \ud800"] }], empty: {} }
        const run = yield* AutomationSample.agentRun(principal, yield* AutomationSample.agent(principal), { payload })
        const asked = { chatId: yield* Sample.chatId, runId: yield* Sample.runId }
        const [startedAt, endedAt] = [at("2030-01-01T00:00:00.001Z"), at("2030-01-01T00:00:01.999Z")]
        const { Cancelled, Completed, Failed, Queued, Running } = AgentRunStatus.cases
        const statuses = [
          Queued.make({}),
          Running.make({ ...asked, startedAt }),
          Completed.make({ ...asked, startedAt, endedAt }),
          Failed.make({ asked, endedAt, failure: "timeout", error: "too late" }),
          Failed.make({ endedAt, failure: "execution_failed", error: "no data" }),
          Cancelled.make({ asked, endedAt })
        ]
        for (const status of statuses) {
          const next = new AgentRun({ ...run, status })
          yield* store.save(next)
          assertSame(yield* store.get(run.organizationId, run.id), Option.some(next))
        }
        assert.isTrue(Option.isNone(yield* store.get(yield* Sample.organizationId, run.id)))
      })
    )

    it.effect("lists an agent's runs newest first, without those that another end user's data started", () =>
      Effect.gen(function* () {
        const store = yield* AgentRunStore
        const organizationId = yield* Sample.organizationId
        const [north, nobody] = yield* Effect.all([
          Sample.principal(organizationId, { clientMetadata: client("north") }),
          Sample.principal(organizationId)
        ])
        const agent = yield* AutomationSample.agent(nobody)
        const runOf = (principal: typeof north, day: number) =>
          Effect.tap(
            AutomationSample.agentRun(principal, agent, { createdAt: at(`2030-01-0${day}T00:00:00Z`) }),
            store.save
          )
        const [first, third, second] = yield* Effect.all([runOf(nobody, 1), runOf(nobody, 3), runOf(north, 2)])
        const seen = (reader: typeof north, limit = 10, offset = 0) =>
          Effect.map(store.list({ reader, agentId: agent.id, limit, offset }), ({ items, totalCount }) => [
            totalCount,
            ...items.map((run) => run.id)
          ])
        assert.deepStrictEqual(yield* seen(north), [1, second.id])
        assert.deepStrictEqual(yield* seen(nobody), [2, third.id, first.id])
        assert.deepStrictEqual(yield* seen(nobody, 2, 1), [2, first.id])
        assert.deepStrictEqual(yield* seen(yield* Sample.principal(yield* Sample.organizationId)), [0])
      })
    )

    it.effect("finds the runs that have not ended, of every organization, oldest first", () =>
      Effect.gen(function* () {
        const store = yield* AgentRunStore
        const principals = [
          yield* Sample.principal(yield* Sample.organizationId),
          yield* Sample.principal(yield* Sample.organizationId)
        ] as const
        const runOf = (principal: (typeof principals)[0], createdAt: string, status?: AgentRunStatus) =>
          Effect.flatMap(AutomationSample.agent(principal), (agent) =>
            Effect.tap(
              AutomationSample.agentRun(principal, agent, {
                createdAt: at(createdAt),
                ...(status === undefined ? {} : { status })
              }),
              store.save
            )
          )
        const second = yield* runOf(principals[0], "1949-01-02T00:00:00Z")
        const first = yield* runOf(principals[1], "1949-01-01T00:00:00Z")
        yield* runOf(
          principals[0],
          "1949-01-01T00:00:00Z",
          AgentRunStatus.cases.Cancelled.make({ endedAt: at("1949-01-01T01:00:00Z") })
        )
        yield* runOf(principals[0], "1949-01-03T00:00:00Z")
        const found = (limit: number) =>
          Effect.map(store.unfinished(at("1949-01-03T00:00:00Z"), limit), (runs) => runs.map(({ id }) => id))
        assert.deepStrictEqual(yield* found(10), [first.id, second.id])
        assert.deepStrictEqual(yield* found(1), [first.id])
      })
    )
  })
}
