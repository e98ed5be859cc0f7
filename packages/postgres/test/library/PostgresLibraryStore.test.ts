import * as Tree from "@castellan/core/library/Tree"
import * as TreeEdit from "@castellan/core/library/TreeEdit"
import { blobId } from "@castellan/core/library/Blob"
import * as LibraryPath from "@castellan/core/library/LibraryPath"
import { LibraryStore } from "@castellan/core/library/LibraryStore"
import { Transaction } from "@castellan/core/transaction/Transaction"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as LibraryStoreSuite from "@castellan/testing/suite/LibraryStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { within } from "../../src/database/Tenancy.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresLibraryStore from "../../src/library/PostgresLibraryStore.ts"
import { databases } from "../support/Databases.ts"

/** Two servers on one database. */
const one = Layer.fresh(PostgresLibraryStore.layer)
const other = Layer.fresh(PostgresLibraryStore.layer)

const treeOf = (paths: ReadonlyArray<string>): Tree.Tree =>
  Result.getOrThrow(
    TreeEdit.apply(
      Tree.empty,
      paths.map((path, index) =>
        TreeEdit.put(
          Result.getOrThrow(LibraryPath.parse(path)),
          Tree.file(blobId(Uint8Array.of(index >> 8, index & 255)))
        )
      )
    )
  )

const tree = treeOf(["a/b/c", "a/d", "e"])

/** More folders than a statement writes at once, on two levels, some of them alike. */
const large = treeOf([
  ...Array.from({ length: 1200 }, (_, index) => `many/${index}/deep/x`),
  ...Array.from({ length: 30 }, (_, index) => `a/${index % 3}/b/${index}`)
])

for (const { layer, name } of databases()) {
  const database = PostgresTransaction.layer.pipe(Layer.provideMerge(layer))
  LibraryStoreSuite.suite(name, Layer.provide(PostgresLibraryStore.layer, database))

  describe(`PostgresLibraryStore (${name})`, () => {
    it.layer(Layer.mergeAll(database, Deployment.layerCrypto))((it) => {
      it.effect("reads a tree that another server wrote", () =>
        Effect.gen(function* () {
          const organization = yield* Sample.organizationId
          for (const written of [large, tree]) {
            yield* Effect.provide(
              LibraryStore.use((store) => store.addTree(organization, written)),
              one
            )
            const found = yield* Effect.provide(
              LibraryStore.use((store) => store.tree(organization, written.id)),
              other
            )
            assert.deepStrictEqual([...Tree.files(Option.getOrThrow(found))], [...Tree.files(written)])
          }
        })
      )

      it.effect("keeps nothing of a tree whose transaction is undone, though it has seen the tree", () =>
        Effect.gen(function* () {
          const organization = yield* Sample.organizationId
          const store = yield* LibraryStore
          const transaction = yield* Transaction
          yield* Effect.exit(
            transaction.run(Effect.andThen(store.addTree(organization, tree), Effect.fail("undone" as const)))
          )
          assert.isTrue(Option.isNone(yield* store.tree(organization, tree.id)))
          yield* store.addTree(organization, tree)
          assert.isTrue(Option.isSome(yield* store.tree(organization, tree.id)))
        }).pipe(Effect.provide(one))
      )

      it.effect("dies on a folder that is not what its id says, or that is missing", () =>
        Effect.gen(function* () {
          const organization = yield* Sample.organizationId
          const sql = yield* SqlClient
          const read = LibraryStore.use((store) => store.tree(organization, tree.id)).pipe(
            Effect.exit,
            Effect.map((exit) => (Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "read")),
            Effect.provide(other)
          )
          yield* Effect.provide(
            LibraryStore.use((store) => store.addTree(organization, tree)),
            one
          )
          assert.strictEqual(yield* read, "read")
          const [a] = tree.entries.values()
          assert.strictEqual(a?._tag, "Tree")
          const id = a?._tag === "Tree" ? a.id : ""
          yield* sql`
            UPDATE castellan.library_folders SET object = (
              SELECT object FROM castellan.library_folders WHERE ${within(sql, organization)} AND id = ${tree.id}
            ) WHERE ${within(sql, organization)} AND id = ${id}`
          assert.include(yield* read, `folder ${id} of a library`)
          yield* sql`DELETE FROM castellan.library_folders WHERE ${within(sql, organization)} AND id = ${id}`
          assert.include(yield* read, `folder ${id} of a library is missing`)
        })
      )
    })
  })
}
