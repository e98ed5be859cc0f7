import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Site from "./support/Site.ts"

const json = (method: string, path: string, body?: unknown) =>
  Effect.map(
    Site.call(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
    }),
    (reply) => ({ status: reply.status, body: JSON.parse(reply.text) })
  )

const ask = Effect.map(json("POST", "/v2/chats", { question: "What is the answer?" }), ({ body }) => body.chat_id)

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("chats over HTTP", (it) => {
  it.effect("a chat is renamed, judged and deleted; then it is not there", () =>
    Effect.gen(function* () {
      const id: string = yield* ask
      const renamed = yield* json("PATCH", `/v2/chats/${id}`, { summary: "The answer" })
      assert.strictEqual(renamed.status, 200)
      assert.deepInclude(renamed.body, { id, summary: "The answer", is_running: false })
      assert.strictEqual((yield* json("GET", `/v2/chats/${id}`)).body.chat.summary, "The answer")
      const judged = yield* json("POST", `/v2/chats/${id}/feedback`, { rating: "up", comment: "Right" })
      assert.strictEqual(judged.status, 200)
      assert.deepInclude(judged.body, { chat_id: id, rating: "up", comment: "Right" })
      const wrong = yield* json("POST", `/v2/chats/${id}/feedback`, { rating: "sideways" })
      assert.strictEqual(wrong.status, 400)
      assert.match(wrong.body.error.message, /^rating: /u)
      assert.deepStrictEqual(yield* json("DELETE", `/v2/chats/${id}`), { status: 200, body: { id, success: true } })
      for (const path of ["", "/cells", "/stream"]) {
        const gone = yield* json("GET", `/v2/chats/${id}${path}`)
        assert.deepStrictEqual([gone.status, gone.body.error.code], [404, "not_found"])
      }
    })
  )

  it.effect("one cell of a chat is found by its id, and no other", () =>
    Effect.gen(function* () {
      const id: string = yield* ask
      const { cells } = (yield* json("GET", `/v2/chats/${id}/cells`)).body
      const one = yield* json("GET", `/v2/chats/${id}/cells/${cells[0].id}`)
      assert.deepStrictEqual(one, { status: 200, body: cells[0] })
      const other: string = yield* ask
      assert.strictEqual((yield* json("GET", `/v2/chats/${other}/cells/${cells[0].id}`)).status, 404)
    })
  )
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("connectors over HTTP", (it) => {
  const postgres = {
    name: "orders",
    description: "What was ordered",
    type: "postgres",
    config: { host: "db.example", database: "shop", user: "reader" },
    secret: "correct horse"
  }

  it.effect("a connector is made, changed and deleted; its secret comes out nowhere", () =>
    Effect.gen(function* () {
      const types = yield* json("GET", "/v2/connectors/types")
      assert.include(
        types.body.types.map(({ type }: { readonly type: string }) => type),
        "postgres"
      )
      const made = yield* json("POST", "/v2/connectors", postgres)
      assert.strictEqual(made.status, 201)
      const { id } = made.body
      assert.deepInclude(made.body, { name: "orders", type: "postgres", description: "What was ordered" })
      assert.notInclude(JSON.stringify(made.body), "correct horse")
      assert.strictEqual((yield* json("POST", "/v2/connectors", { ...postgres, name: "ORDERS" })).status, 409)
      const moved = { config: { ...postgres.config, host: "elsewhere.example" } }
      const refused = yield* json("PATCH", `/v2/connectors/${id}`, moved)
      assert.strictEqual(refused.status, 400)
      assert.match(refused.body.error.message, /^secret: must be given again/u)
      const changed = yield* json("PATCH", `/v2/connectors/${id}`, {
        ...moved,
        secret: "battery",
        name: "sales_orders"
      })
      assert.deepStrictEqual([changed.status, changed.body.name], [200, "sales_orders"])
      const malformed = yield* json("PATCH", `/v2/connectors/${id}`, { config: { host: "x" } })
      assert.strictEqual(malformed.status, 400)
      assert.match(malformed.body.error.message, /^config\.database: /u)
      assert.deepStrictEqual(yield* json("DELETE", `/v2/connectors/${id}`), {
        status: 200,
        body: { id, success: true }
      })
      assert.strictEqual((yield* json("DELETE", `/v2/connectors/${id}`)).status, 404)
    })
  )

  it.effect("a source is tried; a folder that the host did not allow is not", () =>
    Effect.gen(function* () {
      const { config, secret, type } = postgres
      assert.deepStrictEqual(yield* json("POST", "/v2/connectors/test", { type, config, secret }), {
        status: 200,
        body: { success: true }
      })
      const folder = yield* json("POST", "/v2/connectors/test", { type: "files", config: { folder: "/etc" } })
      assert.strictEqual(folder.status, 400)
      assert.match(folder.body.error.message, /^folder: must be one that the host allows/u)
    })
  )

  it.effect("row policies are set all at once", () =>
    Effect.gen(function* () {
      const { id } = (yield* json("POST", "/v2/connectors", { ...postgres, name: "policed" })).body
      const path = `/v2/connectors/${id}/row-policies`
      const policy = {
        table: "sales",
        attributes: { region: "text" },
        predicate: { type: "compare", column: "region", comparison: "=", with: { attribute: "region" } }
      }
      const first = yield* json("PUT", path, { row_policies: [policy] })
      assert.strictEqual(first.status, 200)
      const [kept] = first.body.row_policies
      assert.deepInclude(kept, { ...policy, exempt_role_ids: [] })
      const second = yield* json("PUT", path, {
        row_policies: [
          { ...policy, id: kept.id, table: "orders" },
          { ...policy, table: "returns" }
        ]
      })
      assert.deepStrictEqual(
        second.body.row_policies.map(({ table }: { readonly table: string }) => table),
        ["orders", "returns"]
      )
      assert.strictEqual(second.body.row_policies[0].id, kept.id)
      const broken = yield* json("PUT", path, { row_policies: [{ ...policy, attributes: {} }] })
      assert.strictEqual(broken.status, 400)
      assert.match(broken.body.error.message, /^attributes: must declare the type of region/u)
      assert.deepStrictEqual((yield* json("GET", path)).body, second.body)
      assert.deepStrictEqual((yield* json("PUT", path, { row_policies: [] })).body, { row_policies: [] })
    })
  )
})
