import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import type { Value } from "@castellan/core/connector/ResultTable"
import * as RowAccess from "@castellan/core/rowpolicy/RowAccess"
import type { RowPolicy, RowRule } from "@castellan/core/rowpolicy/RowPolicy"
import { shows } from "@castellan/core/rowpolicy/RowPredicate"
import * as RowRuleReview from "@castellan/core/rowpolicy/RowRuleReview"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import { equals, ownRegion, rowPolicy } from "@castellan/testing/fixture/RowPolicySample"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"

const client = (attributes: ClientMetadata["attributes"]): ClientMetadata => ({
  text: JSON.stringify(attributes),
  attributes
})

/** Who asks, by its client metadata; with the roles that the policies may exempt. */
const world = Effect.gen(function* () {
  const organization = yield* Sample.organizationId
  const [exempt, other] = [yield* Sample.role(organization), yield* Sample.role(organization)]
  const asking = (attributes: ClientMetadata["attributes"] | undefined, roles = [other]) =>
    Sample.principal(organization, {
      roles,
      ...(attributes === undefined ? {} : { clientMetadata: client(attributes) })
    })
  const policy = (rule: Partial<RowRule> = {}) => rowPolicy(organization, rule)
  return { asking, exempt, other, policy }
})

/** The rows of `sales` by their region that are shown, or the words of the denial. */
const seen = (access: RowAccess.RowAccess, regions: ReadonlyArray<Value> = ["north", "south", 1, null]) => {
  switch (access._tag) {
    case "Unfiltered":
      return regions
    case "Denied":
      return access.denial.message
    case "Filtered":
      return regions.filter((region) => access.filters.every(({ predicate }) => shows(predicate, () => region)))
  }
}

const lacks = (field: string, why: string) =>
  `permission denied: the row policy of sales reads _svc.client_attributes_json.${field}, ${why}`

