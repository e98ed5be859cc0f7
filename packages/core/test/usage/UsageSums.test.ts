import { ModelId } from "@castellan/core/model/Model"
import { noUsage, Run, RunStatus } from "@castellan/core/run/Run"
import { costOf } from "@castellan/core/usage/ModelPrices"
import * as UsageRecord from "@castellan/core/usage/UsageRecord"
import * as UsageSums from "@castellan/core/usage/UsageSums"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Option, Schema } from "effect"

const below = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))

const clients = [
  undefined,
  { text: '{"t":1,"u":"a"}', attributes: { t: 1, u: "a" } },
  { text: '{"u":"a","t":1}', attributes: { u: "a", t: 1 } },
  { text: '{"t":2}', attributes: { t: 2 } }
] as const

/** The field `t` of a client, by its metadata in the one way of writing. */
const tenantOf = new Map([
  ['{"t":1,"u":"a"}', 1],
  ['{"t":2}', 2]
])

/** A run as numbers: few values of every dimension, so that chance finds groups. */
const Drawn = Schema.Struct({
  member: below(3),
  roles: Schema.Array(below(3)).check(Schema.isMaxLength(3)),
  client: below(clients.length),
  model: below(2),
  hours: below(100),
  tokens: below(1_000_000),
  cost: Schema.optionalKey(below(1_000_000_000))
})

const recordsOf = Effect.fnUntraced(function* (drawn: ReadonlyArray<typeof Drawn.Type>) {
  const organization = yield* Sample.organizationId
  const members = yield* Effect.all([Sample.memberId, Sample.memberId, Sample.memberId])
  const roles = yield* Effect.all([Sample.role(organization), Sample.role(organization), Sample.role(organization)])
  return yield* Effect.forEach(drawn, (one) => {
    const [memberId, client] = [members[one.member], clients[one.client]]
    return AdministrationSample.usageRecord(organization, {
      ...(memberId === undefined ? {} : { memberId }),
      roles: [...new Set(one.roles)].flatMap((index) => roles[index]?.id ?? []),
      ...(client === undefined ? {} : { clientMetadata: client }),
      model: `scripted/model-${one.model}`,
      at: DateTime.makeUnsafe(one.hours * 3_600_000),
      inputTokens: one.tokens,
      ...(one.cost === undefined ? {} : { cost: one.cost })
    })
  })
})

const together = (sums: ReadonlyArray<UsageSums.UsageSum>): UsageSums.UsageTotals =>
  sums.reduce((total, { totals }) => UsageSums.addTotals(total, totals), UsageSums.noTotals)

