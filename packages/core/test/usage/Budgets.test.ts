import type { Principal } from "@castellan/core/access/Principal"
import * as UseCase from "@castellan/core/audit/UseCase"
import * as Stores from "@castellan/core/memory/Stores"
import * as Administration from "@castellan/core/organization/Administration"
import { type Budget, BudgetId, BudgetScope } from "@castellan/core/usage/Budget"
import { type BudgetDraft, Budgets } from "@castellan/core/usage/Budgets"
import { UsageStore } from "@castellan/core/usage/UsageStore"
import { as, audited, failure, trail } from "@castellan/testing/fixture/Acting"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

/** Administration without the rest: there is nothing that a leap of the clock would wake. */
const deployment = Administration.layer.pipe(
  Layer.provideMerge(UseCase.layer),
  Layer.provideMerge(Layer.mergeAll(Stores.layerMemory, Deployment.layerPorts(), Deployment.layerCrypto))
)
const { Member, Organization, Role } = BudgetScope.cases

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const analyst = yield* Fixture.role(tenant.organizationId, { name: "analyst" })
  const reading = yield* Fixture.role(tenant.organizationId, { permissions: ["organization:read"] })
  yield* TestClock.setTime(Date.UTC(2030, 0, 2, 23, 59, 0))
  return {
    tenant,
    analyst,
    organizationId: tenant.organizationId,
    admin: Fixture.adminOf(tenant),
    ada: yield* Fixture.someone(tenant, { roles: [analyst] }),
    bob: yield* Fixture.someone(tenant, { roles: [analyst, tenant.memberRole] }),
    cy: yield* Fixture.someone(tenant),
    reader: yield* Fixture.someone(tenant, { roles: [reading] })
  }
})

const daily: BudgetDraft = {
  name: "daily",
  scope: Organization.make({}),
  measure: "tokens",
  amount: 1000,
  period: "day"
}

const replace = (...drafts: ReadonlyArray<BudgetDraft>) => Budgets.use((budgets) => budgets.replace(drafts))
const list = Budgets.use((budgets) => budgets.list)
const check = (principal: Principal) => failure(Budgets.use((budgets) => budgets.check(principal)))

/** A run of a principal that used so many tokens has ended now. */
const used = Effect.fnUntraced(function* (principal: Principal, tokens: number, cost?: number) {
  const record = yield* AdministrationSample.usageRecord(principal.organizationId, {
    memberId: principal.memberId,
    roles: principal.roles.map((role) => role.id),
    inputTokens: tokens,
    outputTokens: 0,
    ...(cost === undefined ? {} : { cost })
  })
  yield* UsageStore.use((store) => store.record(record))
})

