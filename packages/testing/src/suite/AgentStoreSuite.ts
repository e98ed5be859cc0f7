/**
 * What every store of agents keeps to.
 */
import { Agent } from "@castellan/core/agent/Agent"
import { type AgentQuery, AgentStore } from "@castellan/core/agent/AgentStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { ModelId } from "@castellan/core/model/Model"
import type { Principal } from "@castellan/core/access/Principal"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `AgentStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<AgentStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`AgentStore (${name})`, (it) => {
    const newReader = Effect.flatMap(Sample.organizationId, (id) => Sample.principal(id))

    const kept = (maker: Principal, given?: AutomationSample.AgentOptions) =>
      Effect.tap(AutomationSample.agent(maker, given), (made) => AgentStore.use((store) => store.save(made)))

    const listed = (reader: Principal, more: Partial<Omit<AgentQuery, "lacking">> & { lacking?: Array<number> } = {}) =>
      Effect.gen(function* () {
        const { lacking = [], ...page } = more
        const found = yield* AgentStore.use((store) =>
          store.list({
            reader,
            now: DateTime.makeUnsafe("2030-01-01T00:00:00Z"),
            limit: 100,
            offset: 0,
            ...page,
            lacking: lacking.map((id) => ConnectorId.make(id))
          })
        )
        return { names: found.items.map((agent) => agent.name), totalCount: found.totalCount }
      })

    it.effect("gives back what was saved, replaces it whole, and removes it", () =>
      Effect.gen(function* () {
        const store = yield* AgentStore
        const maker = yield* newReader
        const plain = yield* AutomationSample.agent(maker, { name: "Triage \u0000 \ud800", connectorIds: [3, 1] })
        const agent = new Agent({ ...plain, model: ModelId.make("scripted/model-1") })
        yield* store.save(agent)
        assertSame(yield* store.get(agent.organizationId, agent.id), Option.some(agent))
        yield* store.save(plain)
        assertSame(yield* store.get(agent.organizationId, agent.id), Option.some(plain))
        const elsewhere = yield* Sample.organizationId
        assert.isTrue(Option.isNone(yield* store.get(elsewhere, agent.id)))
        yield* store.remove(elsewhere, agent.id)
        assertSame(yield* store.get(agent.organizationId, agent.id), Option.some(plain))
        yield* store.remove(agent.organizationId, agent.id)
        yield* store.remove(agent.organizationId, agent.id)
        assert.isTrue(Option.isNone(yield* store.get(agent.organizationId, agent.id)))
      })
    )

    it.effect("lists what the reader may read and lacks no connector of", () =>
      Effect.gen(function* () {
        const reader = yield* newReader
        const other = yield* Sample.principal(reader.organizationId)
        yield* kept(reader, { name: "none" })
        yield* kept(reader, { name: "one", connectorIds: [1] })
        yield* kept(other, { name: "both", connectorIds: [1, 2], access: Sample.everyone })
        yield* kept(other, { name: "hidden" })
        yield* kept(yield* newReader, { name: "foreign", access: Sample.everyone })
        assert.deepStrictEqual(yield* listed(reader, { lacking: [2, 1] }), { names: ["none"], totalCount: 1 })
        assert.deepStrictEqual(yield* listed(reader, { lacking: [3, 2] }), { names: ["none", "one"], totalCount: 2 })
        assert.deepStrictEqual(yield* listed(reader, { lacking: [3] }), {
          names: ["both", "none", "one"],
          totalCount: 3
        })
      })
    )

    it.effect("sorts by name, ties by id, and pages without a gap or a repeat", () =>
      Effect.gen(function* () {
        const store = yield* AgentStore
        const reader = yield* newReader
        const made = yield* Effect.forEach(["b", "a", "B", "a", "c"], (called) => kept(reader, { name: called }))
        const expected = made
          .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1))
          .map((agent) => agent.id)
        const paged: Array<string> = []
        for (const offset of [0, 2, 4]) {
          const page = yield* store.list({ reader, now: yield* DateTime.now, lacking: [], limit: 2, offset })
          assert.strictEqual(page.totalCount, 5)
          paged.push(...page.items.map((agent) => agent.id))
        }
        assert.deepStrictEqual(paged, expected)
      })
    )
  })
}
