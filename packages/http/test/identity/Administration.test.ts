import { UsageStore } from "@castellan/core/usage/UsageStore"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Clock, DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { code, json, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"
import { person } from "./People.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

/** A member who may read the organization and its log, and no more. */
const auditor = Effect.gen(function* () {
  const { tenant } = yield* Site.Site
  const role = yield* Fixture.role(tenant.organizationId, { permissions: ["organization:read", "audit:read"] })
  return yield* person({ member: { roles: [role] } })
})

layer(Site.layer(), { timeout: "180 seconds" })("the audit log over HTTP", (it) => {
  it.effect("says who did what to which thing, by which key, from where, and what was there before and after", () =>
    Effect.gen(function* () {
      const { admin, tenant } = yield* Site.Site
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      const made = yield* Site.post("/v2/roles", { name: "Analyst" }, { headers: { "x-request-id": "the-request" } })
      const { id } = JSON.parse(made.text)
      const { body } = yield* json("GET", `/v2/audit-events?target_type=role&target_id=${id}`)
      assert.deepStrictEqual(body, {
        audit_events: [
          {
            id: body.audit_events[0]?.id,
            created_at: at,
            action: "create",
            target: { type: "role", id },
            actor: {
              credential: "api_key",
              member_id: tenant.adminId,
              api_key_id: tenant.adminKeyId,
              role_ids: admin.roles.map((role) => role.id)
            },
            outcome: "succeeded",
            after: { name: "Analyst", description: "", permissions: [], allowModelChoice: true },
            request_id: "the-request",
            ip_address: "127.0.0.1"
          }
        ]
      })
    })
  )

  it.effect("K39 making, rotating and revoking a key is on it once each, without its value or the hash of it", () =>
    Effect.gen(function* () {
      const one = yield* person()
      const minted = yield* json("POST", "/v2/api-keys", { inheritAllRoles: true, clientId: '{"a":1}' }, one.key)
      const rotated = yield* json("POST", `/v2/api-keys/${minted.body.api_key.id}/rotate`, {}, one.key)
      yield* json("DELETE", `/v2/api-keys/${rotated.body.api_key.id}`, undefined, one.key)
      const session = yield* json("POST", "/v2/sessions", undefined, one.key)
      const { body } = yield* json("GET", `/v2/audit-events?member_id=${one.id}`)
      const actions: ReadonlyArray<string> = body.audit_events.map(({ action }: { readonly action: string }) => action)
      assert.sameMembers([...actions], ["login", "revoke", "rotate", "mint"])
      const text = JSON.stringify(body)
      for (const value of [minted.body.key, rotated.body.key, session.body.token, one.key]) {
        assert.notInclude(text, value)
        assert.notInclude(text, value.slice(0, 40))
      }
      assert.notMatch(text, /[0-9a-f]{64}/u)
    })
  )

  it.effect("what was refused is on it, a refused look at the log itself as well", () =>
    Effect.gen(function* () {
      const one = yield* person()
      yield* refusal(code.denied, "POST", "/v2/roles", { name: "Mine" }, one.key)
      const call = ["GET", "/v2/audit-events", undefined] as const
      assert.match(yield* refusal(code.denied, ...call, one.key), /audit:read is required/u)
      const { body } = yield* json("GET", `/v2/audit-events?member_id=${one.id}&outcome=refused`)
      assert.sameDeepMembers(
        body.audit_events.map(({ action, message, target }: Record<string, unknown>) => ({ action, message, target })),
        [
          { action: "create", message: "admin role required", target: { type: "role" } },
          { action: "list", message: "permission denied: audit:read is required", target: { type: "audit_log" } }
        ]
      )
      const other = yield* auditor
      assert.strictEqual((yield* json(...call, other.key)).status, 200)
    })
  )

  it.effect("is narrowed down, and read page by page, newest first, while it grows", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      yield* TestClock.adjust("1 minute")
      const from = new Date(yield* Clock.currentTimeMillis).toISOString()
      const ids: Array<string> = []
      for (let index = 0; index < 5; index++) {
        ids.unshift((yield* json("POST", "/v2/roles", { name: `Role ${index}` })).body.id)
        yield* TestClock.adjust("1 seconds")
      }
      const until = new Date(yield* Clock.currentTimeMillis).toISOString()
      const page = (token?: string) =>
        json(
          "GET",
          `/v2/audit-events?page_size=2&action=create&from=${from}&until=${until}` +
            (token === undefined ? "" : `&page_token=${token}`)
        )
      const first = yield* page()
      yield* json("POST", "/v2/roles", { name: "Later" })
      const second = yield* page(first.body.next_page_token)
      const third = yield* page(second.body.next_page_token)
      assert.deepStrictEqual(
        [first, second, third].flatMap(({ body }) =>
          body.audit_events.map(({ target }: { readonly target: { readonly id: string } }) => target.id)
        ),
        ids
      )
      assert.notProperty(third.body, "next_page_token")
      const elsewhere = yield* Fixture.tenant("Elsewhere")
      const none = yield* json("GET", `/v2/audit-events?member_id=${elsewhere.adminId}`)
      assert.deepStrictEqual(none.body, { audit_events: [] })
      assert.isNotEmpty((yield* json("GET", `/v2/audit-events?member_id=${tenant.adminId}`)).body.audit_events)
    })
  )

  it.effect.each([
    ["action=steal", /^action: must be one of /u],
    ["target_type=planet", /^target_type: must be one of /u],
    ["target_id=", /^target_id: /u],
    ["member_id=ada", /^member_id: must be a UUID/u],
    ["outcome=maybe", /^outcome: must be one of succeeded, refused/u],
    ["from=yesterday", /^from: must be an RFC 3339 date-time/u],
    ["until=2026-01-01", /^until: must be an RFC 3339 date-time/u],
    ["page_size=1000", /^page_size: must be an integer between 1 and 200/u],
    ["page_token=AAAA", /^page_token: must be a value that an earlier answer gave/u]
  ] as const)("?%s is 400 and names the field", ([query, message]) =>
    Effect.gen(function* () {
      assert.match(yield* refusal(code.invalid, "GET", `/v2/audit-events?${query}`), message)
    })
  )
})

