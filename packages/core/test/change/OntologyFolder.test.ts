import { OntologyStore } from "@castellan/core/ontology/OntologyStore"
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as Review from "./Review.ts"
import { approve, codeOf, propose, see } from "./Review.ts"
import { published } from "./ReviewedDocs.ts"

it.layer(Review.layer)("The ontology's folder", (it) => {
  it.effect("is the organization's ontology once it is merged", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      yield* published(world, { write: { "ontology/sales.malloy": "source: sales", "docs/x": "y" } })
      const ontology = yield* OntologyStore
      assert.deepStrictEqual(yield* ontology.files(world.organizationId), [
        { path: "sales.malloy", content: "source: sales" }
      ])
    })
  )

  it.effect("is refused with file, line and column where it does not compile", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const failure = yield* Effect.flip(propose(world.boss, { write: { "ontology/sales.malloy": "ok\nbroken" } }))
      assert.deepStrictEqual(
        [failure.code, failure.message],
        ["invalid_request", "ontology/sales.malloy:2:1: it is broken"]
      )
      assert.strictEqual(yield* codeOf(propose(world.boss, { write: { "docs/x": "broken" } })), "ok")
    })
  )

  it.effect("is reserved where it no longer compiles at the merge", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const admin = yield* world.admin
      const one = yield* propose(world.boss, { write: { "ontology/one.malloy": "needs two" } })
      const two = yield* propose(world.boss, { write: { "ontology/two.malloy": "two is not needed" } })
      yield* approve(admin, two)
      const failure = yield* Effect.flip(approve(admin, one))
      assert.strictEqual(failure.code, "conflict")
      const shown = yield* see(world.boss, one)
      assert.deepStrictEqual(
        [shown.change.status._tag, shown.conflicts[0]?.view],
        ["Reserved", "ontology/one.malloy:1:1: two is not needed\n"]
      )
      const ontology = yield* OntologyStore
      assert.lengthOf(yield* ontology.files(world.organizationId), 1)
    })
  )

  it.effect("M14 a merge that breaks down is an internal error, and leaves everything as it was", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const admin = yield* world.admin
      const change = yield* propose(world.boss, { write: { "ontology/one.malloy": "breaks the compiler" } })
      yield* published(world, { write: { "ontology/two.malloy": "two is not needed" } })
      const before = yield* world.library
      const exit = yield* Effect.exit(approve(admin, change))
      assert.isTrue(Exit.hasDies(exit))
      assert.deepStrictEqual((yield* see(world.boss, change)).change, change.change)
      assert.deepStrictEqual(yield* world.library, before)
    })
  )

  it.effect("begins with the ontology that the organization has", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const ontology = yield* OntologyStore
      yield* ontology.replace(world.organizationId, [{ path: "old.malloy", content: "source: old" }])
      yield* published(world, { write: { "ontology/new.malloy": "source: new" } })
      assert.deepStrictEqual(
        (yield* ontology.files(world.organizationId)).map(({ path }) => path),
        ["new.malloy", "old.malloy"]
      )
    })
  )
})
