/**
 * The whole way over HTTP, with real DuckDB and a model that says what the test wants: a cancel reaches the statement,
 * a limit of time does, and SQL that reaches too far is refused where the model and the reader of the cell see it.
 */
import * as CastellanClient from "@castellan/api/client/Client"
import { VegaRenderer } from "@castellan/charts"
import { FilesDriver } from "@castellan/connectors"
import { Castellan, type LanguageModels, Stores } from "@castellan/core"
import { CastellanHttp, NodeServer } from "@castellan/http"
import { MalloyEngine } from "@castellan/ontology"
import { Fixture, ScriptedModel } from "@castellan/testing"
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Rows enough that joining them with themselves three times would take days. */
const endless = "select count(*) from numbers a, numbers b, numbers c, numbers d where a.n + b.n + c.n + d.n = -1"

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const made = realpathSync(mkdtempSync(join(tmpdir(), "castellan-statements-")))
    writeFileSync(join(made, "numbers.csv"), `n\n${Array.from({ length: 5_000 }, (_, n) => n).join("\n")}\n`)
    return made
  }),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const sql = (statement: string) =>
  ScriptedModel.calls("run_sql", { connector: "sample", title: "a statement", sql: statement })

/** Says what a script says, and then whatever the tool answered. */
const repeatTheTool = (turn: LanguageModels.ModelTurn) => {
  const last = turn.messages.at(-1)
  return ScriptedModel.says(last?._tag === "ToolResult" ? last.content : "nothing")
}

const serving = (limits: Castellan.CastellanOptions["limits"] = {}) =>
  Effect.gen(function* () {
    const files = yield* folder
    const context = yield* Layer.build(
      NodeServer.layer().pipe(
        Layer.provide(CastellanHttp.layer({ assetSecret: Redacted.make("a secret of no less than 32 characters") })),
        Layer.provideMerge(Castellan.layer({ limits })),
        Layer.provideMerge(MalloyEngine.layer),
        Layer.provideMerge(
          Layer.mergeAll(
            Stores.layerMemory,
            VegaRenderer.layer,
            FilesDriver.layer(),
            ScriptedModel.layer(),
            NodeCrypto.layer
          )
        )
      )
    )
    return yield* Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId, { name: "sample", folder: files })
      const { url } = yield* NodeServer.NodeServer
      const model = yield* ScriptedModel.ScriptedModel
      const client = CastellanClient.make({ baseUrl: url, apiKey: Redacted.value(tenant.adminKey) })
      return { client, files, model }
    }).pipe(Effect.provide(context))
  })

describe("statements of a run", () => {
  it.live(
    "are stopped by a cancel, and the source answers the next question",
    () =>
      Effect.gen(function* () {
        const { client, model } = yield* serving()
        yield* model.follow([sql(endless), sql("select count(*) as rows from numbers"), repeatTheTool])
        const types: Array<string> = []
        const cells: Array<string> = []
        let cancelling: Promise<unknown> | undefined
        yield* Effect.promise(async () => {
          let chat = ""
          for await (const event of client.chats.stream({ question: "count for ever" })) {
            types.push(event.type === "done" ? `done ${event.status} ${event.error}` : event.type)
            if (event.type === "metadata") chat = event.chat_id
            if (event.type !== "cell" || event.cell.type !== "sql") continue
            cells.push(event.cell.status)
            if (event.cell.status === "running") cancelling = client.chats.cancel(chat)
          }
          assert.deepStrictEqual(await cancelling, { cancelled: true })
          assert.deepStrictEqual(cells, ["running", "halted"])
          assert.strictEqual(types.at(-1), "done failed cancelled")
          const next = await client.chats.ask({ chat_id: chat, question: "and how many are there?" })
          assert.include(next.response, "5000")
        })
      }),
    180_000
  )

  it.live(
    "are stopped at their limit of time",
    () =>
      Effect.gen(function* () {
        const { client, model } = yield* serving({ statementTimeout: Duration.millis(1_500) })
        yield* model.follow([sql(endless), repeatTheTool])
        const answer = yield* Effect.promise(() => client.chats.ask({ question: "count for ever" }))
        assert.match(answer.response, /did not finish within 1s 500ms/)
      }),
    180_000
  )

  it.live(
    "are refused when they write, chain, or reach outside the folder; model and reader see why",
    () =>
      Effect.gen(function* () {
        const { client, files, model } = yield* serving()
        const before = readdirSync(files)
        const refused = [
          "drop table numbers",
          "select 1; select 2",
          "copy numbers to 'stolen.csv'",
          "select * from read_csv('/etc/passwd')",
          "from '/etc/passwd'",
          "attach 'other.db'",
          "select getenv('PATH')",
          "install httpfs"
        ]
        for (const statement of refused) {
          yield* model.follow([sql(statement), repeatTheTool])
          const answer = yield* Effect.promise(() => client.chats.ask({ question: "do it" }))
          const { cells } = yield* Effect.promise(() => client.chats.cells(answer.chat_id))
          const cell = cells.find((candidate) => candidate.type === "sql")
          assert.strictEqual(cell?.status, "failed", statement)
          assert.strictEqual(cell?.error, answer.response, statement)
          assert.notInclude(answer.response, files, "no path of the host is told")
        }
        assert.deepStrictEqual(readdirSync(files), before)
      }),
    180_000
  )
})