layer(Site.layer(), { timeout: "180 seconds" })("usage over HTTP", (it) => {
  it.effect("is summed by what is asked for, and is everybody's own to see", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const [ada, bob] = [yield* person(), yield* person()]
      const at = DateTime.makeUnsafe("2026-03-02T23:59:59.999Z")
      for (const [memberId, cost] of [
        [ada.id, 7],
        [ada.id, undefined],
        [bob.id, 11]
      ] as const) {
        const record = yield* AdministrationSample.usageRecord(tenant.organizationId, {
          memberId,
          at,
          roles: [tenant.memberRole.id],
          ...(cost === undefined ? {} : { cost })
        })
        yield* UsageStore.use((store) => store.record(record))
      }
      const totals = (runs: number, costMicros: number, unpriced: number) => ({
        runs,
        input_tokens: 100 * runs,
        output_tokens: 10 * runs,
        tool_calls: 2 * runs,
        duration_ms: 1_500 * runs,
        cost_micros: costMicros,
        unpriced_runs: unpriced
      })
      assert.deepStrictEqual(yield* json("GET", "/v2/usage"), { status: 200, body: { usage: [totals(3, 18, 1)] } })
      const grouped = yield* json("GET", "/v2/usage?group_by=day&group_by=member&group_by=role&group_by=model")
      const group = { day: "2026-03-02", role_id: tenant.memberRole.id, model: "scripted/model-1" }
      assert.sameDeepMembers(grouped.body.usage, [
        { ...group, member_id: ada.id, ...totals(2, 7, 1) },
        { ...group, member_id: bob.id, ...totals(1, 11, 0) }
      ])
      const until = yield* json("GET", "/v2/usage?until=2026-03-02T23:59:59.999Z")
      assert.deepStrictEqual(until.body.usage, [totals(0, 0, 0)])

      const own = yield* json("GET", `/v2/usage?member_id=${ada.id}`, undefined, ada.key)
      assert.deepStrictEqual(own, { status: 200, body: { usage: [totals(2, 7, 1)] } })
      for (const path of ["/v2/usage", `/v2/usage?member_id=${bob.id}`]) {
        assert.match(yield* refusal(code.denied, "GET", path, undefined, ada.key), /organization:read is required/u)
      }
      const reader = yield* auditor
      assert.deepStrictEqual((yield* json("GET", "/v2/usage", undefined, reader.key)).body.usage, [totals(3, 18, 1)])
    })
  )

  it.effect.each([
    ["group_by=planet", /^group_by: must be one of |^group_by\[0\]: must be one of /u],
    ["member_id=ada", /^member_id: must be a UUID/u],
    ["role_id=admin", /^role_id: must be a UUID/u],
    ["from=now", /^from: must be an RFC 3339 date-time/u]
  ] as const)("?%s is 400 and names the field", ([query, message]) =>
    Effect.gen(function* () {
      assert.match(yield* refusal(code.invalid, "GET", `/v2/usage?${query}`), message)
    })
  )
})

