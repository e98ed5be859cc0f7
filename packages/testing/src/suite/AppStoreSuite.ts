/**
 * What every store of apps keeps to.
 */
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import type { Principal } from "@castellan/core/access/Principal"
import { App } from "@castellan/core/app/App"
import { AppStore } from "@castellan/core/app/AppStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const client = (region: string): ClientMetadata => ({ text: `{"region":"${region}"}`, attributes: { region } })

/** Runs the contract of `AppStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<AppStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`AppStore (${name})`, (it) => {
    const newReader = Effect.flatMap(Sample.organizationId, (id) => Sample.principal(id))

    const assetsOf = Effect.fnUntraced(function* (maker: Principal, count: number) {
      const run = yield* Sample.run(maker, yield* Sample.chat(maker))
      return yield* Effect.forEach(Array.from({ length: count }), () => Sample.asset(run))
    })

    it.effect("gives back what was saved, its assets in their order, replaces it whole, and removes it", () =>
      Effect.gen(function* () {
        const store = yield* AppStore
        const maker = yield* newReader
        const assets = yield* assetsOf(maker, 3)
        const app = yield* AutomationSample.app(maker, assets)
        yield* store.save(app)
        assertSame(yield* store.get(app.organizationId, app.id), Option.some(app))
        const changed = new App({
          ...app,
          name: "Ünï 🚀 \u0000 \ud800",
          assets: assets.toReversed(),
          access: Sample.everyone
        })
        yield* store.save(changed)
        assertSame(yield* store.get(app.organizationId, app.id), Option.some(changed))
        const elsewhere = yield* Sample.organizationId
        assert.isTrue(Option.isNone(yield* store.get(elsewhere, app.id)))
        yield* store.remove(elsewhere, app.id)
        assertSame(yield* store.get(app.organizationId, app.id), Option.some(changed))
        yield* store.remove(app.organizationId, app.id)
        yield* store.remove(app.organizationId, app.id)
        assert.isTrue(Option.isNone(yield* store.get(app.organizationId, app.id)))
      })
    )

    it.effect("lists by name what the reader may read, and whose rows it may be shown", () =>
      Effect.gen(function* () {
        const store = yield* AppStore
        const reader = yield* newReader
        const north = yield* Sample.principal(reader.organizationId, { clientMetadata: client("north") })
        const south = yield* Sample.principal(reader.organizationId, { clientMetadata: client("south") })
        const kept = (maker: Principal, given: Parameters<typeof AutomationSample.app>[2]) =>
          Effect.flatMap(
            Effect.flatMap(assetsOf(maker, 1), (assets) => AutomationSample.app(maker, assets, given)),
            store.save
          )
        yield* kept(reader, { name: "own" })
        yield* kept(north, { name: "north", access: Sample.everyone })
        yield* kept(reader, { name: "everyone", access: Sample.everyone })
        yield* kept(south, { name: "another's" })
        yield* kept(yield* newReader, { name: "foreign", access: Sample.everyone })
        const names = (principal: Principal, limit = 10, offset = 0) =>
          Effect.map(store.list({ reader: principal, now: DateTime.makeUnsafe(0), limit, offset }), (page) => [
            page.totalCount,
            ...page.items.map((app) => app.name)
          ])
        assert.deepStrictEqual(yield* names(reader), [2, "everyone", "own"])
        assert.deepStrictEqual(yield* names(reader, 1, 1), [2, "own"])
        assert.deepStrictEqual(yield* names(north), [1, "north"])
        assert.deepStrictEqual(yield* names(south), [1, "another's"])
      })
    )
  })
}
