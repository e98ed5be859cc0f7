/**
 * What the statements of keys, members and the audit log cost, where an organization has many of each: by the rows that
 * the server looks at, under the plan for one call and under the plan that it keeps.
 */
import { CredentialFacts } from "@castellan/core/access/CredentialFacts"
import { ApiKey } from "@castellan/core/apikey/ApiKey"
import { type ApiKeyQuery, ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { AuditOutcome } from "@castellan/core/audit/AuditEvent"
import { type AuditQuery, AuditStore } from "@castellan/core/audit/AuditStore"
import { MemberStore } from "@castellan/core/member/MemberStore"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Context } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresCredentialFacts from "../../src/access/PostgresCredentialFacts.ts"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import * as PostgresAuditStore from "../../src/audit/PostgresAuditStore.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { type Plan, type PlanMode, plansOf } from "../support/StatementPlans.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const client = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
const at = (second: number): DateTime.Utc => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + second * 1000)

/** An organization with one of everything, told apart by whatever is asked about. */
const scene = Effect.gen(function* () {
  const organizationId = yield* Sample.organizationId
  const role = yield* Fixture.role(organizationId)
  const owner = yield* Fixture.member(organizationId, { roles: [role], isServiceAccount: true })
  const minter = yield* Fixture.member(organizationId)
  const { apiKey: parent } = yield* Fixture.key(owner, { createdAt: at(0) })
  const { apiKey: key } = yield* Fixture.key(owner, {
    ancestors: [parent.id],
    clientMetadata: client,
    createdAt: at(0)
  })
  yield* ApiKeyStore.use((store) => store.save(new ApiKey({ ...parent, mintedBy: { memberId: minter.id } })))
  yield* ApiKeyStore.use((store) => store.save(new ApiKey({ ...key, mintedBy: { memberId: minter.id } })))
  const principal = yield* Sample.principal(organizationId, { memberId: owner.id })
  const refused = yield* AdministrationSample.auditEvent(principal, {
    action: "rotate",
    target: { type: "budget", id: "the-budget" },
    outcome: AuditOutcome.cases.Refused.make({ message: "no" }),
    at: at(0)
  })
  yield* AuditStore.use((store) => store.append(refused))
  return { organizationId, role, owner, minter, key, principal }
})

/** Much more of everything, newer and older: 20,000 entries, 20,000 keys of the one owner, 10,000 members, 2,000 roles. */
const many = `
  INSERT INTO castellan.audit_events
  SELECT organization_id, gen_random_uuid(), at + n * interval '1 second',
    (ARRAY['create', 'update', 'read'])[1 + abs(n) % 3], (ARRAY['chat', 'run'])[1 + abs(n) % 2], 'chat-' || n,
    gen_random_uuid(), false, document
  FROM castellan.audit_events, generate_series(-10000, 10000) AS n;
  INSERT INTO castellan.api_keys
  SELECT organization_id, gen_random_uuid(), md5(n::text) || md5('x' || n), owner, n % 10 <> 0,
    md5((n % 1000)::text), '{}', minter, created_at + n * interval '1 second', NULL, document
  FROM castellan.api_keys, generate_series(-10000, 10000) AS n WHERE ancestors = '{}';
  INSERT INTO castellan.members
  SELECT organization_id, gen_random_uuid(), 'm' || n || '@acme.example', created_at, document
  FROM castellan.members, generate_series(1, 5000) AS n;
  INSERT INTO castellan.member_roles
  SELECT organization_id, id, gen_random_uuid() FROM castellan.members, generate_series(1, 3);
  INSERT INTO castellan.roles
  SELECT organization_id, gen_random_uuid(), created_at, document FROM castellan.roles, generate_series(1, 2000);
  ANALYZE castellan.audit_events, castellan.api_keys, castellan.members, castellan.member_roles, castellan.roles`

const stores = Layer.mergeAll(
  PostgresApiKeyStore.layer,
  PostgresAuditStore.layer,
  PostgresCredentialFacts.layer,
  PostgresMemberStore.layer,
  PostgresRoleStore.layer
)

class Scene extends Context.Service<Scene, Effect.Success<typeof scene>>()("test/Plans/Scene") {}

