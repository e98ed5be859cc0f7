import * as PassingTime from "@castellan/testing/fixture/PassingTime"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { code, json, keyOf, powerless, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

const made = Effect.map(json("POST", "/v2/playbooks"), ({ body }): string => body.id)

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("playbooks over HTTP", (it) => {
  it.effect("a playbook is made, configured, listed, deployed, taken back and deleted; then it is not there", () =>
    Effect.gen(function* () {
      const draft = yield* json("POST", "/v2/playbooks")
      assert.strictEqual(draft.status, 201)
      assert.deepInclude(draft.body, { name: "", prompt: "", status: "draft", connector_ids: [], timezone: "UTC" })
      const path = `/v2/playbooks/${draft.body.id}`
      const configured = yield* json("PATCH", path, {
        name: "Weekly sales",
        prompt: "How were the sales?",
        cron_string: "0 9 * * 1",
        timezone: "Europe/Paris",
        email_addresses: ["ann@example.org"],
        connector_ids: [1]
      })
      assert.strictEqual(configured.status, 200)
      assert.deepInclude(configured.body, { name: "Weekly sales", cron_string: "0 9 * * 1", connector_ids: [1] })
      const cleared = yield* json("PATCH", path, { cron_string: "", email_addresses: [] })
      assert.notProperty(cleared.body, "cron_string")
      assert.notProperty(cleared.body, "email_addresses")
      assert.deepInclude(cleared.body, { name: "Weekly sales", prompt: "How were the sales?" })

      const deployed = yield* json("POST", `${path}/deploy`)
      assert.strictEqual(deployed.status, 200)
      assert.deepStrictEqual(Object.keys(deployed.body), ["playbook_id", "deployed_at"])
      const listed = yield* json("GET", "/v2/playbooks?status_filter=deployed&search_term=WEEKLY&limit=1")
      assert.deepStrictEqual([listed.body.total_count, listed.body.playbooks[0].id], [1, draft.body.id])
      assert.strictEqual(
        (yield* json("GET", "/v2/playbooks?status_filter=draft&search_term=weekly")).body.total_count,
        0
      )
      const undeployed = yield* json("POST", `${path}/undeploy`)
      assert.deepStrictEqual([undeployed.status, undeployed.body.playbook_id], [200, draft.body.id])
      assert.match(yield* refusal(code.conflict, "POST", `${path}/undeploy`), /a draft/)

      const deleted = yield* json("DELETE", path)
      assert.deepStrictEqual([deleted.status, Object.keys(deleted.body)], [200, ["playbook_id", "deleted_at"]])
      for (const call of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/deploy"],
        ["POST", "/undeploy"],
        ["POST", "/run"],
        ["GET", "/runs"]
      ] as const) {
        yield* refusal(code.notFound, call[0], `${path}${call[1]}`)
      }
    })
  )

  it.effect("a run answers with its report, and is listed with it; a dry run leaves nothing behind", () =>
    Effect.gen(function* () {
      const path = `/v2/playbooks/${yield* made}`
      assert.match(yield* refusal(code.invalid, "POST", `${path}/run`, { dry_run: true }), /prompt/)
      assert.match(yield* refusal(code.invalid, "POST", `${path}/run`), /prompt/)
      yield* json("PATCH", path, { name: "Answer", prompt: "What is the answer?" })
      assert.deepStrictEqual(yield* json("POST", `${path}/run`, { dry_run: true }), {
        status: 200,
        body: { valid: true }
      })
      assert.deepStrictEqual((yield* json("GET", `${path}/runs`)).body, { runs: [], total_count: 0 })

      // A body may be left out, and may say nothing.
      for (const body of [undefined, {}]) {
        const ran = yield* json("POST", `${path}/run`, body)
        assert.strictEqual(ran.status, 200)
        assert.deepStrictEqual(Object.keys(ran.body), ["chat_id", "report", "assets"])
        assert.include(JSON.stringify(ran.body.report.blocks), "The answer is 42.")
        assert.match(ran.body.report.html_preview, /<html/)
        const chat = yield* json("GET", `/v2/chats/${ran.body.chat_id}`)
        assert.deepInclude(chat.body.chat, { id: ran.body.chat_id, is_running: false })
      }
      const view = yield* json("GET", `${path}?limit=1&offset=1`)
      assert.deepStrictEqual([view.body.reports.length, view.body.total_reports_count], [1, 2])
      const runs = (yield* json("GET", `${path}/runs`)).body
      assert.strictEqual(runs.total_count, 2)
      assert.deepInclude(runs.runs[1], { trigger: "manual", status: "completed", report_id: view.body.reports[0].id })
    })
  )

  it.effect("what is malformed is refused by the name of its field, before anything is said of the playbook", () =>
    Effect.gen(function* () {
      const path = `/v2/playbooks/${unknown}`
      const refused: ReadonlyArray<readonly [string, string, unknown, RegExp]> = [
        ["PATCH", path, { cron_string: "every day" }, /^cron_string: /],
        ["PATCH", path, { timezone: "Mars/Olympus" }, /^timezone: /],
        ["PATCH", path, { email_addresses: ["nobody"] }, /^email_addresses/],
        ["PATCH", path, { connector_ids: "1" }, /^connector_ids: /],
        ["PATCH", path, [], /must be a JSON object/],
        ["POST", `${path}/run`, { dry_run: "yes" }, /^dry_run: /],
        ["GET", "/v2/playbooks?limit=0", undefined, /^limit: /],
        ["GET", "/v2/playbooks?sort_by=colour", undefined, /^sort_by: /],
        ["GET", "/v2/playbooks?status_filter=deleted", undefined, /^status_filter: /],
        ["GET", `${path}?offset=-1`, undefined, /^offset: /],
        ["GET", `${path}/runs?limit=101`, undefined, /^limit: /]
      ]
      for (const [method, address, body, message] of refused) {
        assert.match(yield* refusal(code.invalid, method, address, body), message)
      }
      yield* refusal(code.notFound, "GET", "/v2/playbooks/seven")
      yield* refusal(code.notFound, "POST", `${path}/run`)
    })
  )

  it.effect("somebody else's playbook is hidden and not counted; without the permission nothing is to be had", () =>
    Effect.gen(function* () {
      const path = `/v2/playbooks/${yield* made}`
      const other = yield* keyOf()
      assert.strictEqual((yield* json("GET", "/v2/playbooks", undefined, other)).body.total_count, 0)
      for (const call of [
        ["GET", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["POST", "/deploy"],
        ["POST", "/run"],
        ["GET", "/runs"]
      ] as const) {
        yield* refusal(code.notFound, call[0], `${path}${call[1]}`, call[0] === "PATCH" ? {} : undefined, other)
      }
      const nobody = yield* powerless
      yield* refusal(code.denied, "POST", "/v2/playbooks", undefined, nobody)
      yield* refusal(code.denied, "GET", "/v2/playbooks", undefined, nobody)
      yield* refusal(code.denied, "PATCH", path, { connector_ids: [99] })
    })
  )
})

const hurried = { requestTimeout: Duration.millis(300), answerTimeout: Duration.millis(900) }

layer(Site.layer({ limits: hurried }), { timeout: "180 seconds" })(
  "a run that takes longer than requests may",
  (it) => {
    it.effect("is waited for as long as answers may take, and goes on after that", () =>
      Effect.gen(function* () {
        const path = `/v2/playbooks/${yield* made}`
        yield* json("PATCH", path, { prompt: "stall" })
        const waiting = refusal(code.timeout, "POST", `${path}/run`)
        const asking = yield* Effect.forkChild(Effect.timed(waiting))
        const begun = Effect.map(json("GET", `${path}/runs`), ({ body }) => body.runs)
        yield* Effect.repeat(begun, { until: (runs) => runs[0]?.status === "running" })
        const [took, message] = yield* PassingTime.join(asking)
        assert.isAtLeast(Duration.toMillis(took), 900)
        assert.include(message, "it goes on")
        const { runs } = (yield* json("GET", `${path}/runs`)).body
        assert.strictEqual(runs[0].status, "running")
        assert.strictEqual((yield* json("POST", `/v2/chats/${runs[0].chat_id}/cancel`)).body.cancelled, true)
      })
    )
  }
)
