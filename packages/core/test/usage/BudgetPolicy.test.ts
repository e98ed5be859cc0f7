import { Principal } from "@castellan/core/access/Principal"
import { type BudgetPeriod, BudgetScope } from "@castellan/core/usage/Budget"
import * as BudgetPolicy from "@castellan/core/usage/BudgetPolicy"
import { noTotals } from "@castellan/core/usage/UsageSums"
import { Micros } from "@castellan/core/usage/ModelPrices"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"

describe("BudgetPolicy.spanOf", () => {
  const rows: ReadonlyArray<readonly [BudgetPeriod, string, string, string]> = [
    ["day", "2030-01-01T00:00:00.000Z", "2030-01-01", "2030-01-02"],
    ["day", "2030-12-31T23:59:59.999Z", "2030-12-31", "2031-01-01"],
    // 1 January 2030 is a Tuesday.
    ["week", "2030-01-01T12:00:00.000Z", "2029-12-31", "2030-01-07"],
    ["week", "2030-01-06T23:59:59.999Z", "2029-12-31", "2030-01-07"],
    ["week", "2030-01-07T00:00:00.000Z", "2030-01-07", "2030-01-14"],
    ["month", "2028-02-29T12:00:00.000Z", "2028-02-01", "2028-03-01"],
    ["month", "2030-12-31T23:59:59.999Z", "2030-12-01", "2031-01-01"],
    ["month", "2030-01-31T00:00:00.000Z", "2030-01-01", "2030-02-01"]
  ]
  for (const [period, now, from, until] of rows) {
    it(`the ${period} of ${now}`, () => {
      const span = BudgetPolicy.spanOf(period, DateTime.makeUnsafe(now))
      assert.deepStrictEqual(
        [DateTime.formatIso(span.from), DateTime.formatIso(span.until)],
        [`${from}T00:00:00.000Z`, `${until}T00:00:00.000Z`]
      )
    })
  }
})

layer(layerCrypto)("BudgetPolicy", (it) => {
  it.effect("bounds every run of the organization, those with the role, or those of the member", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const [role, otherRole] = [yield* Sample.role(organization), yield* Sample.role(organization)]
      const principal = yield* Sample.principal(organization, { roles: [otherRole, role] })
      const stranger = yield* Sample.principal(organization)
      const foreigner = new Principal({ ...principal, organizationId: yield* Sample.organizationId })
      const { Member, Organization, Role } = BudgetScope.cases
      const rows = [
        [Organization.make({}), [true, true, false]],
        [Role.make({ id: role.id }), [true, false, false]],
        [Role.make({ id: (yield* Sample.role(organization)).id }), [false, false, false]],
        [Member.make({ id: principal.memberId }), [true, false, false]],
        [Member.make({ id: stranger.memberId }), [false, true, false]]
      ] as const
      for (const [scope, expected] of rows) {
        const budget = yield* AdministrationSample.budget(organization, { scope })
        assert.deepStrictEqual(
          [principal, stranger, foreigner].map((one) => BudgetPolicy.bounds(budget, one)),
          [...expected],
          JSON.stringify(scope)
        )
      }
    })
  )

  it.effect("counts tokens of both kinds, or the cost", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const totals = { ...noTotals, inputTokens: 10, outputTokens: 5, cost: Micros.make(77) }
      const [tokens, cost] = [
        yield* AdministrationSample.budget(organization, { measure: "tokens" }),
        yield* AdministrationSample.budget(organization, { measure: "cost" })
      ]
      assert.strictEqual(BudgetPolicy.usedOf(tokens, totals), 15)
      assert.strictEqual(BudgetPolicy.usedOf(cost, totals), 77)
    })
  )

  const now = DateTime.makeUnsafe("2030-01-02T12:00:00.000Z")
  const Drawn = Schema.Struct({
    amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
    used: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
    period: Schema.Literals(["day", "week", "month"])
  })
  const standingsOf = Effect.fnUntraced(function* (drawn: ReadonlyArray<typeof Drawn.Type>) {
    const organization = yield* Sample.organizationId
    return yield* Effect.forEach(drawn, ({ amount, period, used }, index) =>
      Effect.map(
        AdministrationSample.budget(organization, { amount, period, name: `b${index}` }),
        (budget): BudgetPolicy.BudgetStanding => ({ budget, used, span: BudgetPolicy.spanOf(period, now) })
      )
    )
  })

  it.effect("at its amount a budget is used up, one below it is not", () =>
    Effect.gen(function* () {
      for (const [used, expected] of [
        [0, "Allow"],
        [4, "Allow"],
        [5, "Deny"],
        [6, "Deny"]
      ] as const) {
        const decision = BudgetPolicy.check(yield* standingsOf([{ amount: 5, used, period: "day" }]))
        assert.strictEqual(decision._tag, expected)
      }
      const [denied] = [BudgetPolicy.check(yield* standingsOf([{ amount: 5, used: 6, period: "day" }]))]
      assert.deepStrictEqual(
        [denied?.reason, denied?.message, denied?.facts],
        [
          "budget",
          'the budget "b0" is used up until 2030-01-03T00:00:00.000Z: 6 of 5 tokens',
          { budget: "b0", used: 6, amount: 5, period: "day" }
        ]
      )
    })
  )

  it.effect.prop(
    "L2 one budget that is used up is enough to deny, and L3 their order is no matter",
    [Schema.Array(Drawn)],
    ([drawn]) =>
      Effect.gen(function* () {
        const standings = yield* standingsOf(drawn)
        const decision = BudgetPolicy.check(standings)
        assert.strictEqual(
          decision._tag === "Deny",
          drawn.some(({ amount, used }) => used >= amount)
        )
        assert.deepStrictEqual(BudgetPolicy.check(standings.toReversed()), decision)
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "a denial names the budget that lasts the longest: when its period ends, none of these stands in the way",
    [Schema.Array(Drawn)],
    ([drawn]) =>
      Effect.gen(function* () {
        const standings = yield* standingsOf(drawn)
        const found = BudgetPolicy.blocking(standings)
        if (found === undefined) return
        assert.isTrue(BudgetPolicy.isUsedUp(found))
        for (const standing of standings.filter(BudgetPolicy.isUsedUp)) {
          assert.isTrue(DateTime.isLessThanOrEqualTo(standing.span.until, found.span.until))
        }
      }),
    { arbitrary: { runs: 300 } }
  )
})
