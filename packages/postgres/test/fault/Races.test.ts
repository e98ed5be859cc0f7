/**
 * Two servers on one database that do what excludes each other at the same moment, many times over: what came of it is
 * what some order of them, one after the other, would have come to. What servers approve and merge at once is in
 * `change/Merges.test.ts`.
 */
import { Authentication } from "@castellan/core/access/Authentication"
import type { Principal } from "@castellan/core/access/Principal"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Changes } from "@castellan/core/change/Changes"
import * as TextBytes from "@castellan/core/library/TextBytes"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { SandcastleStore } from "@castellan/core/sandcastle/SandcastleStore"
import { as } from "@castellan/testing/fixture/Acting"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Layer, References } from "effect"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Deployments from "./Deployments.ts"
import type { Services } from "./FaultedUseCases.ts"

interface Race {
  readonly tenant: Fixture.Tenant
  readonly admin: Principal
  readonly here: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  readonly there: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A, E>
  /** One on each server, at once. */
  readonly both: <A, E>(
    first: Effect.Effect<A, E, Services>,
    second: Effect.Effect<A, E, Services>
  ) => Effect.Effect<readonly [A, A], E>
}

const race = (name: string, test: (race: Race) => Effect.Effect<void, unknown>) => {
  for (const server of TestDatabase.servers()) {
    it.live(
      `${name} (${server.name})`,
      () =>
        Effect.gen(function* () {
          const url = TestDatabase.serviceUrl(server, yield* TestDatabase.database(server))
          const first: Context.Context<Services> = yield* Layer.build(
            Deployments.server(PostgresDatabase.layer({ url }))
          )
          const second: Context.Context<Services> = yield* Layer.build(
            Deployments.server(PostgresDatabase.layer({ url }))
          )
          const here = Effect.provideContext(first)
          const there = Effect.provideContext(second)
          const tenant = yield* here(Fixture.tenant())
          yield* test({
            tenant,
            admin: Fixture.adminOf(tenant),
            here,
            there,
            both: (one, other) => Effect.all([here(one), there(other)], { concurrency: "unbounded" })
          })
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Fatal")),
      180_000
    )
  }
}

const rounds = Array.from({ length: 25 }, (_, index) => index)

describe("two servers on one database", () => {
  race("revoke/verify: once a revocation is acknowledged, no check of the key succeeds", ({ admin, here, there }) =>
    Effect.gen(function* () {
      let accepted = 0
      for (const _ of rounds) {
        const { apiKey, secret } = yield* here(as(admin)(ApiKeys.use((keys) => keys.mint({ inheritAllRoles: true }))))
        let isRevoked = false
        const verify = Effect.gen(function* () {
          const wasRevoked = isRevoked
          const result = yield* Effect.result(
            Authentication.use((authentication) => authentication.authenticate(secret))
          )
          if (result._tag === "Success") accepted += 1
          return { wasRevoked, isAccepted: result._tag === "Success" }
        })
        const revoke = as(admin)(ApiKeys.use((keys) => keys.revoke(apiKey.id))).pipe(
          Effect.andThen(
            Effect.sync(() => {
              isRevoked = true
            })
          )
        )
        const [checks] = yield* Effect.all(
          [there(Effect.forEach(Array.from({ length: 12 }), () => verify)), here(revoke)],
          { concurrency: "unbounded" }
        )
        for (const check of [...checks, yield* there(verify)]) {
          assert.isFalse(check.wasRevoked && check.isAccepted, "a revoked key was accepted")
        }
      }
      assert.isAtLeast(accepted, 1, "they were in time for some")
    })
  )

  race("rotate/rotate: a key has one successor", ({ admin, both, here, tenant }) =>
    Effect.gen(function* () {
      for (const _ of rounds) {
        const { apiKey } = yield* here(as(admin)(ApiKeys.use((keys) => keys.mint({ inheritAllRoles: true }))))
        const rotate = as(admin)(ApiKeys.use((keys) => keys.rotate(apiKey.id))).pipe(Effect.result)
        const results = yield* both(rotate, rotate)
        assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
        const { items } = yield* here(as(admin)(ApiKeys.use((keys) => keys.list({ limit: 100, includeRevoked: true }))))
        assert.strictEqual(items.filter(({ rotatedFrom }) => rotatedFrom.includes(apiKey.id)).length, 1)
      }
      const { items } = yield* here(
        AuditStore.use((store) => store.list(tenant.organizationId, { limit: 100, action: "rotate" }))
      )
      assert.strictEqual(items.length, rounds.length, "one event for a rotation")
    })
  )

  race("PATCH/PATCH: what each leaves out stays as the other made it", ({ admin, both, here }) =>
    Effect.gen(function* () {
      const { id } = yield* here(as(admin)(Playbooks.use((playbooks) => playbooks.create)))
      for (const round of rounds) {
        yield* both(
          as(admin)(Playbooks.use((playbooks) => playbooks.update(id, { name: `name ${round}` }))),
          as(admin)(Playbooks.use((playbooks) => playbooks.update(id, { prompt: `prompt ${round}` })))
        )
        const { playbook } = yield* here(
          as(admin)(Playbooks.use((playbooks) => playbooks.get(id, { limit: 1, offset: 0 })))
        )
        const { name, prompt } = playbook.configuration
        assert.deepStrictEqual({ name, prompt }, { name: `name ${round}`, prompt: `prompt ${round}` })
      }
    })
  )

  race("approve/approve: each counts once, and it is merged once", ({ admin, both, here, tenant }) =>
    Effect.gen(function* () {
      const author = yield* here(Fixture.someone(tenant, { roles: [tenant.adminRole] }))
      const other = yield* here(Fixture.someone(tenant, { roles: [tenant.adminRole] }))
      for (const round of rounds.slice(0, 10)) {
        const { change } = yield* here(
          as(author)(
            Changes.use((changes) =>
              changes.propose({
                staged: [{ _tag: "Write", path: `docs/${round}.md`, content: TextBytes.encode(`text ${round}`) }],
                title: "A change",
                description: "",
                draft: false
              })
            )
          )
        )
        const approve = (who: Principal) =>
          as(who)(Changes.use((changes) => changes.approve(change.id, change.gitRef))).pipe(Effect.result)
        const results = yield* both(approve(admin), approve(other))
        assert.strictEqual(results.filter((one) => one._tag === "Success" && one.success.merged).length, 1)
      }
      const { items } = yield* here(
        AuditStore.use((store) => store.list(tenant.organizationId, { limit: 100, action: "merge" }))
      )
      assert.strictEqual(items.length, 10, "one event for a merge")
    })
  )

  race("start/start: an organization runs as many sandcastles as it may, and not one more", ({ admin, here, there }) =>
    Effect.gen(function* () {
      const start = as(admin)(Sandcastles.use((sandcastles) => Effect.result(sandcastles.start())))
      const most = 20
      for (let running = 0; running < most - 2; running++) yield* here(start)
      const results = yield* Effect.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? here(start) : there(start))),
        { concurrency: "unbounded" }
      )
      const won = results.filter(({ _tag }) => _tag === "Success").length
      assert.isAtMost(won, 2)
      for (let further = won; further < 4; further++) yield* here(start)
      const running = yield* here(SandcastleStore.use((store) => store.running(admin.organizationId, 100)))
      assert.strictEqual(running.length, most)
      const open = ScriptedSandbox.use((sandbox) => sandbox.open)
      assert.strictEqual((yield* here(open)).length + (yield* there(open)).length, most)
    })
  )
})
