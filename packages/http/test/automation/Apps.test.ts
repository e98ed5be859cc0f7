import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { withAssets as chat } from "../support/ChatWithAssets.ts"
import { code, json, keyOf, powerless, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("apps over HTTP", (it) => {
  it.effect("an app shows assets of a chat by addresses that work, in its own order, until it is deleted", () =>
    Effect.gen(function* () {
      const { assetIds, id: chatId } = yield* chat
      const all = yield* json("POST", "/v2/apps", { name: "Board", chat_id: chatId })
      assert.strictEqual(all.status, 201)
      assert.deepInclude(all.body, { name: "Board", description: "", chat_id: chatId })
      assert.deepStrictEqual(
        all.body.assets.map((asset: { readonly id: string }) => asset.id),
        assetIds
      )
      const path = `/v2/apps/${all.body.id}`
      const turned = assetIds.toReversed()
      const changed = yield* json("PATCH", path, { description: "For everybody", asset_ids: turned })
      assert.deepInclude(changed.body, { name: "Board", description: "For everybody" })
      const shown = yield* json("GET", path)
      assert.deepStrictEqual(
        shown.body.assets.map((asset: { readonly id: string }) => asset.id),
        turned
      )
      const picture = yield* Site.call(shown.body.assets[1].url, { key: "" })
      assert.deepStrictEqual([picture.status, picture.text], [200, "Sales"])
      const listed = yield* json("GET", "/v2/apps")
      assert.deepStrictEqual([listed.body.total_count, listed.body.apps[0].id], [1, all.body.id])

      assert.deepStrictEqual((yield* json("DELETE", path)).body, { id: all.body.id, success: true })
      yield* refusal(code.notFound, "GET", path)
      yield* refusal(code.notFound, "PATCH", path, {})
      yield* refusal(code.notFound, "DELETE", path)
      assert.strictEqual((yield* json("GET", `/v2/chats/${chatId}`)).status, 200)
    })
  )

  it.effect("what is malformed is refused by the name of its field; what is not the chat's, as well", () =>
    Effect.gen(function* () {
      const { id: chatId } = yield* chat
      const refused: ReadonlyArray<readonly [string, string, unknown, RegExp]> = [
        ["POST", "/v2/apps", { chat_id: chatId }, /^name: is missing/],
        ["POST", "/v2/apps", { name: "Board" }, /^chat_id: is missing/],
        ["POST", "/v2/apps", { name: "Board", chat_id: "7" }, /^chat_id: must be a UUID/],
        ["POST", "/v2/apps", { name: "Board", chat_id: chatId, asset_ids: [] }, /^asset_ids: /],
        ["POST", "/v2/apps", { name: "Board", chat_id: chatId, asset_ids: [unknown] }, /^asset_ids/],
        ["PATCH", `/v2/apps/${unknown}`, { name: "" }, /^name: /],
        ["GET", "/v2/apps?limit=0", undefined, /^limit: /]
      ]
      for (const [method, address, body, message] of refused) {
        assert.match(yield* refusal(code.invalid, method, address, body), message)
      }
      yield* refusal(code.notFound, "POST", "/v2/apps", { name: "Board", chat_id: unknown })
    })
  )

  it.effect("somebody else's app and chat are hidden; without the permission nothing is to be had", () =>
    Effect.gen(function* () {
      const { id: chatId } = yield* chat
      const path = `/v2/apps/${(yield* json("POST", "/v2/apps", { name: "Board", chat_id: chatId })).body.id}`
      const other = yield* keyOf()
      yield* refusal(code.notFound, "GET", path, undefined, other)
      yield* refusal(code.notFound, "DELETE", path, undefined, other)
      assert.strictEqual((yield* json("GET", "/v2/apps", undefined, other)).body.total_count, 0)
      yield* refusal(code.notFound, "POST", "/v2/apps", { name: "Mine", chat_id: chatId }, other)
      yield* refusal(code.denied, "GET", "/v2/apps", undefined, yield* powerless)
    })
  )
})
