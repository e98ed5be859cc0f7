/**
 * What every store of model numbers keeps to.
 */
import type { ServedModel } from "@castellan/core/model/LanguageModels"
import { ModelId } from "@castellan/core/model/Model"
import { ModelStore } from "@castellan/core/model/ModelStore"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

const served = (id: string): ServedModel => ({
  id: ModelId.make(id),
  provider: "scripted",
  name: `Model ${id}`,
  supportsFastMode: false
})

/** Runs the contract of `ModelStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ModelStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ModelStore (${name})`, (it) => {
    const numbers = Effect.fnUntraced(function* (
      organization: Parameters<ModelStore["Service"]["numbered"]>[0],
      ...ids: ReadonlyArray<string>
    ) {
      const models = yield* ModelStore.use((store) => store.numbered(organization, ids.map(served)))
      assert.deepStrictEqual(
        models.map((model) => ({ ...model, number: 0 })),
        ids.map((id) => ({ ...served(id), number: 0 }))
      )
      return models.map((model) => Number(model.number))
    })

    it.effect("numbers what is served, in the order given, from 1", () =>
      Effect.gen(function* () {
        const organization = yield* Sample.organizationId
        assert.deepStrictEqual(yield* numbers(organization), [])
        assert.deepStrictEqual(yield* numbers(organization, "a", "b"), [1, 2])
      })
    )

    it.effect("a model keeps its number for good, and a number never passes to another model", () =>
      Effect.gen(function* () {
        const organization = yield* Sample.organizationId
        assert.deepStrictEqual(yield* numbers(organization, "a", "b"), [1, 2])
        assert.deepStrictEqual(yield* numbers(organization, "b"), [2])
        assert.deepStrictEqual(yield* numbers(organization, "c", "b"), [3, 2])
        assert.deepStrictEqual(yield* numbers(organization, "d", "c", "b", "a"), [4, 3, 2, 1])
      })
    )

    it.effect("numbers each organization by itself", () =>
      Effect.gen(function* () {
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        yield* numbers(ours, "a", "b", "c")
        assert.deepStrictEqual(yield* numbers(theirs, "c"), [1])
        assert.deepStrictEqual(yield* numbers(ours, "c"), [3])
      })
    )

    it.effect("gives no number twice, though many ask at once, and what it answered holds", () =>
      Effect.gen(function* () {
        const organization = yield* Sample.organizationId
        const asked = Array.from({ length: 20 }, (_, index) => [`m${index % 7}`, `m${(index * 3) % 7}-x`])
        const answers = yield* Effect.forEach(asked, (ids) => numbers(organization, ...ids), {
          concurrency: "unbounded"
        })
        const all = Array.from(new Set(asked.flat()))
        const given = yield* numbers(organization, ...all)
        assert.deepStrictEqual(
          given.toSorted((a, b) => a - b),
          all.map((_, index) => index + 1)
        )
        const numberOf = new Map(all.map((id, index) => [id, given[index]]))
        for (const [index, ids] of asked.entries()) {
          assert.deepStrictEqual(
            answers[index],
            ids.map((id) => numberOf.get(id))
          )
        }
      })
    )
  })
}
