/**
 * Changes and the library under several servers at once: numbers, approvals and merges of one organization come one
 * after the other, whoever does them.
 */
import type { Principal } from "@castellan/core/access/Principal"
import * as UseCase from "@castellan/core/audit/UseCase"
import { statusName } from "@castellan/core/change/Change"
import * as Changes from "@castellan/core/change/Changes"
import { LibraryStore } from "@castellan/core/library/LibraryStore"
import * as TextBytes from "@castellan/core/library/TextBytes"
import * as Tree from "@castellan/core/library/Tree"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { as } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as ScriptedOntology from "@castellan/testing/scripted/ScriptedOntology"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as PostgresApiKeyStore from "../../src/apikey/PostgresApiKeyStore.ts"
import * as PostgresAuditStore from "../../src/audit/PostgresAuditStore.ts"
import * as PostgresChangeStore from "../../src/change/PostgresChangeStore.ts"
import * as PostgresConnectorStore from "../../src/connector/PostgresConnectorStore.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresFolderPolicyStore from "../../src/folderpolicy/PostgresFolderPolicyStore.ts"
import * as PostgresLibraryStore from "../../src/library/PostgresLibraryStore.ts"
import * as PostgresMemberStore from "../../src/member/PostgresMemberStore.ts"
import * as PostgresOntologyStore from "../../src/ontology/PostgresOntologyStore.ts"
import * as PostgresOrganizationStore from "../../src/organization/PostgresOrganizationStore.ts"
import * as PostgresRoleStore from "../../src/role/PostgresRoleStore.ts"
import { databases } from "../support/Databases.ts"

const stores = Layer.mergeAll(
  PostgresApiKeyStore.layer,
  PostgresAuditStore.layer,
  PostgresChangeStore.layer,
  PostgresConnectorStore.layer,
  PostgresFolderPolicyStore.layer,
  PostgresLibraryStore.layer,
  PostgresMemberStore.layer,
  PostgresOntologyStore.layer,
  PostgresOrganizationStore.layer,
  PostgresRoleStore.layer
).pipe(Layer.provideMerge(PostgresTransaction.layer))

/** One server of the deployment: its own use cases and its own stores. */
const server = Layer.fresh(
  Changes.layer.pipe(
    Layer.provideMerge(UseCase.layer),
    Layer.provideMerge(Layer.mergeAll(stores, ScriptedOntology.layer()))
  )
)

const propose = (who: Principal, path: string, text: string) =>
  Changes.Changes.use((changes) =>
    changes.propose({
      staged: [{ _tag: "Write", path, content: TextBytes.encode(text) }],
      title: "A change",
      description: "",
      draft: false
    })
  ).pipe(
    as(who),
    Effect.map(({ change }) => change)
  )

const approve = (who: Principal, change: Effect.Success<ReturnType<typeof propose>>) =>
  Changes.Changes.use((changes) => changes.approve(change.id, change.gitRef)).pipe(as(who), Effect.result)

/** Every version of a library from the live one back, and the live one's paths. */
const history = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const store = yield* LibraryStore
  let versions = 0
  let paths: ReadonlyArray<string> = []
  let at = yield* store.head(organizationId)
  while (Option.isSome(at)) {
    const commit = Option.getOrThrow(yield* store.commit(organizationId, at.value))
    const tree = Option.getOrThrow(yield* store.tree(organizationId, commit.tree))
    if (versions === 0) paths = Array.from(Tree.files(tree), ([path]) => path)
    versions += 1
    at = Option.fromUndefinedOr(commit.parents[0])
  }
  return { versions, paths }
})

const count = 12