describe("Budgets.check", () => {
  it.effect("without a budget everybody goes on", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* used(ada, 1_000_000_000)
      assert.strictEqual(yield* check(ada), "succeeds")
    }).pipe(Effect.provide(deployment))
  )

  it.effect("past a budget nobody does, until the next period begins", () =>
    Effect.gen(function* () {
      const { ada, admin, cy } = yield* scene
      yield* as(admin)(replace(daily))
      yield* used(ada, 999)
      assert.strictEqual(yield* check(ada), "succeeds")
      yield* used(cy, 1)
      const error = yield* Effect.flip(Budgets.use((budgets) => budgets.check(ada)))
      assert.deepStrictEqual(
        [error.code, error.message, error.retryAfterSeconds],
        ["rate_limit_exceeded", 'the budget "daily" is used up until 2030-01-03T00:00:00.000Z: 1000 of 1000 tokens', 60]
      )
      yield* TestClock.adjust("59500 millis")
      assert.strictEqual(
        (yield* Effect.flip(Budgets.use((budgets) => budgets.check(ada)))).retryAfterSeconds,
        1,
        "whole seconds, and never none"
      )
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* check(ada), "succeeds")
      yield* used(ada, 1000)
      assert.match(yield* check(cy), /^RateLimitExceeded: the budget "daily"/)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a role's budget counts its holders together, a member's counts the member", () =>
    Effect.gen(function* () {
      const { ada, admin, analyst, bob, cy } = yield* scene
      yield* as(admin)(
        replace(
          { ...daily, name: "analysts", scope: Role.make({ id: analyst.id }), amount: 100 },
          { ...daily, name: "cy's", scope: Member.make({ id: cy.memberId }), amount: 10, period: "month" }
        )
      )
      yield* used(ada, 60)
      yield* used(cy, 60)
      assert.deepStrictEqual(yield* Effect.forEach([ada, bob, admin], check), ["succeeds", "succeeds", "succeeds"])
      assert.match(yield* check(cy), /^RateLimitExceeded: the budget "cy's" is used up until 2030-02-01/)
      yield* used(bob, 40)
      assert.match(yield* check(ada), /^RateLimitExceeded: the budget "analysts" is used up/)
      assert.match(yield* check(bob), /^RateLimitExceeded: the budget "analysts" is used up/)
      assert.strictEqual(yield* check(admin), "succeeds")
    }).pipe(Effect.provide(deployment))
  )

  it.effect("a budget of money counts what has a price", () =>
    Effect.gen(function* () {
      const { ada, admin } = yield* scene
      yield* as(admin)(replace({ ...daily, name: "money", measure: "cost", amount: 5_000_000 }))
      yield* used(ada, 1_000_000_000)
      yield* used(ada, 1, 4_999_999)
      assert.strictEqual(yield* check(ada), "succeeds")
      yield* used(ada, 1, 1)
      assert.strictEqual(
        yield* check(ada),
        'RateLimitExceeded: the budget "money" is used up until 2030-01-03T00:00:00.000Z: ' +
          "5000000 of 5000000 millionths of the currency"
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("another organization's usage and budgets are its own", () =>
    Effect.gen(function* () {
      const { ada, admin } = yield* scene
      const other = Fixture.adminOf(yield* Fixture.tenant("Globex"))
      yield* as(admin)(replace(daily))
      yield* used(other, 5000)
      assert.strictEqual(yield* check(ada), "succeeds")
      yield* used(ada, 5000)
      assert.strictEqual(yield* check(other), "succeeds")
    }).pipe(Effect.provide(deployment))
  )
})

describe("Budgets.replace", () => {
  it.effect("makes, changes, keeps and removes, each on the record", () =>
    Effect.gen(function* () {
      const { admin, organizationId } = yield* scene
      const first = yield* as(admin)(replace(daily, { ...daily, name: " weekly ", period: "week" }))
      assert.deepStrictEqual(
        first.map(({ name, period }) => [name, period]),
        [
          ["daily", "day"],
          ["weekly", "week"]
        ]
      )
      const [one, two] = first
      assert.isDefined(one)
      assert.isDefined(two)
      yield* TestClock.adjust("1 hour")
      const next = yield* as(admin)(
        replace({ ...daily, name: "third" }, { ...daily, id: one.id }, { ...daily, id: two.id, name: "two", amount: 5 })
      )
      assert.deepStrictEqual(
        next.map(({ amount, name }) => [name, amount]),
        [
          ["daily", 1000],
          ["two", 5],
          ["third", 1000]
        ]
      )
      assert.deepStrictEqual(next[0], one, "what is so already is not touched")
      assert.deepStrictEqual(next[1]?.createdAt, two.createdAt)
      assert.notDeepEqual(next[1]?.updatedAt, two.updatedAt)
      assert.deepStrictEqual(yield* as(admin)(replace()), [])
      assert.deepStrictEqual(yield* trail(organizationId), [
        "create budget",
        "create budget",
        "create budget",
        "update budget",
        "delete budget",
        "delete budget",
        "delete budget"
      ])
      const update = (yield* audited(organizationId)).find(({ action }) => action === "update")
      const scope = { _tag: "Organization" }
      assert.deepStrictEqual(
        [update?.target.id, update?.before, update?.after],
        [
          two.id,
          { name: "weekly", scope, measure: "tokens", amount: 1000, period: "week" },
          { name: "two", scope, measure: "tokens", amount: 5, period: "day" }
        ]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("refuses what cannot be, and then changes nothing", () =>
    Effect.gen(function* () {
      const { admin, cy, organizationId, reader } = yield* scene
      const [kept] = yield* as(admin)(replace(daily))
      assert.isDefined(kept)
      const other = yield* Fixture.tenant("Globex")
      const unknown = BudgetId.make("01890000-0000-7000-8000-000000000000")
      const name = "InvalidRequest: budgets: a name must have 1 to 100 characters"
      const amount = "InvalidRequest: budgets: an amount must be a whole number of at least 1"
      const denied = "PermissionDenied: permission denied: organization:write is required"
      const cases: ReadonlyArray<readonly [Principal, ReadonlyArray<BudgetDraft>, string]> = [
        [admin, [{ ...daily, name: " " }], name],
        [admin, [{ ...daily, name: "x".repeat(101) }], name],
        [admin, [{ ...daily, amount: 0 }], amount],
        [admin, [{ ...daily, amount: 1.5 }], amount],
        [admin, [{ ...daily, amount: -1 }], amount],
        [
          admin,
          [daily, { ...daily, name: "daily " }],
          "InvalidRequest: budgets: two budgets must not have the same name"
        ],
        [
          admin,
          [
            { ...daily, id: kept.id },
            { ...daily, id: kept.id, name: "again" }
          ],
          "InvalidRequest: budgets: a budget must not be named twice"
        ],
        [admin, [{ ...daily, id: unknown }], "NotFound: budget not found"],
        [
          admin,
          [{ ...daily, name: "new", scope: Role.make({ id: other.memberRole.id }) }],
          "InvalidRequest: scope: there is no such role"
        ],
        [
          admin,
          [{ ...daily, name: "new", scope: Member.make({ id: other.adminId }) }],
          "InvalidRequest: scope: there is no such member"
        ],
        [cy, [daily], denied],
        [reader, [], denied],
        [cy, [{ ...daily, amount: 0 }], amount]
      ]
      for (const [principal, drafts, expected] of cases) {
        assert.strictEqual(yield* as(principal)(failure(replace(...drafts))), expected)
      }
      assert.deepStrictEqual(
        (yield* as(admin)(list)).map(({ budget }) => budget),
        [kept]
      )
      assert.deepStrictEqual(yield* trail(organizationId), [
        "create budget",
        "update budget refused",
        "update budget refused"
      ])
    }).pipe(Effect.provide(deployment))
  )
})

describe("Budgets.list", () => {
  it.effect("shows each budget with what was used of it, to who may read the whole organization", () =>
    Effect.gen(function* () {
      const { ada, admin, cy, reader } = yield* scene
      yield* as(admin)(replace(daily, { ...daily, name: "ada's", scope: Member.make({ id: ada.memberId }) }))
      yield* used(ada, 40)
      yield* used(cy, 2)
      const told = (all: ReadonlyArray<{ readonly budget: Budget; readonly used: number }>) =>
        all.map((one) => [one.budget.name, one.used])
      assert.deepStrictEqual(told(yield* as(reader)(list)), [
        ["daily", 42],
        ["ada's", 40]
      ])
      assert.strictEqual(
        yield* as(cy)(failure(list)),
        "PermissionDenied: permission denied: organization:read is required"
      )
    }).pipe(Effect.provide(deployment))
  )
})
