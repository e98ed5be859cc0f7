import { Model, ModelId, ModelNumber } from "@castellan/core/model/Model"
import * as ModelPolicy from "@castellan/core/model/ModelPolicy"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { type ModelConfiguration, Role, RoleId, RoleOrigin } from "@castellan/core/role/Role"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"

const uuid = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`

const model = (number: number): Model =>
  new Model({
    id: ModelId.make(`vendor/model-${number}`),
    number: ModelNumber.make(number),
    provider: "vendor",
    name: `Model ${number}`,
    supportsFastMode: false
  })

/** Best first, and not in the order of their numbers. */
const models = [3, 1, 2, 4].map(model)

/** A role, as a test writes it: `any` is every model, else the numbers; `named` the default; whether it may choose. */
interface Drawn {
  readonly name: string
  readonly any: boolean
  readonly allowed: ReadonlyArray<number>
  readonly preset?: number
  readonly choice: boolean
}

const roleOf = (drawn: Drawn, number: number): Role => {
  const configuration: ModelConfiguration = {
    allowModelChoice: drawn.choice,
    ...(drawn.any ? {} : { allowedModels: drawn.allowed.map((one) => ModelNumber.make(one)) }),
    ...(drawn.preset === undefined ? {} : { defaultModel: ModelNumber.make(drawn.preset) })
  }
  return new Role({
    id: RoleId.make(uuid(number)),
    organizationId: OrganizationId.make(uuid(999)),
    name: drawn.name,
    description: "",
    origin: RoleOrigin.cases.Custom.make({}),
    permissions: [],
    models: configuration,
    createdAt: DateTime.makeUnsafe(0),
    updatedAt: DateTime.makeUnsafe(0)
  })
}

const facts = (drawn: ReadonlyArray<Drawn>, organizationDefault?: number): ModelPolicy.ModelFacts => ({
  models,
  roles: drawn.map(roleOf),
  organizationDefault: organizationDefault === undefined ? undefined : ModelNumber.make(organizationDefault)
})

const open = (name: string, preset?: number): Drawn => ({
  name,
  any: true,
  allowed: [],
  choice: true,
  ...(preset === undefined ? {} : { preset })
})

const only = (name: string, allowed: ReadonlyArray<number>, preset?: number, choice = true): Drawn => ({
  name,
  any: false,
  allowed,
  choice,
  ...(preset === undefined ? {} : { preset })
})

const numbers = (found: ReadonlyArray<Model>): ReadonlyArray<number> => found.map((one) => one.number)

const chosen = (given: ModelPolicy.ModelFacts, named?: number): number | string =>
  Result.match(ModelPolicy.choose(given, named === undefined ? undefined : model(named).id), {
    onSuccess: (one): number | string => one.number,
    onFailure: (denial) => denial.reason
  })

describe("ModelPolicy", () => {
  it("the rules of decisions.md §3, row by row", () => {
    const rows: ReadonlyArray<{
      readonly name: string
      readonly facts: ModelPolicy.ModelFacts
      readonly allowed: ReadonlyArray<number>
      readonly preset: number | undefined
      readonly choosable: ReadonlyArray<number>
    }> = [
      { name: "no role, no model", facts: facts([], 1), allowed: [], preset: undefined, choosable: [] },
      { name: "one open role", facts: facts([open("a")]), allowed: [3, 1, 2, 4], preset: 3, choosable: [3, 1, 2, 4] },
      { name: "a restricting role", facts: facts([only("a", [2, 1])]), allowed: [1, 2], preset: 1, choosable: [1, 2] },
      {
        name: "the union over the roles that restrict",
        facts: facts([only("a", [4]), only("b", [1])]),
        allowed: [1, 4],
        preset: 1,
        choosable: [1, 4]
      },
      {
        name: "all, if any role leaves them unrestricted",
        facts: facts([only("a", [4]), open("b")]),
        allowed: [3, 1, 2, 4],
        preset: 3,
        choosable: [3, 1, 2, 4]
      },
      {
        name: "a role that allows none",
        facts: facts([only("a", [])], 1),
        allowed: [],
        preset: undefined,
        choosable: []
      },
      {
        name: "a number that is not served",
        facts: facts([only("a", [9, 2], 9)], 9),
        allowed: [2],
        preset: 2,
        choosable: [2]
      },
      {
        name: "the lowest-named role's default",
        facts: facts([open("b", 1), open("a", 2)], 4),
        allowed: [3, 1, 2, 4],
        preset: 2,
        choosable: [3, 1, 2, 4]
      },
      {
        name: "a default that is not allowed is passed over",
        facts: facts([only("a", [1, 2], 3), only("b", [4], 4)], 2),
        allowed: [1, 2, 4],
        preset: 4,
        choosable: [1, 2, 4]
      },
      {
        name: "else the organization's",
        facts: facts([open("a")], 2),
        allowed: [3, 1, 2, 4],
        preset: 2,
        choosable: [3, 1, 2, 4]
      },
      {
        name: "the organization's only if it is allowed",
        facts: facts([only("a", [4, 1])], 2),
        allowed: [1, 4],
        preset: 1,
        choosable: [1, 4]
      },
      {
        name: "who may not choose has the default alone",
        facts: facts([only("a", [1, 4], 4, false)]),
        allowed: [1, 4],
        preset: 4,
        choosable: [4]
      },
      {
        name: "one role that allows choice is enough",
        facts: facts([only("a", [1, 4], 4, false), only("b", [2], undefined, true)]),
        allowed: [1, 2, 4],
        preset: 4,
        choosable: [1, 2, 4]
      }
    ]
    for (const row of rows) {
      assert.deepStrictEqual(numbers(ModelPolicy.allowed(row.facts)), row.allowed, row.name)
      assert.strictEqual(ModelPolicy.defaultModel(row.facts)?.number, row.preset, row.name)
      assert.deepStrictEqual(numbers(ModelPolicy.choosable(row.facts)), row.choosable, row.name)
      assert.strictEqual(chosen(row.facts), row.preset ?? "model", row.name)
      for (const named of [1, 2, 3, 4, 9]) {
        const goesOn = ModelPolicy.permits(row.facts, model(named).id)._tag === "Allow"
        assert.strictEqual(goesOn, row.allowed.includes(named), row.name)
        assert.strictEqual(chosen(row.facts, named), row.choosable.includes(named) ? named : "model_choice", row.name)
      }
    }
  })

  it("an unknown model and a forbidden one are refused with the same words", () => {
    const given = facts([only("a", [1])])
    const refusal = (named: number) => Result.getOrThrow(Result.flip(ModelPolicy.choose(given, model(named).id)))
    assert.deepStrictEqual(refusal(9), refusal(2))
  })

  const AnyNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
  const AnyRole = Schema.Struct({
    name: Schema.Literals(["a", "b", "c"]),
    any: Schema.Boolean,
    allowed: Schema.Array(AnyNumber).check(Schema.isMaxLength(3)),
    preset: Schema.optionalKey(AnyNumber),
    choice: Schema.Boolean
  })
  const AnyFacts = {
    roles: Schema.Array(AnyRole).check(Schema.isMaxLength(4)),
    preset: Schema.Literals([0, 1, 2, 3, 4, 5])
  }

  const drawnFacts = (drawn: { readonly roles: ReadonlyArray<Drawn>; readonly preset: number }) =>
    facts(drawn.roles, drawn.preset === 0 ? undefined : drawn.preset)

  it.prop(
    "L3: order and duplicates of roles do not matter",
    AnyFacts,
    (drawn) => {
      const given = drawnFacts(drawn)
      const shuffled = { ...given, roles: [...given.roles, ...given.roles].toReversed() }
      assert.deepStrictEqual(ModelPolicy.allowed(shuffled), ModelPolicy.allowed(given))
      assert.deepStrictEqual(ModelPolicy.defaultModel(shuffled), ModelPolicy.defaultModel(given))
      assert.deepStrictEqual(ModelPolicy.choosable(shuffled), ModelPolicy.choosable(given))
      for (const named of [undefined, 1, 2, 3, 4, 9]) {
        assert.deepStrictEqual(chosen(shuffled, named), chosen(given, named))
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "what can be had is allowed, and the default is always among what may be named",
    AnyFacts,
    (drawn) => {
      const given = drawnFacts(drawn)
      const allowed = numbers(ModelPolicy.allowed(given))
      const choosable = numbers(ModelPolicy.choosable(given))
      const preset = ModelPolicy.defaultModel(given)
      for (const one of choosable) assert.include(allowed, one)
      assert.strictEqual(preset === undefined, allowed.length === 0)
      if (preset !== undefined) assert.include(choosable, preset.number)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "L6: to lose a role never allows a model more",
    { ...AnyFacts, lost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })) },
    (drawn) => {
      const before = drawnFacts(drawn)
      const after = { ...before, roles: before.roles.toSpliced(drawn.lost, 1) }
      for (const one of numbers(ModelPolicy.allowed(after))) assert.include(numbers(ModelPolicy.allowed(before)), one)
      assert.isTrue(ModelPolicy.mayChoose(before) || !ModelPolicy.mayChoose(after))
    },
    { arbitrary: { runs: 500 } }
  )
})