layer(layerCrypto)("UsageSums.sum", (it) => {
  const Dimensions = Schema.Array(UsageSums.UsageDimension)

  it.effect.prop(
    "sums by anything but roles add up to the whole",
    [Schema.Array(Drawn), Dimensions],
    ([drawn, dimensions]) =>
      Effect.gen(function* () {
        const records = yield* recordsOf(drawn)
        const by = dimensions.filter((dimension) => dimension !== "role")
        const [whole] = UsageSums.sum(records, { by: [] })
        assert.strictEqual(whole?.totals.runs, records.length)
        assert.strictEqual(
          whole?.totals.inputTokens,
          drawn.reduce((total, one) => total + one.tokens, 0)
        )
        assert.strictEqual(
          whole?.totals.cost,
          drawn.reduce((total, one) => total + (one.cost ?? 0), 0)
        )
        assert.deepStrictEqual(together(UsageSums.sum(records, { by })), whole?.totals)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "L3 the order of records and of dimensions, and dimensions named twice, are no matter",
    [Schema.Array(Drawn), Dimensions],
    ([drawn, by]) =>
      Effect.gen(function* () {
        const records = yield* recordsOf(drawn)
        assert.deepStrictEqual(
          UsageSums.sum(records.toReversed(), { by: [...by, ...by].toReversed() }),
          UsageSums.sum(records, { by })
        )
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop(
    "a group's totals are those of its members' records alone",
    [Schema.Array(Drawn), Dimensions],
    ([drawn, by]) =>
      Effect.gen(function* () {
        const records = yield* recordsOf(drawn)
        for (const { group, totals } of UsageSums.sum(records, { by })) {
          const own = records.filter(
            (record) =>
              (!by.includes("day") || DateTime.formatIsoDateUtc(record.at) === group.day) &&
              (!by.includes("member") || record.memberId === group.memberId) &&
              (!by.includes("model") || record.model === group.model) &&
              (!by.includes("role") ||
                (group.roleId === undefined ? record.roles.length === 0 : record.roles.includes(group.roleId))) &&
              (!by.includes("client") ||
                (group.client === undefined
                  ? record.clientMetadata === undefined
                  : record.clientMetadata?.attributes.t === tenantOf.get(group.client)))
          )
          assert.deepStrictEqual(
            totals,
            together(own.map((record) => ({ group: {}, totals: UsageSums.totalsOf(record) })))
          )
          if (by.length > 0) assert.isAbove(totals.runs, 0)
        }
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("sums of nothing: one by nothing, none by anything", () =>
    Effect.sync(() => {
      assert.deepStrictEqual(UsageSums.sum([], { by: [] }), [{ group: {}, totals: UsageSums.noTotals }])
      assert.deepStrictEqual(UsageSums.sum([], { by: ["day"] }), [])
    })
  )

  it.effect("by roles, a run counts for each that it had, and one that had none for none", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const [one, two] = [(yield* Sample.role(organization)).id, (yield* Sample.role(organization)).id]
      const records = yield* Effect.forEach([[one, two], [two], []], (roles) =>
        AdministrationSample.usageRecord(organization, { roles })
      )
      assert.deepStrictEqual(
        UsageSums.sum(records, { by: ["role"] }).map(({ group, totals }) => [group.roleId, totals.runs]),
        [
          [undefined, 1],
          [one, 1],
          [two, 2]
        ]
      )
    })
  )

  it.effect("a day is one in UTC, and a span has its first moment and not its last", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const moments = ["2028-02-28T23:59:59.999Z", "2028-02-29T00:00:00.000Z", "2028-03-01T00:00:00.000Z"].map((text) =>
        DateTime.makeUnsafe(text)
      )
      const records = yield* Effect.forEach(moments, (at) => AdministrationSample.usageRecord(organization, { at }))
      assert.deepStrictEqual(
        UsageSums.sum(records, { by: ["day"] }).map(({ group }) => group.day),
        ["2028-02-28", "2028-02-29", "2028-03-01"]
      )
      const [, from, until] = moments
      assert.isDefined(from)
      assert.isDefined(until)
      assert.deepStrictEqual(
        UsageSums.sum(records, { by: ["day"], from, until }).map(({ group }) => group.day),
        ["2028-02-29"]
      )
    })
  )
})

describe("the cost of tokens", () => {
  const rows = [
    [{ inputTokens: 0, outputTokens: 0 }, { input: 3, output: 15 }, 0],
    [{ inputTokens: 1_000_000, outputTokens: 1_000_000 }, { input: 3, output: 15 }, 18_000_000],
    [{ inputTokens: 1, outputTokens: 1 }, { input: 3, output: 15 }, 18],
    [{ inputTokens: 10, outputTokens: 1 }, { input: 0.15, output: 0.6 }, 2],
    [{ inputTokens: 10, outputTokens: 0 }, { input: 0.25, output: 0 }, 3],
    [{ inputTokens: 1_000_000_000, outputTokens: 7 }, { input: 0.075, output: 0.3 }, 75_000_002]
  ] as const
  for (const [tokens, price, expected] of rows) {
    it(`${JSON.stringify(tokens)} at ${JSON.stringify(price)} is ${expected} millionths`, () => {
      assert.strictEqual(Number(costOf(tokens, price)), expected)
    })
  }
})

layer(layerCrypto)("UsageRecord.ofRun", (it) => {
  const second = (count: number) => DateTime.makeUnsafe(count * 1000)
  const { Cancelled, Completed, Failed, Queued, Running } = RunStatus.cases

  it.effect("is made of a run that has ended, however it ended, and of no other", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const role = yield* Sample.role(organization)
      const principal = yield* Sample.principal(organization, {
        roles: [role, role],
        clientMetadata: { text: '{"t":1}', attributes: { t: 1 } }
      })
      const queued = yield* Sample.run(principal, yield* Sample.chat(principal), { createdAt: second(10) })
      const usage = { inputTokens: 100, outputTokens: 20, toolCalls: 3 }
      const runIn = (status: RunStatus) => new Run({ ...queued, status, usage })
      for (const status of [Queued.make({}), Running.make({ startedAt: second(12) })]) {
        assert.isTrue(Option.isNone(UsageRecord.ofRun(runIn(status), undefined)))
      }
      for (const status of [
        Completed.make({ startedAt: second(12), endedAt: second(15) }),
        Failed.make({ endedAt: second(15), failure: "timeout", error: "late" }),
        Cancelled.make({ endedAt: second(15) })
      ]) {
        const expected = {
          runId: queued.id,
          organizationId: organization,
          chatId: queued.chatId,
          memberId: principal.memberId,
          roles: [role.id],
          clientMetadata: principal.clientMetadata,
          model: ModelId.make("scripted/model-1"),
          ...usage,
          durationMillis: 5000,
          at: second(15)
        }
        const run = runIn(status)
        assert.deepStrictEqual({ ...Option.getOrThrow(UsageRecord.ofRun(run, undefined)) }, { ...expected })
        const priced = Option.getOrThrow(UsageRecord.ofRun(run, { input: 2, output: 10 }))
        assert.strictEqual(priced.cost, 400)
      }
    })
  )

  it.effect("of a run that used nothing says so, and costs nothing", () =>
    Effect.gen(function* () {
      const principal = yield* Sample.principal(yield* Sample.organizationId)
      const run = yield* Sample.run(principal, yield* Sample.chat(principal), { createdAt: second(10) })
      // A clock that was set back must not make a run that took less than no time.
      const ended = new Run({ ...run, status: Cancelled.make({ endedAt: second(9) }), usage: noUsage })
      const record = Option.getOrThrow(UsageRecord.ofRun(ended, { input: 1, output: 1 }))
      assert.deepStrictEqual([record.cost, record.inputTokens, record.durationMillis], [0, 0, 0])
      assert.isUndefined(record.clientMetadata)
    })
  )
})