layer(layerCrypto)("row policies", (it) => {
  interface Row {
    readonly name: string
    readonly attributes: ClientMetadata["attributes"] | undefined
    readonly rule?: Partial<RowRule>
    readonly expected: ReadonlyArray<Value> | string
  }
  const level: Partial<RowRule> = { attributes: { level: "integer" }, predicate: equals("region", "level") }
  // Named by a variable: as a literal, the field would have to be of the type of the inherited one.
  const inherited: Readonly<Record<string, "text">> = Object.fromEntries([["constructor", "text" as const]])
  const rows: ReadonlyArray<Row> = [
    {
      name: "R1 a field that the client metadata lack: the query fails and names it",
      attributes: { tenant: "north" },
      expected: lacks("region", "which the client metadata lack")
    },
    { name: "R1 the field is there", attributes: { region: "north" }, expected: ["north"] },
    {
      name: "R1 an inherited name is no field",
      attributes: {},
      rule: { attributes: inherited, predicate: equals("region", "constructor") },
      expected: lacks("constructor", "which the client metadata lack")
    },
    {
      name: "R1 one missing field of two fails the whole",
      attributes: { region: "north" },
      rule: {
        attributes: { region: "text", level: "text" },
        predicate: { _tag: "Any", predicates: [equals("region", "region"), equals("region", "level")] }
      },
      expected: lacks("level", "which the client metadata lack")
    },
    {
      name: "R3 a principal without client metadata: the query fails",
      attributes: undefined,
      expected: lacks("region", "which the client metadata lack")
    },
    { name: "R5 hostile text is a value like any other", attributes: { region: "x' OR 1=1 --" }, expected: [] },
    {
      name: "R6 a number is no text",
      attributes: { region: 1 },
      expected: lacks("region", "which must be of the type text")
    },
    {
      name: "R6 a text of digits is no integer",
      attributes: { level: "1" },
      rule: level,
      expected: lacks("level", "which must be of the type integer")
    },
    {
      name: "R6 a fraction is no integer",
      attributes: { level: 1.5 },
      rule: level,
      expected: lacks("level", "which must be of the type integer")
    },
    { name: "R6 an integer finds no text that looks like it", attributes: { level: 1 }, rule: level, expected: [1] },
    {
      name: "R6 null is of no type",
      attributes: { region: null },
      expected: lacks("region", "which must be of the type text")
    },
    {
      name: "R6 a text is no boolean",
      attributes: { paid: "true" },
      rule: { attributes: { paid: "boolean" }, predicate: equals("region", "paid") },
      expected: lacks("paid", "which must be of the type boolean")
    },
    {
      name: "L12 a field whose type the policy does not declare restricts",
      attributes: { region: "north" },
      rule: { attributes: {} },
      expected: lacks("region", "whose type it does not declare")
    },
    {
      name: "a policy about another table is none about this one",
      attributes: undefined,
      rule: { table: "orders" },
      expected: ["north", "south", 1, null]
    },
    {
      name: "a policy in another spelling, or with a schema, is about this table all the same",
      attributes: undefined,
      rule: { table: 'MAIN."Sales"' },
      expected: lacks("region", "which the client metadata lack").replace("sales", 'MAIN."Sales"')
    },
    {
      name: "a null is shown by no comparison, not even by one that is turned round",
      attributes: { region: "north" },
      rule: { predicate: { _tag: "Not", predicate: equals("region", "region") } },
      expected: ["south"]
    },
    {
      name: "a constant needs no field",
      attributes: undefined,
      rule: {
        attributes: {},
        predicate: {
          _tag: "Any",
          predicates: [
            { _tag: "OneOf", column: "region", values: [{ _tag: "Constant", value: "south" }] },
            { _tag: "IsNull", column: "region" }
          ]
        }
      },
      expected: ["south", null]
    },
    {
      name: "nothing at all of an empty choice",
      attributes: undefined,
      rule: { attributes: {}, predicate: { _tag: "Any", predicates: [] } },
      expected: []
    }
  ]

  for (const { attributes, expected, name, rule } of rows) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const { asking, policy } = yield* world
        const access = RowAccess.applicable(yield* asking(attributes), [yield* policy(rule)], ["sales"])
        assert.deepStrictEqual(seen(access), expected)
      })
    )
  }

  it.effect("R3 a holder of an exempt role sees every row, by its effective roles alone", () =>
    Effect.gen(function* () {
      const { asking, exempt, other, policy } = yield* world
      const policies = [yield* policy({ exemptRoles: [exempt.id] })]
      const access = RowAccess.applicable(yield* asking(undefined, [other, exempt]), policies, ["sales"])
      assert.isTrue(access._tag === "Unfiltered" && access.decision.reason === "exempt")
      assert.strictEqual(RowAccess.applicable(yield* asking(undefined, [other]), policies, ["sales"])._tag, "Denied")
      assert.strictEqual(RowAccess.applicable(yield* asking(undefined, []), policies, ["sales"])._tag, "Denied")
    })
  )

  it.effect("an exemption is from its own policy alone", () =>
    Effect.gen(function* () {
      const { asking, exempt, policy } = yield* world
      const policies = [yield* policy({ exemptRoles: [exempt.id] }), yield* policy()]
      const access = RowAccess.applicable(yield* asking({ region: "north" }, [exempt]), policies, ["sales"])
      assert.isTrue(access._tag === "Filtered" && access.filters.length === 1)
    })
  )

  it.effect("R5 values are bound, never part of a text", () =>
    Effect.gen(function* () {
      const { asking, policy } = yield* world
      const access = RowAccess.applicable(yield* asking({ region: "x' OR 1=1 --" }), [yield* policy()], ["sales"])
      assert.deepStrictEqual(access, {
        _tag: "Filtered",
        filters: [
          {
            table: "sales",
            predicate: {
              _tag: "Compare",
              column: "region",
              comparison: "=",
              with: { type: "text", value: "x' OR 1=1 --" }
            }
          }
        ]
      })
    })
  )

  it.effect("L12 where nobody knows which tables a query reads, no policy can be applied", () =>
    Effect.gen(function* () {
      const { asking, exempt, policy } = yield* world
      const one = yield* policy({ exemptRoles: [exempt.id] })
      const denied = RowAccess.applicable(yield* asking({ region: "north" }), [one], undefined)
      assert.isTrue(denied._tag === "Denied" && denied.denial.reason === "row_policy")
      assert.strictEqual(RowAccess.applicable(yield* asking({}, [exempt]), [one], undefined)._tag, "Unfiltered")
      assert.strictEqual(RowAccess.applicable(yield* asking(undefined), [], undefined)._tag, "Unfiltered")
    })
  )

  it.effect("the facts of a denial name the connector, the table, the policy and the field", () =>
    Effect.gen(function* () {
      const { asking, policy } = yield* world
      const one = yield* policy()
      const access = RowAccess.applicable(yield* asking(undefined), [one], ["sales"])
      assert.isTrue(access._tag === "Denied")
      if (access._tag === "Denied") {
        assert.deepStrictEqual(access.denial.facts, {
          connector: 1,
          table: "sales",
          policy: one.id,
          field: "_svc.client_attributes_json.region"
        })
      }
    })
  )

  const drawn = Schema.Struct({
    attributes: Schema.Record(
      Schema.Literals(["region", "level"]),
      Schema.Union([Schema.Literals(["north", "south", "1"]), Schema.Literals([1, 2]), Schema.Null])
    ),
    isExempt: Schema.Boolean,
    policies: Schema.Array(
      Schema.Struct({
        field: Schema.Literals(["region", "level"]),
        type: Schema.Literals(["text", "integer"]),
        table: Schema.Literals(["sales", "orders", "main.sales"]),
        exempts: Schema.Boolean,
        turned: Schema.Boolean
      })
    ).check(Schema.isMaxLength(4)),
    order: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))).check(Schema.isMaxLength(8))
  })

  it.effect.prop(
    "L3 L12 order and duplicates do not matter; another policy never shows another row, nor allows what was denied",
    { world: drawn },
    ({ world: { attributes, isExempt, order, policies: shapes } }) =>
      Effect.gen(function* () {
        const { asking, exempt, other, policy } = yield* world
        const principal = yield* asking(attributes, isExempt ? [exempt, other] : [other])
        const policies: ReadonlyArray<RowPolicy> = yield* Effect.forEach(
          shapes,
          ({ exempts, field, table, turned, type }) => {
            const plain = equals("region", field)
            return policy({
              table,
              attributes: { [field]: type },
              predicate: turned ? { _tag: "Not", predicate: plain } : plain,
              exemptRoles: exempts ? [exempt.id] : []
            })
          }
        )
        const decided = (all: ReadonlyArray<RowPolicy>) => RowAccess.applicable(principal, all, ["sales"])
        const shuffled = order.flatMap((index) => policies[index] ?? [])
        const again = decided([...policies.toReversed(), ...shuffled])
        assert.deepStrictEqual(again, decided(policies))
        const whole = seen(decided(policies))
        for (let count = 0; count < policies.length; count++) {
          const fewer = seen(decided(policies.slice(0, count)))
          if (typeof fewer === "string") assert.isString(whole)
          else if (typeof whole !== "string") for (const row of whole) assert.include(fewer, row)
        }
      }),
    { arbitrary: { runs: 300 } }
  )
})

