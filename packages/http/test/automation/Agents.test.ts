import { assert, layer } from "@effect/vitest"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect } from "effect"
import { code, json, keyOf, powerless, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

const triage = { name: "Triage", prompt: "Say what this incident means.", connector_ids: [1] }

const made = Effect.map(json("POST", "/v2/agents", triage), ({ body }): string => body.id)

const trigger = (triggerId: string, payload?: unknown) =>
  Effect.map(
    Site.post("/v1/agents/webhook/trigger", payload === undefined ? { triggerId } : { triggerId, payload }, {
      headers: { "connect-protocol-version": "1" }
    }),
    (reply) => ({ status: reply.status, body: JSON.parse(reply.text) })
  )

/** Waits until a run has ended: it is carried out beside the requests. */
const ended = (path: string): Effect.Effect<{ readonly [field: string]: unknown }, never, Site.Site> =>
  Effect.flatMap(json("GET", `${path}/runs?limit=1`), ({ body }) =>
    body.runs[0].ended_at === undefined ? Effect.delay(ended(path), "10 millis") : Effect.succeed(body.runs[0])
  )

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("agents over HTTP", (it) => {
  it.effect("an agent is made, changed, listed and deleted; then it is not there", () =>
    Effect.gen(function* () {
      const agent = yield* json("POST", "/v2/agents", triage)
      assert.strictEqual(agent.status, 201)
      assert.deepInclude(agent.body, triage)
      const path = `/v2/agents/${agent.body.id}`
      const changed = yield* json("PATCH", path, { name: "First line", connector_ids: [] })
      assert.deepInclude(changed.body, { name: "First line", prompt: triage.prompt, connector_ids: [] })
      assert.deepStrictEqual((yield* json("GET", path)).body, changed.body)
      assert.deepStrictEqual((yield* json("GET", "/v2/agents?limit=1")).body, {
        agents: [changed.body],
        total_count: 1
      })
      assert.deepStrictEqual(yield* json("DELETE", path), {
        status: 200,
        body: { id: agent.body.id, success: true }
      })
      for (const call of [
        ["GET", ""],
        ["DELETE", ""],
        ["GET", "/triggers"],
        ["POST", "/triggers"],
        ["DELETE", `/triggers/${unknown}`],
        ["GET", "/runs"]
      ] as const) {
        yield* refusal(code.notFound, call[0], `${path}${call[1]}`)
      }
      yield* refusal(code.notFound, "PATCH", path, {})
    })
  )

  it.effect("a trigger starts it from outside, its run is listed, and a deleted trigger starts nothing", () =>
    Effect.gen(function* () {
      const path = `/v2/agents/${yield* made}`
      const added = yield* json("POST", `${path}/triggers`)
      assert.strictEqual(added.status, 201)
      const id: string = added.body.trigger_id
      assert.deepStrictEqual((yield* json("GET", `${path}/triggers`)).body, { triggers: [added.body] })

      const queued = yield* trigger(id, { incident: "INC-4711" })
      assert.strictEqual(queued.status, 200)
      assert.strictEqual(queued.body.status, "queued")
      const run = yield* ended(path)
      assert.deepInclude(run, {
        id: queued.body.runId,
        trigger_id: id,
        payload: { incident: "INC-4711" },
        status: "completed"
      })
      assert.strictEqual((yield* json("GET", `/v2/chats/${run["chat_id"]}`)).status, 200)

      assert.deepStrictEqual((yield* json("DELETE", `${path}/triggers/${id}`)).body, { trigger_id: id, success: true })
      assert.deepStrictEqual((yield* json("GET", `${path}/triggers`)).body, { triggers: [] })
      assert.deepStrictEqual(
        [(yield* trigger(id)).status, (yield* json("GET", `${path}/runs`)).body.total_count],
        [404, 1]
      )
      yield* refusal(code.notFound, "DELETE", `${path}/triggers/${id}`)
    })
  )

  it.effect("a trigger of another agent is not this one's", () =>
    Effect.gen(function* () {
      const one = `/v2/agents/${yield* made}`
      const other = `/v2/agents/${yield* made}`
      const { trigger_id: id } = (yield* json("POST", `${one}/triggers`)).body
      yield* refusal(code.notFound, "DELETE", `${other}/triggers/${id}`)
      assert.strictEqual((yield* json("GET", `${one}/triggers`)).body.triggers.length, 1)
    })
  )

  it.effect("what is malformed is refused by the name of its field", () =>
    Effect.gen(function* () {
      const path = `/v2/agents/${unknown}`
      const refused: ReadonlyArray<readonly [string, string, unknown, RegExp]> = [
        ["POST", "/v2/agents", { prompt: "Go" }, /^name: is missing/],
        ["POST", "/v2/agents", { name: "", prompt: "Go" }, /^name: /],
        ["POST", "/v2/agents", { name: "Go" }, /^prompt: is missing/],
        ["POST", "/v2/agents", { ...triage, connector_ids: ["1"] }, /^connector_ids\[0\]: /],
        ["PATCH", path, { prompt: "" }, /^prompt: /],
        ["GET", "/v2/agents?limit=many", undefined, /^limit: /],
        ["GET", `${path}/runs?offset=1.5`, undefined, /^offset: /]
      ]
      for (const [method, address, body, message] of refused) {
        assert.match(yield* refusal(code.invalid, method, address, body), message)
      }
    })
  )

  it.effect("it is hidden from whoever may not see it, or lacks a connector that it uses", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const connector = yield* Fixture.connector(tenant.organizationId, {
        id: 2,
        name: "private",
        access: { isPublic: false, grants: [], creator: { memberId: tenant.adminId } }
      })
      const hidden = yield* json("POST", "/v2/agents", { ...triage, connector_ids: [connector.id] })
      const other = yield* keyOf()
      yield* refusal(code.notFound, "GET", `/v2/agents/${hidden.body.id}`, undefined, other)
      assert.strictEqual((yield* json("GET", "/v2/agents", undefined, other)).body.total_count, 0)
      const nobody = yield* powerless
      yield* refusal(code.denied, "POST", "/v2/agents", triage, nobody)
      yield* refusal(code.denied, "GET", "/v2/agents", undefined, nobody)
      yield* refusal(code.denied, "POST", "/v2/agents", { ...triage, connector_ids: [99] })
    })
  )
})
