/**
 * What every store of triggers keeps to.
 */
import { TriggerStore } from "@castellan/core/agent/TriggerStore"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** Runs the contract of `TriggerStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<TriggerStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`TriggerStore (${name})`, (it) => {
    it.effect("gives back what was kept, agent by agent, and removes it", () =>
      Effect.gen(function* () {
        const store = yield* TriggerStore
        const maker = yield* Sample.principal(yield* Sample.organizationId)
        const [agent, other] = [yield* AutomationSample.agent(maker), yield* AutomationSample.agent(maker)]
        const [first, second, elsewhere] = yield* Effect.all([
          AutomationSample.trigger(agent),
          AutomationSample.trigger(agent),
          AutomationSample.trigger(other)
        ])
        yield* Effect.forEach([second, elsewhere, first], store.add)
        const { organizationId } = agent
        assertSame(yield* store.get(organizationId, first.id), Option.some(first))
        assertSame(
          yield* store.ofAgent(organizationId, agent.id),
          [first, second].toSorted((a, b) => (a.id < b.id ? -1 : 1))
        )
        const foreign = yield* Sample.organizationId
        assert.isTrue(Option.isNone(yield* store.get(foreign, first.id)))
        assertSame(yield* store.ofAgent(foreign, agent.id), [])
        yield* store.remove(foreign, first.id)
        assertSame(yield* store.get(organizationId, first.id), Option.some(first))
        yield* store.remove(organizationId, first.id)
        yield* store.remove(organizationId, first.id)
        assertSame(yield* store.ofAgent(organizationId, agent.id), [second])
      })
    )
  })
}
