import { Principal } from "@castellan/core/access/Principal"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { ModelPrices } from "@castellan/core/usage/ModelPrices"
import { Usage } from "@castellan/core/usage/Usage"
import type { UsageQuery } from "@castellan/core/usage/UsageSums"
import { as, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"

const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const reading = yield* Fixture.role(tenant.organizationId, { permissions: ["organization:read"] })
  return {
    organizationId: tenant.organizationId,
    reader: yield* Fixture.someone(tenant, { roles: [reading] }),
    ada: yield* Fixture.someone(tenant, { fullMemberAccess: true }),
    bob: yield* Fixture.someone(tenant, { fullMemberAccess: true })
  }
})

/** A run of a principal that has ended, or one that goes on. */
const runOf = Effect.fnUntraced(function* (principal: Principal, hasEnded = true) {
  const run = yield* Sample.run(principal, yield* Sample.chat(principal))
  return new Run({
    ...run,
    status: hasEnded
      ? RunStatus.cases.Cancelled.make({ endedAt: yield* DateTime.now })
      : RunStatus.cases.Running.make({ startedAt: yield* DateTime.now }),
    usage: { inputTokens: 100, outputTokens: 10, toolCalls: 1 }
  })
})

const record = (run: Run) => Usage.use((usage) => usage.record(run))
const sums = (query: UsageQuery) => Usage.use((usage) => usage.sums(query))

describe("Usage", () => {
  it.effect("records a run once, when it has ended", () =>
    Effect.gen(function* () {
      const { ada, reader } = yield* scene
      yield* record(yield* runOf(ada, false))
      const ended = yield* runOf(ada)
      yield* record(ended)
      yield* record(ended)
      const [sum] = yield* as(reader)(sums({ by: [] }))
      assert.deepStrictEqual(
        [sum?.totals.runs, sum?.totals.inputTokens, sum?.totals.unpricedRuns, sum?.totals.cost],
        [1, 100, 1, 0]
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("has the price that the host gave the model", () =>
    Effect.gen(function* () {
      const { ada, reader } = yield* scene
      const run = yield* runOf(ada)
      yield* record(run)
      const [sum] = yield* as(reader)(sums({ by: ["model"] }))
      assert.deepStrictEqual(
        [sum?.group.model, sum?.totals.cost, sum?.totals.unpricedRuns],
        [run.model, 100 * 3 + 10 * 15, 0]
      )
    }).pipe(
      Effect.provide(
        Layer.unwrap(
          Effect.gen(function* () {
            const { model } = yield* Effect.flatMap(Sample.organizationId, (id) =>
              Effect.flatMap(Sample.principal(id), (principal) => Sample.chat(principal))
            )
            return Deployment.layer().pipe(
              Layer.provide(Layer.succeed(ModelPrices, new Map([[model, { input: 3, output: 15 }]])))
            )
          })
        ).pipe(Layer.provide(Deployment.layerCrypto))
      )
    )
  )

  it.effect("shows everything to who may read the organization, and everybody their own", () =>
    Effect.gen(function* () {
      const { ada, bob, organizationId, reader } = yield* scene
      yield* record(yield* runOf(ada))
      yield* record(yield* runOf(bob))
      const byMember = yield* as(reader)(sums({ by: ["member"] }))
      assert.sameMembers(
        byMember.map(({ group }) => group.memberId),
        [ada.memberId, bob.memberId]
      )
      const [own] = yield* as(ada)(sums({ by: [], memberId: ada.memberId }))
      assert.strictEqual(own?.totals.runs, 1)
      const denied = "PermissionDenied: permission denied: organization:read is required"
      assert.strictEqual(yield* as(ada)(failure(sums({ by: [] }))), denied)
      assert.strictEqual(yield* as(ada)(failure(sums({ by: [], memberId: bob.memberId }))), denied)
      const restricted = new Principal({ ...ada, restricted: true })
      assert.strictEqual(
        yield* as(restricted)(failure(sums({ by: [], memberId: ada.memberId }))),
        denied,
        "a restricted key does not see what others used through its owner"
      )
      assert.strictEqual((yield* trail(organizationId)).length, 3)
    }).pipe(Effect.provide(Deployment.layer()))
  )
})