layer(Site.layer(), { timeout: "180 seconds" })("budgets over HTTP", (it) => {
  const budget = { name: "Daily", measure: "tokens", amount: 100, period: "day" }
  const put = (budgets: unknown, key?: string) => json("PUT", "/v2/budgets", { budgets }, key)

  it.effect("all of them are set at once, and show what was used; past one a question is 429 and names it", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const one = yield* person()
      const made = yield* put([
        budget,
        { ...budget, name: "Ada", member_id: one.id, period: "month", measure: "cost" },
        { ...budget, name: "Members", role_id: tenant.memberRole.id, period: "week", amount: 110 }
      ])
      assert.strictEqual(made.status, 200)
      const [daily, ada, members] = made.body.budgets
      const now = "1970-01-01T00:00:00.000Z"
      assert.deepStrictEqual(daily, { id: daily.id, ...budget, created_at: now, updated_at: now })
      assert.deepInclude(ada, { member_id: one.id, measure: "cost", period: "month" })
      assert.deepInclude(members, { role_id: tenant.memberRole.id, period: "week" })
      const record = yield* AdministrationSample.usageRecord(tenant.organizationId, {
        memberId: one.id,
        roles: [tenant.memberRole.id]
      })
      yield* UsageStore.use((store) => store.record(record))
      const listed = (yield* json("GET", "/v2/budgets")).body.budgets
      assert.deepStrictEqual(
        listed.map(({ name, period_ends_at, used }: Record<string, unknown>) => ({ name, period_ends_at, used })),
        [
          { name: "Daily", period_ends_at: "1970-01-02T00:00:00.000Z", used: 110 },
          { name: "Ada", period_ends_at: "1970-02-01T00:00:00.000Z", used: 0 },
          { name: "Members", period_ends_at: "1970-01-05T00:00:00.000Z", used: 110 }
        ]
      )
      const asked = yield* Site.post("/v2/chats", { question: "What is the answer?" }, { key: one.key })
      const { code: refusedBy, message } = Site.envelopeOf(asked)
      assert.deepStrictEqual([asked.status, refusedBy], [429, "rate_limit_exceeded"])
      assert.match(message, /Daily|Members/u)
      assert.match(asked.headers["retry-after"] ?? "", /^[1-9][0-9]*$/u)

      const kept = yield* put([{ ...budget, id: daily.id, amount: 1_000 }])
      assert.deepStrictEqual(
        kept.body.budgets.map(({ amount, id }: Record<string, unknown>) => ({ amount, id })),
        [{ amount: 1_000, id: daily.id }]
      )
      const again = yield* Site.post("/v2/chats", { question: "What is the answer?" }, { key: one.key })
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual((yield* put([])).body, { budgets: [] })
    })
  )

  it.effect.each([
    [undefined, /^budgets: is missing/u],
    [[{ ...budget, amount: 0 }], /^budgets\[0\]\.amount: /u],
    [[{ ...budget, amount: 1.5 }], /^budgets\[0\]\.amount: /u],
    [[{ ...budget, measure: "hours" }], /^budgets\[0\]\.measure: must be one of /u],
    [[{ ...budget, period: "year" }], /^budgets\[0\]\.period: must be one of /u],
    [[{ ...budget, name: "" }], /^budgets\[0\]\.name: /u],
    [[budget, budget], /^budgets: two budgets must not have the same name/u],
    [[{ ...budget, member_id: unknown, role_id: unknown }], /^budgets\[0\]: must not have both/u],
    [[{ ...budget, member_id: unknown }], /there is no such member/u],
    [[{ ...budget, role_id: unknown }], /there is no such role/u]
  ] as const)("%j is 400, names the field and changes nothing", ([budgets, message]) =>
    Effect.gen(function* () {
      yield* put([{ ...budget, name: "Kept" }])
      assert.match(yield* refusal(code.invalid, "PUT", "/v2/budgets", { budgets }), message)
      assert.strictEqual((yield* json("GET", "/v2/budgets")).body.budgets[0].name, "Kept")
    })
  )

  it.effect(
    "a budget that is not there is 404; they are read with organization:read and set with organization:write",
    () =>
      Effect.gen(function* () {
        yield* refusal(code.notFound, "PUT", "/v2/budgets", { budgets: [{ ...budget, id: unknown }] })
        const [one, reader] = [yield* person(), yield* auditor]
        assert.match(
          yield* refusal(code.denied, "GET", "/v2/budgets", undefined, one.key),
          /organization:read is required/u
        )
        assert.strictEqual((yield* json("GET", "/v2/budgets", undefined, reader.key)).status, 200)
        assert.match(
          yield* refusal(code.denied, "PUT", "/v2/budgets", { budgets: [] }, reader.key),
          /organization:write is required/u
        )
      })
  )
})

