/**
 * A list of chats is the same in whatever order the server looks at the tables: each of them is read after its
 * organization was entered.
 */
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import * as PostgresChatStore from "../../src/chat/PostgresChatStore.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { databases } from "../support/Databases.ts"

const methods = ["hashjoin", "mergejoin", "nestloop"]

for (const { layer, name } of databases()) {
  const store = PostgresChatStore.layer.pipe(
    Layer.provide(RunNotifications.layerInProcess),
    Layer.provideMerge(layer),
    Layer.provideMerge(layerCrypto)
  )
  it.layer(store, { timeout: "180 seconds" })(`lists of chats, however they are planned (${name})`, (it) => {
    for (const method of methods) {
      it.effect(`by ${method} alone`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const chats = yield* ChatStore
          const maker = yield* Sample.principal(yield* Sample.organizationId)
          for (let count = 0; count < 3; count += 1) {
            const chat = yield* Sample.chat(maker)
            yield* chats.open(chat, yield* Sample.run(maker, chat))
          }
          const page = yield* sql.withTransaction(
            Effect.gen(function* () {
              for (const other of methods) {
                yield* sql.unsafe(`SET LOCAL enable_${other} = ${other === method ? "on" : "off"}`)
              }
              return yield* chats.list({
                reader: maker,
                now: DateTime.nowUnsafe(),
                limit: 10,
                offset: 0,
                sortBy: "updated_at",
                sortDirection: "desc"
              })
            })
          )
          assert.strictEqual(page.totalCount, 3)
          assert.strictEqual(page.chats.length, 3)
        })
      )
    }
  })
}