for (const server of TestDatabase.servers()) {
  const layer = Layer.unwrap(
    Effect.map(TestDatabase.database(server), (database) =>
      Layer.effect(
        Scene,
        Effect.gen(function* () {
          const made = yield* scene
          const filling = Effect.gen(function* () {
            const sql = yield* SqlClient
            for (const statement of many.split(";")) yield* sql.unsafe(statement)
          })
          yield* asSuperuser(server, database, filling)
          return made
        })
      ).pipe(
        Layer.provideMerge(stores),
        Layer.provideMerge(PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, database) })),
        Layer.provideMerge(layerCrypto)
      )
    )
  )

  it.layer(layer, { timeout: "180 seconds" })(`plans (${server.name})`, (it) => {
    /**
     * Asserts that an effect is one statement, or as many as are told, and that each looks at few rows, without sorting or
     * going through a table.
     */
    const assertDirect = Effect.fnUntraced(function* <A, E, R>(
      about: string,
      effect: Effect.Effect<A, E, R>,
      most: number,
      statements = 1
    ) {
      const modes: ReadonlyArray<PlanMode> = ["force_custom_plan", "force_generic_plan"]
      for (const mode of modes) {
        const plans: ReadonlyArray<Plan> = yield* plansOf(mode, effect)
        const told = `${about}, ${mode}: ${JSON.stringify(plans, null, 2)}`
        assert.strictEqual(plans.length, statements, told)
        for (const { examined, steps } of plans) {
          assert.notInclude(steps, "Seq Scan", told)
          assert.notInclude(steps, "Incremental Sort", told)
          assert.isAtMost(examined, most, told)
        }
      }
    })

    it.effect("a credential is checked by one statement that looks at its own rows", () =>
      Effect.gen(function* () {
        const { key, organizationId, owner, role } = yield* Scene
        const facts = yield* CredentialFacts
        const session = { organizationId, memberId: owner.id, roles: [role.id], key: { id: key.id, rotatedFrom: [] } }
        // A row is read after its version, where that is not known yet.
        const unknown = Effect.provide(
          CredentialFacts.use((fresh) => fresh.ofHash(key.hash)),
          Layer.fresh(PostgresCredentialFacts.layer)
        )
        yield* assertDirect("by hash, not known yet", unknown, 17, 2)
        yield* facts.ofHash(key.hash)
        yield* assertDirect("by hash", facts.ofHash(key.hash), 9)
        yield* assertDirect("by id", facts.ofKey(organizationId, key.id), 9)
        yield* assertDirect("member", facts.ofMember(organizationId, owner.id), 6)
        yield* assertDirect("session", facts.ofSession(session), 11)
      })
    )

    it.effect("a page of keys looks at the rows that it holds, the thousandth as the first", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* Scene
        const store = yield* ApiKeyStore
        const queries: ReadonlyArray<Partial<ApiKeyQuery>> = [
          {},
          { includeRevoked: false },
          { owners: [owner.id] },
          { owners: [owner.id], includeRevoked: false },
          { owners: [owner.id], client },
          { exceptOwners: [] }
        ]
        for (const query of queries) {
          for (const after of [undefined, { at: at(-9000), id: owner.id }]) {
            const page = { limit: 10, includeRevoked: true, ...query, ...(after === undefined ? {} : { after }) }
            yield* assertDirect(JSON.stringify(page), store.list(organizationId, page), 11)
          }
        }
      })
    )

    it.effect("who minted keys is told by an index, whatever the number of keys", () =>
      Effect.gen(function* () {
        const { minter, organizationId, owner } = yield* Scene
        const store = yield* ApiKeyStore
        yield* assertDirect("minters", store.minters(organizationId, [owner.id, minter.id]), 5)
        assert.deepStrictEqual(
          yield* store.minters(organizationId, [owner.id, minter.id]),
          new Map([[owner.id, new Set([minter.id])]])
        )
      })
    )

    it.effect("members are found by their role and by their address", () =>
      Effect.gen(function* () {
        const { organizationId, owner, role } = yield* Scene
        const store = yield* MemberStore
        yield* assertDirect("role", store.withRole(organizationId, role.id), 2)
        yield* assertDirect("address", store.byEmail(organizationId, owner.email), 1)
        yield* assertDirect("names", store.named(organizationId, [owner.id]), 1)
      })
    )

    it.effect("a page of the audit log looks at the rows that it holds, whatever is asked for", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* Scene
        const store = yield* AuditStore
        const queries: ReadonlyArray<Omit<AuditQuery, "limit">> = [
          {},
          { from: at(-5000), until: at(5000) },
          { action: "create" },
          { action: "rotate" },
          { targetType: "run" },
          { targetType: "budget" },
          { targetId: "the-budget" },
          { memberId: owner.id },
          { outcome: "Refused" },
          { outcome: "Succeeded" }
        ]
        for (const query of queries) {
          for (const after of [undefined, { at: at(-9000), id: organizationId }]) {
            const page = { limit: 10, ...query, ...(after === undefined ? {} : { after }) }
            yield* assertDirect(JSON.stringify(page), store.list(organizationId, page), 12)
          }
        }
      })
    )
  })
}