for (const { layer, name } of databases()) {
  describe(`changes of several servers (${name})`, () => {
    it.layer(layer.pipe(Layer.provideMerge(Deployment.layerCrypto)), {
      timeout: "180 seconds",
      excludeTestServices: true
    })((it) => {
      it.effect(
        "numbers have no gap, every merge is on top of the one before, and nothing is lost",
        () =>
          Effect.gen(function* () {
            const servers = [yield* Layer.build(server), yield* Layer.build(server)] as const
            const on = (index: number) => Effect.provide(servers[index % 2 === 0 ? 0 : 1])
            const tenant = yield* Fixture.tenant().pipe(on(0))
            const author = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] }).pipe(on(0))
            const boss = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] }).pipe(on(0))
            const indexes = Array.from({ length: count }, (_, index) => index)
            const proposed = yield* Effect.forEach(
              indexes,
              (index) => propose(author, `docs/${index}.md`, `text ${index}`).pipe(on(index)),
              { concurrency: "unbounded" }
            )
            assert.deepStrictEqual(
              proposed.map(({ number }) => Number(number)).toSorted((a, b) => a - b),
              indexes.map((index) => index + 1)
            )
            const approvals = yield* Effect.forEach(
              proposed,
              (change, index) => approve(boss, change).pipe(on(index)),
              {
                concurrency: "unbounded"
              }
            )
            assert.deepStrictEqual(
              approvals.map((one) => one._tag === "Success" && one.success.merged),
              proposed.map(() => true)
            )
            const after = yield* history(tenant.organizationId).pipe(on(1))
            assert.strictEqual(after.versions, count + 1)
            assert.deepStrictEqual(after.paths, proposed.flatMap(({ paths }) => paths).toSorted())
            const { counts } = yield* Changes.Changes.use((changes) =>
              changes.list({ limit: 1, includeAutoApproved: true })
            ).pipe(as(boss), on(1))
            assert.deepStrictEqual(counts, { draft: 0, open: 0, reserved: 0, approved: count, denied: 0 })
          }).pipe(Effect.scoped),
        180_000
      )

      it.effect(
        "A28 of changes that contradict each other, one is merged and the others are reserved",
        () =>
          Effect.gen(function* () {
            const servers = [yield* Layer.build(server), yield* Layer.build(server)] as const
            const on = (index: number) => Effect.provide(servers[index % 2 === 0 ? 0 : 1])
            const tenant = yield* Fixture.tenant().pipe(on(0))
            const author = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] }).pipe(on(0))
            const boss = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] }).pipe(on(0))
            const proposed = yield* Effect.forEach([0, 1, 2, 3], (index) =>
              propose(author, "docs/same.md", `text ${index}`).pipe(on(index))
            )
            const approvals = yield* Effect.forEach(
              proposed,
              (change, index) => approve(boss, change).pipe(on(index)),
              {
                concurrency: "unbounded"
              }
            )
            assert.strictEqual(approvals.filter((one) => one._tag === "Success").length, 1)
            const { items } = yield* Changes.Changes.use((changes) =>
              changes.list({ limit: 10, includeAutoApproved: true })
            ).pipe(as(boss), on(0))
            assert.deepStrictEqual(items.map(({ change }) => statusName(change.status)).toSorted(), [
              "approved",
              "reserved",
              "reserved",
              "reserved"
            ])
            assert.strictEqual((yield* history(tenant.organizationId).pipe(on(0))).versions, 2)
          }).pipe(Effect.scoped),
        180_000
      )

      it.effect(
        "of several who approve one change at once, one merges it, and the others are told that it is merged",
        () =>
          Effect.gen(function* () {
            const servers = [yield* Layer.build(server), yield* Layer.build(server)] as const
            const on = (index: number) => Effect.provide(servers[index % 2 === 0 ? 0 : 1])
            const tenant = yield* Fixture.tenant().pipe(on(0))
            const author = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] }).pipe(on(0))
            const reviewers = yield* Effect.forEach([0, 1, 2, 3], () =>
              Fixture.someone(tenant, { roles: [tenant.adminRole] }).pipe(on(0))
            )
            const change = yield* propose(author, "docs/page.md", "text").pipe(on(0))
            const approvals = yield* Effect.forEach(reviewers, (who, index) => approve(who, change).pipe(on(index)), {
              concurrency: "unbounded"
            })
            const outcomes = approvals.map((one) => (one._tag === "Success" ? "merged" : one.failure.code)).toSorted()
            assert.deepStrictEqual(outcomes, ["conflict", "conflict", "conflict", "merged"])
            assert.strictEqual((yield* history(tenant.organizationId).pipe(on(0))).versions, 2)
          }).pipe(Effect.scoped),
        180_000
      )
    })
  })
}
