/**
 * What the statements of changes cost, where an organization has many: by the rows that the server looks at, under the
 * plan for one call and under the plan that it keeps.
 */
import { Attribution, Change, ChangeId, ChangeNumber, ChangeStatus, ChangeTitle } from "@castellan/core/change/Change"
import * as ChangeReader from "@castellan/core/change/ChangeReader"
import { ChangeStore } from "@castellan/core/change/ChangeStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as Name from "@castellan/testing/policy/Name"
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresChangeStore from "../../src/change/PostgresChangeStore.ts"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import { type PlanMode, plansOf } from "../support/StatementPlans.ts"
import { asSuperuser } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const at = (second: number): DateTime.Utc => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + second * 1000)

/** An organization with a change of the path `mine/page.md`. */
const scene = Effect.gen(function* () {
  const organizationId = yield* Sample.organizationId
  const id = ChangeId.make(yield* Uuid.next)
  const author = Attribution.cases.Unattributed.make({})
  return yield* ChangeStore.use((store) =>
    store.add(
      organizationId,
      (number) =>
        new Change({
          id,
          organizationId,
          number,
          author,
          title: ChangeTitle.make("A change"),
          description: "",
          status: ChangeStatus.cases.Open.make({}),
          changesets: [
            {
              revision: 1,
              gitRef: Name.gitRef("v1"),
              base: Name.gitRef("v0"),
              pusher: author,
              paths: [LibraryPath.make("mine/page.md")],
              files: [],
              createdAt: at(0)
            }
          ],
          approvals: [],
          aiGenerated: false,
          createdAt: at(0),
          updatedAt: at(0)
        })
    )
  )
})

/** 20,000 more, newer and older, most of them merged, each with a revision and with a path of a thousand folders. */
const many = `
  INSERT INTO castellan.changes
  SELECT organization_id, gen_random_uuid(), 10002 + n, CASE WHEN n % 100 = 0 THEN 'open' ELSE 'approved' END, git_ref,
    approvals, revisions, gen_random_uuid(), '', created_at + n * interval '1 second', document
  FROM castellan.changes, generate_series(-10000, 10000) AS n;
  INSERT INTO castellan.changesets
  SELECT changes.organization_id, changes.id, 1, one.document FROM castellan.changes, castellan.changesets AS one
  WHERE changes.number > 1;
  INSERT INTO castellan.change_paths
  SELECT organization_id, '/folder' || number % 1000 || '/page.md/', id FROM castellan.changes WHERE number > 1;
  ANALYZE castellan.changes, castellan.changesets, castellan.change_paths`

class Scene extends Context.Service<Scene, Change>()("test/change/Plans/Scene") {}

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
        Layer.provideMerge(PostgresChangeStore.layer.pipe(Layer.provide(PostgresTransaction.layer))),
        Layer.provideMerge(PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, database) })),
        Layer.provideMerge(layerCrypto)
      )
    )
  )

  it.layer(layer, { timeout: "180 seconds" })(`plans of changes (${server.name})`, (it) => {
    const assertDirect = Effect.fnUntraced(function* <A, E, R>(
      about: string,
      effect: Effect.Effect<A, E, R>,
      most: number
    ) {
      const modes: ReadonlyArray<PlanMode> = ["force_custom_plan", "force_generic_plan"]
      for (const mode of modes) {
        const plans = yield* plansOf(mode, effect)
        const told = `${about}, ${mode}: ${JSON.stringify(plans, null, 2)}`
        assert.strictEqual(plans.length, 1, told)
        for (const { examined, steps } of plans) {
          assert.notInclude(steps, "Seq Scan", told)
          assert.isAtMost(examined, most, told)
        }
      }
    })

    it.effect("a change is found by its id and by its number", () =>
      Effect.gen(function* () {
        const { id, organizationId } = yield* Scene
        const store = yield* ChangeStore
        yield* assertDirect("id", store.get(organizationId, id), 2)
        yield* assertDirect("number", store.numbered(organizationId, ChangeNumber.make(7)), 2)
      })
    )

    it.effect("a page for who may see everything looks at the newest of each kind, however far it is", () =>
      Effect.gen(function* () {
        const { id, organizationId } = yield* Scene
        const store = yield* ChangeStore
        const query = { limit: 20, includeAutoApproved: true, reader: ChangeReader.administrator }
        for (const second of [20_000, 0, -9_900]) {
          const after = { at: at(second), id }
          // Twenty-one of the merged and of the open ones, and the revisions of those that are on the page.
          yield* assertDirect(`page after ${second}`, store.list(organizationId, { ...query, after }), 21 * 3)
          const open = { ...query, after, statuses: ["open"] as const }
          yield* assertDirect(`open after ${second}`, store.list(organizationId, open), 21 * 2)
        }
        yield* assertDirect("counts", store.counts(organizationId, query), 1)
      })
    )

    it.effect("a page for who owns a folder looks at what lies in it", () =>
      Effect.gen(function* () {
        const { organizationId } = yield* Scene
        const store = yield* ChangeStore
        const reader: ChangeReader.ChangeReader = {
          _tag: "Member",
          author: { memberId: Name.memberId("ana"), restricted: false },
          owned: [
            { from: "/folder7/", before: "/folder70" },
            { from: "/mine/", before: "/mine0" }
          ]
        }
        const query = { limit: 20, includeAutoApproved: true, reader }
        const page = yield* store.list(organizationId, query)
        assert.strictEqual(page.items.length, 20)
        const counts = yield* store.counts(organizationId, query)
        assert.strictEqual(counts.open + counts.approved, 21)
        // The paths, the changes, and the revisions of the page.
        yield* assertDirect("list", store.list(organizationId, query), 21 * 4)
        yield* assertDirect("counts", store.counts(organizationId, query), 21 * 3)
      })
    )
  })
}