describe("the review of a rule", () => {
  const problemOf = (rule: Partial<RowRule>) => RowRuleReview.problem({ ...ownRegion, ...rule }, [])

  it("takes a rule that can be applied", () => {
    assert.isUndefined(problemOf({}))
    assert.isUndefined(problemOf({ attributes: {}, predicate: { _tag: "IsNull", column: "region" } }))
  })

  it("refuses one that never could be, and says which field of it is wrong", () => {
    let nested: RowRule["predicate"] = equals("region", "region")
    for (let depth = 1; depth < 16; depth++) nested = { _tag: "Not", predicate: nested }
    assert.isUndefined(problemOf({ predicate: nested }))
    const tooDeep: RowRule["predicate"] = { _tag: "Not", predicate: nested }
    assert.strictEqual(problemOf({ predicate: tooDeep }), "predicate: must not be nested more than 16 deep")
    const wide = (count: number): RowRule["predicate"] => ({
      _tag: "OneOf",
      column: "region",
      values: [
        ...Array.from({ length: count - 2 }, () => ({ _tag: "Constant" as const, value: "x" })),
        { _tag: "Attribute", field: "region" }
      ]
    })
    assert.isUndefined(problemOf({ predicate: wide(500) }))
    assert.strictEqual(problemOf({ predicate: wide(501) }), "predicate: must not have more than 500 parts")
    assert.strictEqual(
      problemOf({ attributes: {} }),
      "attributes: must declare the type of region, which the predicate reads"
    )
    assert.strictEqual(
      problemOf({ attributes: { region: "text", level: "text" } }),
      "attributes: declares level, which the predicate does not read"
    )
  })
})
