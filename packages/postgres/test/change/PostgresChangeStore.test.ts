import { Change, ChangeId, ChangeStatus, ChangeTitle } from "@castellan/core/change/Change"
import { readerOf } from "@castellan/core/change/ChangeReader"
import * as ChangeStore from "@castellan/core/change/ChangeStore"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Uuid from "@castellan/core/identifier/Uuid"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as ChangeSight from "@castellan/testing/policy/ChangeSight"
import * as Name from "@castellan/testing/policy/Name"
import * as ChangeStoreSuite from "@castellan/testing/suite/ChangeStoreSuite"
import { assertSame } from "@castellan/testing/suite/Same"
import { describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import * as PostgresChangeStore from "../../src/change/PostgresChangeStore.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import { databases } from "../support/Databases.ts"

const statuses: { readonly [name: string]: ChangeStatus } = {
  draft: ChangeStatus.cases.Draft.make({}),
  open: ChangeStatus.cases.Open.make({}),
  reserved: ChangeStatus.cases.Reserved.make({ conflicts: [] })
}
const names = ["draft", "open", "reserved"] as const

/** A change as it is drawn: who wrote it, what it touches, how it stands, and in which of few moments it was made. */
const Drawn = Schema.Struct({
  sight: ChangeSight.DrawnChange,
  status: Schema.Literals(names),
  second: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
})

const Query = Schema.Struct({
  statuses: Schema.Array(Schema.Literals(names)).check(Schema.isMaxLength(3)),
  everyStatus: Schema.Boolean,
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
})

for (const { layer, name } of databases()) {
  const stores = PostgresChangeStore.layer.pipe(Layer.provide(PostgresTransaction.layer), Layer.provide(layer))
  ChangeStoreSuite.suite(name, stores)

  describe(`PostgresChangeStore (${name})`, () => {
    it.layer(Layer.mergeAll(stores, Deployment.layerCrypto), { timeout: "180 seconds" })((it) => {
      it.effect.prop(
        "L2 whoever reads, it answers as a store does that shows every change to the rule",
        [
          Schema.Array(ChangeSight.DrawnPolicy).check(Schema.isMaxLength(5)),
          Schema.Array(ChangeSight.DrawnReader).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
          Schema.Array(Drawn).check(Schema.isMaxLength(8)),
          Query
        ],
        ([policies, readers, drawn, { everyStatus, limit, statuses: asked }]) =>
          Effect.gen(function* () {
            const organizationId = yield* Sample.organizationId
            const kept = yield* ChangeStore.ChangeStore
            const memory = Context.get(
              yield* Layer.build(Layer.fresh(ChangeStore.layerMemory)),
              ChangeStore.ChangeStore
            )
            for (const { second, sight, status } of drawn) {
              const id = ChangeId.make(yield* Uuid.next)
              const createdAt = DateTime.makeUnsafe(second * 1000)
              const { author, paths } = ChangeSight.concernedOf(sight)
              for (const store of [kept, memory]) {
                yield* store.add(
                  organizationId,
                  (number) =>
                    new Change({
                      id,
                      organizationId,
                      number,
                      author,
                      title: ChangeTitle.make("A change"),
                      description: "",
                      status: statuses[status] ?? ChangeStatus.cases.Open.make({}),
                      changesets: [
                        {
                          revision: 1,
                          gitRef: Name.gitRef("v1"),
                          base: Name.gitRef("v0"),
                          pusher: author,
                          paths,
                          files: [],
                          createdAt
                        }
                      ],
                      approvals: [],
                      aiGenerated: false,
                      createdAt,
                      updatedAt: createdAt
                    })
                )
              }
            }
            const tree = PolicyTree.make(policies.map(ChangeSight.policyOf))
            for (const one of readers) {
              const selection = {
                reader: readerOf(tree, ChangeSight.principalOf(one)),
                includeAutoApproved: true,
                ...(everyStatus ? {} : { statuses: asked })
              }
              assertSame(
                yield* kept.counts(organizationId, selection),
                yield* memory.counts(organizationId, { reader: selection.reader, includeAutoApproved: true })
              )
              let after: Parameters<typeof memory.list>[1]["after"]
              do {
                const query = { ...selection, limit, ...(after === undefined ? {} : { after }) }
                const expected = yield* memory.list(organizationId, query)
                assertSame(yield* kept.list(organizationId, query), expected)
                after = expected.next
              } while (after !== undefined)
            }
          }).pipe(Effect.scoped),
        { arbitrary: { runs: 40 } }
      )
    })
  })
}
