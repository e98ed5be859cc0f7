/**
 * What every store of usage keeps to: its sums are those of `UsageSums.sum` over the same records.
 */
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { UsageRecord } from "@castellan/core/usage/UsageRecord"
import { UsageStore } from "@castellan/core/usage/UsageStore"
import * as UsageSums from "@castellan/core/usage/UsageSums"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as AdministrationSample from "../fixture/AdministrationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const moment = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)

const below = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))

const By = Schema.Array(UsageSums.UsageDimension).check(Schema.isMaxLength(5))

/** Runs in numbers: their members and roles are few, so that their sums meet. */
const Used = Schema.Array(
  Schema.Struct({
    member: below(2),
    roles: Schema.Array(below(2)),
    client: Schema.optionalKey(
      Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Boolean, Schema.Null]))
    ),
    tokens: below(2_000_000_000),
    cost: Schema.optionalKey(below(1_000_000_000)),
    hour: below(72)
  })
).check(Schema.isMaxLength(8))

/** Runs the contract of `UsageStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<UsageStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`UsageStore (${name})`, (it) => {
    const total = Effect.fnUntraced(function* (organization: UsageRecord["organizationId"]) {
      const [sum, ...others] = yield* UsageStore.use((store) => store.sums(organization, { by: [] }))
      assert.isEmpty(others)
      assert.isDefined(sum)
      return sum?.totals
    })

    it.effect("sums to nothing where nothing was used", () =>
      Effect.gen(function* () {
        const store = yield* UsageStore
        const organization = yield* Sample.organizationId
        assertSame(yield* total(organization), UsageSums.noTotals)
        assertSame(yield* store.sums(organization, { by: ["day", "member"] }), [])
      })
    )

    it.effect("counts a run once, as it was recorded first", () =>
      Effect.gen(function* () {
        const store = yield* UsageStore
        const organization = yield* Sample.organizationId
        const record = yield* AdministrationSample.usageRecord(organization, { cost: 5 })
        yield* store.record(record)
        yield* store.record(record)
        yield* store.record(new UsageRecord({ ...record, inputTokens: 1_000_000 }))
        assertSame(yield* total(organization), UsageSums.totalsOf(record))
      })
    )

    it.effect("never counts what another organization used", () =>
      Effect.gen(function* () {
        const store = yield* UsageStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        yield* store.record(yield* AdministrationSample.usageRecord(theirs))
        assertSame(yield* total(ours), UsageSums.noTotals)
      })
    )

    it.effect("counts a run once, though several record it at once", () =>
      Effect.gen(function* () {
        const store = yield* UsageStore
        const organization = yield* Sample.organizationId
        const record = yield* AdministrationSample.usageRecord(organization, { cost: 5 })
        yield* Effect.forEach(Array.from({ length: 10 }), () => store.record(record), { concurrency: "unbounded" })
        assertSame(yield* total(organization), UsageSums.totalsOf(record))
      })
    )

    it.effect.prop(
      "sums whatever was used as the pure sum does, in its order",
      { used: Used, by: By },
      ({ by, used }) =>
        Effect.gen(function* () {
          const store = yield* UsageStore
          const organization = yield* Sample.organizationId
          const members = [yield* Sample.memberId, yield* Sample.memberId]
          const roles = [(yield* Sample.role(organization)).id, (yield* Sample.role(organization)).id]
          const records = yield* Effect.forEach(used, (one) => {
            const memberId = members[one.member]
            return AdministrationSample.usageRecord(organization, {
              ...(memberId === undefined ? {} : { memberId }),
              roles: roles.filter((_role, index) => one.roles.includes(index)),
              ...(one.client === undefined
                ? {}
                : { clientMetadata: { text: JSON.stringify(one.client), attributes: one.client } }),
              inputTokens: one.tokens,
              ...(one.cost === undefined ? {} : { cost: one.cost }),
              at: DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + one.hour * 3_600_000)
            })
          })
          yield* Effect.forEach(records, store.record, { discard: true })
          assertSame(yield* store.sums(organization, { by }), UsageSums.sum(records, { by }))
          for (const { clientMetadata: client } of records) {
            if (client === undefined) continue
            assertSame(yield* store.sums(organization, { by, client }), UsageSums.sum(records, { by, client }))
          }
        }),
      { arbitrary: { runs: 30 } }
    )

    it.effect("sums by every dimension and filter as the pure sum does", () =>
      Effect.gen(function* () {
        const store = yield* UsageStore
        const organization = yield* Sample.organizationId
        const [ada, bob] = [yield* Sample.memberId, yield* Sample.memberId]
        const roles = [(yield* Sample.role(organization)).id, (yield* Sample.role(organization)).id] as const
        const client: ClientMetadata = { text: '{"b":1,"a":"x"}', attributes: { b: 1, a: "x" } }
        const sameClient: ClientMetadata = { text: '{"a":"x","b":1}', attributes: { a: "x", b: 1 } }
        const records = yield* Effect.all([
          AdministrationSample.usageRecord(organization, {
            memberId: ada,
            roles: [...roles],
            clientMetadata: client,
            cost: 3,
            at: moment("2030-01-31T23:59:59.999Z")
          }),
          AdministrationSample.usageRecord(organization, {
            memberId: ada,
            roles: [roles[0]],
            clientMetadata: sameClient,
            model: "scripted/model-2",
            at: moment("2030-02-01T00:00:00.000Z")
          }),
          AdministrationSample.usageRecord(organization, {
            memberId: bob,
            roles: [roles[1]],
            clientMetadata: { text: "{}", attributes: {} },
            cost: 9_000_000_000_000,
            at: moment("2030-02-01T12:00:00.000Z")
          }),
          AdministrationSample.usageRecord(organization, { memberId: bob, at: moment("2030-02-02T00:00:00.000Z") })
        ])
        yield* Effect.forEach(records, store.record)

        const dimensions = UsageSums.UsageDimension.literals
        const groupings = Array.from({ length: 2 ** dimensions.length }, (_, bits) =>
          dimensions.filter((_dimension, index) => (bits & (1 << index)) !== 0)
        )
        const filters: ReadonlyArray<UsageSums.UsageFilter> = [
          {},
          { memberId: ada },
          { memberId: yield* Sample.memberId },
          { roleId: roles[0] },
          ...(records[1] === undefined ? [] : [{ model: records[1].model }]),
          { client: sameClient },
          { client: { text: "{}", attributes: {} } },
          { from: moment("2030-02-01T00:00:00.000Z") },
          { until: moment("2030-02-01T00:00:00.000Z") },
          { from: moment("2030-02-01T00:00:00.000Z"), until: moment("2030-02-02T00:00:00.000Z"), memberId: bob }
        ]
        for (const filter of filters) {
          for (const by of groupings) {
            assertSame(yield* store.sums(organization, { ...filter, by }), UsageSums.sum(records, { ...filter, by }))
          }
        }
      })
    )
  })
}
