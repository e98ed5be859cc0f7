import { ModelNumber } from "@castellan/core/model/Model"
import type { ModelConfiguration } from "@castellan/core/role/Role"
import * as RolePatch from "@castellan/core/role/RolePatch"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"

const [one, two] = [ModelNumber.make(1), ModelNumber.make(2)]
const long = (count: number) => "x".repeat(count)

describe("the shape of a patch", () => {
  const rows: ReadonlyArray<readonly [string, RolePatch.RolePatch, string | undefined]> = [
    ["nothing", {}, undefined],
    ["a name", { name: "Analyst" }, undefined],
    ["a name of 100 characters", { name: long(100) }, undefined],
    ["a name of 101 characters", { name: long(101) }, "name: must have 1 to 100 characters"],
    ["an empty name", { name: "" }, "name: must have 1 to 100 characters"],
    ["a blank name", { name: " \t" }, "name: must have 1 to 100 characters"],
    ["an empty description", { description: "" }, undefined],
    ["a description of 1000 characters", { description: long(1000) }, undefined],
    ["a description of 1001", { description: long(1001) }, "description: must have at most 1000 characters"],
    ["models", { allowedModels: [one] }, undefined],
    [
      "no models",
      { allowedModels: [] },
      "allowed_model_ids: must not be empty; clear_allowed_model_ids lets members use every model"
    ],
    ["no models, cleared", { allowedModels: [], clearAllowedModels: true }, undefined],
    [
      "no models, not cleared",
      { allowedModels: [], clearAllowedModels: false },
      "allowed_model_ids: must not be empty; clear_allowed_model_ids lets members use every model"
    ],
    ["models, not cleared", { allowedModels: [one], clearAllowedModels: false }, undefined],
    [
      "models, cleared",
      { allowedModels: [one], clearAllowedModels: true },
      "clear_allowed_model_ids: must not be true together with allowed_model_ids"
    ]
  ]
  for (const [name, patch, expected] of rows) {
    it(name, () => {
      const outcome = RolePatch.checked(patch)
      assert.strictEqual(Result.isFailure(outcome) ? outcome.failure.message : undefined, expected)
      if (Result.isSuccess(outcome)) assert.deepStrictEqual(outcome.success, patch)
    })
  }

  it("a name loses the blanks around it", () => {
    assert.deepStrictEqual(RolePatch.checked({ name: "  Data team " }), Result.succeed({ name: "Data team" }))
  })

  it("names the models that must be known", () => {
    assert.deepStrictEqual(RolePatch.modelsNamed({}), [])
    assert.deepStrictEqual(RolePatch.modelsNamed({ defaultModel: 0, clearAllowedModels: true }), [])
    assert.deepStrictEqual(RolePatch.modelsNamed({ defaultModel: two, allowedModels: [one] }), [two, one])
  })
})

layer(layerCrypto)("what a patch comes to", (it) => {
  const before: ModelConfiguration = { defaultModel: one, allowedModels: [one], allowModelChoice: true }
  const rows: ReadonlyArray<readonly [string, RolePatch.RolePatch, ModelConfiguration]> = [
    ["a default model", { defaultModel: two }, { ...before, defaultModel: two }],
    ["0 clears the default model", { defaultModel: 0 }, { allowedModels: [one], allowModelChoice: true }],
    ["allowed models, each once", { allowedModels: [two, one, two] }, { ...before, allowedModels: [two, one] }],
    ["every model again", { clearAllowedModels: true }, { defaultModel: one, allowModelChoice: true }],
    [
      "every model again, with an empty list",
      { clearAllowedModels: true, allowedModels: [] },
      { defaultModel: one, allowModelChoice: true }
    ],
    ["no choice", { allowModelChoice: false }, { ...before, allowModelChoice: false }],
    ["all at once", { defaultModel: 0, clearAllowedModels: true, allowModelChoice: false }, { allowModelChoice: false }]
  ]
  for (const [name, patch, models] of rows) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const role = yield* Sample.role(yield* Sample.organizationId, { models: before })
        assert.deepStrictEqual(RolePatch.eventsOf(role, patch), [{ _tag: "ConfigureModels", models }])
      })
    )
  }

  it.effect("nothing, where everything is so already", () =>
    Effect.gen(function* () {
      const role = yield* Sample.role(yield* Sample.organizationId, { models: before, name: "same" })
      const patch = { name: "same", description: "", defaultModel: one, allowedModels: [one], allowModelChoice: true }
      assert.deepStrictEqual(RolePatch.eventsOf(role, patch), [])
      assert.deepStrictEqual(RolePatch.eventsOf(role, {}), [])
      assert.deepStrictEqual(RolePatch.eventsOf(role, { clearAllowedModels: false }), [])
    })
  )

  it.effect("a name and a description each on their own", () =>
    Effect.gen(function* () {
      const role = yield* Sample.role(yield* Sample.organizationId, { name: "old" })
      assert.deepStrictEqual(RolePatch.eventsOf(role, { name: "new", description: "why" }), [
        { _tag: "Rename", name: "new" },
        { _tag: "Describe", description: "why" }
      ])
    })
  )
})
