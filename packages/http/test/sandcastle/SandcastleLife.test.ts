/** What becomes of sandcastles and of the record of what ran in them, as time passes and as it is seen over HTTP. */
import { RowPolicyStore } from "@castellan/core/rowpolicy/RowPolicyStore"
import * as RowPolicySample from "@castellan/testing/fixture/RowPolicySample"
import { calls, says, type Script } from "@castellan/testing/scripted/ScriptedModel"
import { salesSource } from "@castellan/testing/scripted/ScriptedOntology"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { code, json, keyOf, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

/** A question is a program, which is run; the answer is what came of it. */
const script: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?._tag === "Question") return calls("python", { title: "Look closer", code: last.text })
  return says(JSON.stringify(last))
}

const started = (key?: string) =>
  Effect.map(json("POST", "/v2/sandcastles", undefined, key), ({ body }) => {
    const { sandbox_id: id }: { readonly sandbox_id: string } = body
    return id
  })

const pathOf = (id: string) => `/v2/sandcastles/${id}`

const execute = (id: string, program: string, key?: string) =>
  json("POST", `${pathOf(id)}/execute`, { code: program }, key)

interface Recorded {
  readonly input: string
  readonly kind: string
  readonly source: string
  readonly output_preview: string
  readonly error?: string
}

const executions = (id: string, key?: string) =>
  Effect.map(
    json("GET", `${pathOf(id)}/executions`, undefined, key),
    ({ body }): ReadonlyArray<Recorded> => body.executions
  )

interface Listed {
  readonly sandbox_id: string
  readonly status: string
  readonly chat_id?: string
  readonly released_at?: string
}

const listed = (query: string, key?: string) =>
  Effect.map(
    json("GET", `/v2/sandcastles${query}`, undefined, key),
    ({ body }): ReadonlyArray<Listed> => body.sandboxes
  )

layer(Site.layer({ deployment: { script, sweeps: true } }), { timeout: "180 seconds" })("idle sandcastles", (it) => {
  it.effect("stop after 15 minutes without a use, and what ran in them stays listed", () =>
    Effect.gen(function* () {
      const key = yield* keyOf()
      const id = yield* started(key)
      yield* execute(id, "x = 1", key)
      yield* TestClock.adjust("14 minutes")
      yield* execute(id, "y = 2", key)
      yield* TestClock.adjust("14 minutes")
      // To look at it is no use of it.
      assert.strictEqual((yield* json("GET", pathOf(id), undefined, key)).body.status, "running")
      assert.deepStrictEqual(
        (yield* listed("", key)).map(({ sandbox_id, status }) => [sandbox_id, status]),
        [[id, "running"]]
      )
      // The sweep comes by the minute.
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* listed("", key), [])
      const [stopped] = yield* listed("?status=stopped", key)
      assert.deepInclude(stopped, { sandbox_id: id, status: "stopped" })
      assert.isDefined(stopped?.released_at)
      assert.deepStrictEqual((yield* json("GET", pathOf(id), undefined, key)).body, { status: "stopped" })
      assert.match(yield* refusal(code.conflict, "POST", `${pathOf(id)}/execute`, { code: "1" }, key), /stopped/u)
      assert.deepStrictEqual(
        (yield* executions(id, key)).map(({ input }) => input),
        ["y = 2", "x = 1"]
      )
      assert.strictEqual((yield* json("POST", "/v2/sandcastles", { sandbox_id: id }, key)).status, 201)
      assert.include((yield* execute(id, "print(x)", key)).body.error, "NameError")
    })
  )

  it.effect("a chat has one from its first program on; idle, it stops, and the next question starts it again", () =>
    Effect.gen(function* () {
      const key = yield* keyOf()
      const ask = Effect.fnUntraced(function* (question: string, chatId?: string) {
        const asked = { question, ...(chatId === undefined ? {} : { chat_id: chatId }) }
        const { body } = yield* json("POST", "/v2/chats", asked, key)
        const answer: { readonly chat_id: string; readonly response: string } = body
        return answer
      })
      const { chat_id: chatId } = yield* ask("kept = 41")
      yield* TestClock.adjust("10 minutes")
      assert.include((yield* ask("print(kept + 1)", chatId)).response, "42")
      const [castle, ...others] = yield* listed("", key)
      if (castle === undefined) return assert.fail("the chat has no sandcastle")
      assert.deepStrictEqual(others, [])
      assert.strictEqual(castle.chat_id, chatId)
      yield* TestClock.adjust("16 minutes")
      assert.deepStrictEqual(yield* listed("", key), [])
      const again = (yield* ask("print(kept)", chatId)).response
      assert.include(again, "NameError")
      assert.deepStrictEqual(
        (yield* listed("", key)).map(({ sandbox_id }) => sandbox_id),
        [castle.sandbox_id]
      )
      assert.deepStrictEqual(
        (yield* executions(castle.sandbox_id, key)).map(({ input, kind, source }) => [input, kind, source]),
        [
          ["print(kept)", "python", "chat"],
          ["print(kept + 1)", "python", "chat"],
          ["kept = 41", "python", "chat"]
        ]
      )
    })
  )
})

