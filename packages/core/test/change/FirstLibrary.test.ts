import { OntologyStore } from "@castellan/core/ontology/OntologyStore"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Review from "./Review.ts"

const { approve, propose } = Review

it.layer(Review.layer)("The first library", (it) => {
  it.effect("is the ontology that there was, without the names alone that no library can hold", () =>
    Effect.gen(function* () {
      const { admin, boss, library, organizationId } = yield* Review.organization
      const ontology = yield* OntologyStore
      yield* ontology.replace(organizationId, [
        { path: "flights.malloy", content: "1" },
        { path: "Orders.malloy", content: "2" },
        { path: "orders.malloy", content: "3" },
        { path: "../outside.malloy", content: "4" }
      ])
      assert.isTrue((yield* approve(yield* admin, yield* propose(boss, { write: { "ontology/new": "5" } }))).merged)
      const first = { "ontology/Orders.malloy": "2", "ontology/flights.malloy": "1", "ontology/new": "5" }
      assert.deepStrictEqual(yield* library, first)
      const published = (yield* ontology.files(organizationId)).map(({ path }) => path)
      assert.sameMembers([...published], ["Orders.malloy", "flights.malloy", "new"])
    })
  )
})
