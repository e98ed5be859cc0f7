import { FolderPolicy, Owner } from "@castellan/core/folderpolicy/FolderPolicy"
import { FolderPolicyStore } from "@castellan/core/folderpolicy/FolderPolicyStore"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as Name from "@castellan/testing/policy/Name"
import * as FolderPolicyStoreSuite from "@castellan/testing/suite/FolderPolicyStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import { within } from "../../src/database/Tenancy.ts"
import * as PostgresFolderPolicyStore from "../../src/folderpolicy/PostgresFolderPolicyStore.ts"
import { databases } from "../support/Databases.ts"

const docs = LibraryPath.make("docs")

const policy = (organizationId: OrganizationId): FolderPolicy =>
  new FolderPolicy({
    organizationId,
    path: docs,
    owners: [Owner.cases.Member.make({ id: Name.memberId("ana") })],
    inheritOwners: true,
    requiredApprovals: 2,
    distinctApprovers: false,
    authorRoles: [Name.roleId("writers")],
    autoApprove: [{ authorRoles: [], pathGlobs: ["**"] }],
    updatedAt: DateTime.makeUnsafe("2031-02-03T04:05:06.789Z")
  })

for (const { layer, name } of databases()) {
  const stores = Layer.mergeAll(PostgresFolderPolicyStore.layer, PostgresTransaction.layer).pipe(
    Layer.provideMerge(layer)
  )
  FolderPolicyStoreSuite.suite(name, stores)

  describe(`PostgresFolderPolicyStore (${name})`, () => {
    it.layer(Layer.mergeAll(stores, Deployment.layerCrypto))((it) => {
      it.effect("gives no version twice, also when the transaction that saw it is undone", () =>
        Effect.gen(function* () {
          const organization = yield* Sample.organizationId
          const store = yield* FolderPolicyStore
          const transaction = yield* Transaction
          yield* store.save(policy(organization))
          const before = yield* store.version(organization)
          const undone = yield* Effect.flip(
            transaction.run(
              Effect.andThen(store.remove(organization, docs), Effect.flatMap(store.version(organization), Effect.fail))
            )
          )
          assert.notStrictEqual(undone, before)
          assert.strictEqual(yield* store.version(organization), before)
          assert.isTrue(Option.isSome(yield* store.get(organization, docs)))
          yield* store.save(policy(organization))
          assert.notInclude([before, undone], yield* store.version(organization))
        })
      )

      for (const [what, document, strictest] of [
        ["owners that are no owners", { owners: "everybody" }, { owners: [], inheritOwners: false }],
        ["a number that is none", { requiredApprovals: 0 }, { requiredApprovals: 1 }],
        ["an exception that is none", { autoApprove: [{}] }, { autoApprove: [] }],
        ["no object at all", 7, { owners: [], inheritOwners: false, requiredApprovals: 1, distinctApprovers: true }]
      ] as const) {
        it.effect(`L12 a row with ${what} stands at its strictest`, () =>
          Effect.gen(function* () {
            const organization = yield* Sample.organizationId
            const sql = yield* SqlClient
            const store = yield* FolderPolicyStore
            yield* store.save(policy(organization))
            const kept = JSON.stringify(
              typeof document === "number"
                ? document
                : {
                    owners: [],
                    inheritOwners: true,
                    requiredApprovals: 1,
                    distinctApprovers: true,
                    authorRoles: [],
                    autoApprove: [],
                    ...document
                  }
            )
            yield* sql`UPDATE castellan.folder_policies SET document = ${kept} WHERE ${within(sql, organization)}`
            const found = Option.getOrThrow(yield* store.get(organization, docs))
            assert.deepInclude({ ...found }, strictest)
            assert.isNotEmpty(found.malformations)
            assert.deepStrictEqual(yield* store.list(organization), [found])
          })
        )
      }
    })
  })
}