layer(Site.layer(), { timeout: "180 seconds" })("the organization over HTTP", (it) => {
  it.effect("its settings are changed as far as they are named", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const before = (yield* json("GET", "/v2/organization")).body
      assert.deepStrictEqual(before, {
        id: tenant.organizationId,
        name: "Acme",
        rate_limit: before.rate_limit,
        key_expiry_seconds: 7_776_000,
        created_at: "1970-01-01T00:00:00.000Z"
      })
      const { models } = (yield* json("GET", "/v2/models")).body
      const patch = {
        name: "Acme & Sons",
        rate_limit: { requests_per_minute: 999_999 },
        key_expiry_seconds: 60,
        default_model_id: models[0].model_id
      }
      const changed = yield* json("PATCH", "/v2/organization", patch)
      const rateLimit = { ...before.rate_limit, requests_per_minute: 999_999 }
      assert.deepStrictEqual(changed, { status: 200, body: { ...before, ...patch, rate_limit: rateLimit } })
      assert.deepStrictEqual((yield* json("GET", "/v2/organization")).body, changed.body)
      const cleared = yield* json("PATCH", "/v2/organization", { default_model_id: 0, key_expiry_seconds: 0 })
      assert.notProperty(cleared.body, "default_model_id")
      assert.notProperty(cleared.body, "key_expiry_seconds")
      assert.deepStrictEqual((yield* json("PATCH", "/v2/organization", {})).body, cleared.body)
    })
  )

  it.effect.each([
    [{ name: "" }, /^name: /u],
    [{ rate_limit: { burst: 0 } }, /^rate_limit\.burst: must be an integer between 1 and 100000/u],
    [{ rate_limit: { requests_per_minute: 1e9 } }, /^rate_limit\.requests_per_minute: /u],
    [{ rate_limit: 600 }, /^rate_limit: must be a JSON object/u],
    [{ key_expiry_seconds: 59 }, /^key_expiry_seconds: must be 0, or an integer between 60 and 31536000/u],
    [{ key_expiry_seconds: -1 }, /^key_expiry_seconds: /u],
    [{ default_model_id: 999 }, /^default_model_id: there is no model 999/u],
    [{ default_model_id: "1" }, /^default_model_id: /u]
  ] as const)("%j is 400, names the field and changes nothing", ([patch, message]) =>
    Effect.gen(function* () {
      const before = yield* json("GET", "/v2/organization")
      assert.match(yield* refusal(code.invalid, "PATCH", "/v2/organization", { name: "Other", ...patch }), message)
      assert.deepStrictEqual(yield* json("GET", "/v2/organization"), before)
    })
  )

  it.effect("they are read with organization:read and changed with organization:write", () =>
    Effect.gen(function* () {
      const [one, reader] = [yield* person(), yield* auditor]
      const path = "/v2/organization"
      assert.match(yield* refusal(code.denied, "GET", path, undefined, one.key), /organization:read is required/u)
      assert.strictEqual((yield* json("GET", path, undefined, reader.key)).status, 200)
      assert.match(
        yield* refusal(code.denied, "PATCH", path, { name: "Mine" }, reader.key),
        /organization:write is required/u
      )
      assert.notStrictEqual((yield* json("GET", path)).body.name, "Mine")
    })
  )
})
