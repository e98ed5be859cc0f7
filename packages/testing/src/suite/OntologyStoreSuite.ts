/**
 * What every store of ontology files keeps to.
 */
import { OntologyStore } from "@castellan/core/ontology/OntologyStore"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

/** Runs the contract of `OntologyStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<OntologyStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`OntologyStore (${name})`, (it) => {
    it.effect("has no file for an organization that gave none", () =>
      Effect.gen(function* () {
        const store = yield* OntologyStore
        assert.deepStrictEqual(yield* store.files(yield* Sample.organizationId), [])
      })
    )

    it.effect("keeps an organization's files, to the letter, in the order of their paths", () =>
      Effect.gen(function* () {
        const store = yield* OntologyStore
        const organization = yield* Sample.organizationId
        const b = { path: "b.malloy", content: "source: b is x\r\n\ttab and 'quote' \\ 🚀\n" }
        const upper = { path: "Z.malloy", content: "" }
        const nested = { path: "a/deep/file.malloy", content: "x".repeat(100_000) }
        const odd = { path: "c/\u0000.malloy", content: "\u0000 and half of a pair \ud83d" }
        yield* store.replace(organization, [odd, b, upper, nested])
        assert.deepStrictEqual(yield* store.files(organization), [upper, nested, b, odd])
      })
    )

    it.effect("replaces all files of one organization, and none of another", () =>
      Effect.gen(function* () {
        const store = yield* OntologyStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const file = { path: "a.malloy", content: "one" }
        yield* store.replace(ours, [file, { path: "b.malloy", content: "two" }])
        yield* store.replace(theirs, [file])
        yield* store.replace(ours, [{ path: "c.malloy", content: "three" }])
        assert.deepStrictEqual(yield* store.files(ours), [{ path: "c.malloy", content: "three" }])
        assert.deepStrictEqual(yield* store.files(theirs), [file])
        yield* store.replace(ours, [])
        assert.deepStrictEqual(yield* store.files(ours), [])
      })
    )
  })
}