const tables = [
  {
    name: "sales",
    columns: [
      { name: "region", type: "text" },
      { name: "amount", type: "integer" }
    ],
    rows: [
      ["north", 3],
      ["south", 4],
      ["south", 5]
    ]
  }
] as const

const sources = [{ ...salesSource, views: [{ name: "everything" }] }]

layer(Site.layer({ deployment: { tables, sources, sandboxPool: 2 } }), {
  timeout: "180 seconds",
  excludeTestServices: true
})("what runs in sandcastles", (it) => {
  it.effect("is on the record by its kind, with the first 16 KiB of what it put out, also where it failed", () =>
    Effect.gen(function* () {
      const id = yield* started()
      const path = pathOf(id)
      yield* execute(id, "print('é' * 10000)")
      yield* execute(id, 'raise ValueError("no")')
      yield* json("POST", `${path}/exec`, { command: "echo hello; exit 3", kind: "bash" })
      yield* json("POST", `${path}/query`, { connector_id: 1, query: "select * from sales" })
      yield* json("POST", `${path}/query`, { connector_id: 1, ontology_path: "sales.everything" })
      yield* refusal(code.failed, "POST", `${path}/query`, { connector_id: 1, query: "select * from nothing" })
      const all = yield* executions(id)
      assert.deepStrictEqual(
        all.map(({ error, input, kind }) => [kind, input, error === undefined]),
        [
          ["sql", "select * from nothing", false],
          ["ontology", "sales.everything", true],
          ["sql", "select * from sales", true],
          ["bash", "echo hello; exit 3", all[3]?.error === undefined],
          ["python", 'raise ValueError("no")', false],
          ["python", "print('é' * 10000)", true]
        ]
      )
      assert.isTrue(all.every(({ source }) => source === "platform_api"))
      const long = all.at(-1)?.output_preview ?? ""
      assert.isAtMost(Buffer.byteLength(long), 16 * 1024)
      assert.isAbove(Buffer.byteLength(long), 16 * 1024 - 4)
      assert.match(long, /^é+…\[truncated\]$/u)
      assert.strictEqual(all[3]?.output_preview, "hello\n")
      // Rows are no part of the record.
      assert.notInclude(JSON.stringify(all), "south")
    })
  )

  it.effect("is given what the caller may see of a table, and not a row more", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const policy = yield* RowPolicySample.rowPolicy(tenant.organizationId)
      yield* RowPolicyStore.use((store) => store.save(policy))
      const asked = { connector_id: 1, query: "select * from sales", dataframe_name: "sales" }
      const south = yield* keyOf({
        roles: [tenant.adminRole, tenant.memberRole],
        clientMetadata: { text: '{"region":"south"}', attributes: { region: "south" } }
      })
      const id = yield* started(south)
      const answer = yield* json("POST", `${pathOf(id)}/query`, asked, south)
      assert.strictEqual(answer.body.num_rows, 2, JSON.stringify(answer.body))
      assert.notInclude(answer.body.preview, "north")
      assert.deepStrictEqual((yield* execute(id, "print(len(sales))", south)).body.output, ["2\n"])
      // Who speaks for nobody is told which field is missing, and is given nothing.
      const nobody = yield* keyOf({ roles: [tenant.adminRole, tenant.memberRole] })
      const other = yield* started(nobody)
      assert.match(yield* refusal(code.denied, "POST", `${pathOf(other)}/query`, asked, nobody), /region/u)
      assert.deepStrictEqual((yield* json("GET", pathOf(other), undefined, nobody)).body.dataframes, [])
    })
  )

  it.effect("is in sessions that were opened in advance, as many as the host says", () =>
    Effect.gen(function* () {
      const opened = ScriptedSandbox.use((sandbox) => sandbox.opened)
      const ready = Effect.map(opened, (all) => all.filter(({ id }) => id.startsWith("pool-")).length)
      const before = yield* ready
      const id = yield* started()
      assert.strictEqual((yield* execute(id, "print(1)")).status, 200)
      // Another is opened in the place of the one that was taken.
      while ((yield* ready) === before) yield* Effect.yieldNow
      const specs = yield* opened
      assert.isFalse(
        specs.some((spec) => spec.id === id),
        "one was opened for it alone"
      )
    })
  )
})
