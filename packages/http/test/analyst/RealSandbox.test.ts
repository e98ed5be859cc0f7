import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import type { Script } from "@castellan/testing/scripted/ScriptedModel"
import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import * as DefaultSandbox from "@castellan/sandbox/DefaultSandbox"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import * as Site from "../support/Site.ts"

/** The sandboxes of this machine, started once; which they are. */
class Machine extends Context.Service<Machine, DefaultSandbox.SandboxChoice["Service"]>()(
  "@castellan/http/test/Machine"
) {}

/** The question is what is run: its first word says by which tool. */
const script: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?._tag === "ToolResult" && last.name === "run_sql") {
    const question = messages.findLast((message) => message._tag === "Question")
    return calls("python", { title: "Look closer", code: question?._tag === "Question" ? question.text : "" })
  }
  if (last?._tag !== "Question") return says("Done.")
  if (last.text.startsWith("bash ")) return calls("bash", { title: "Look around", command: last.text.slice(5) })
  return calls("run_sql", { title: "All sales", connector: "warehouse", sql: "select * from sales" })
}

const CellShape = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  status: Schema.String,
  error: Schema.optionalKey(Schema.String),
  output: Schema.optionalKey(Schema.Array(Schema.String))
})
const AssetShape = Schema.Struct({
  name: Schema.String,
  type: Schema.String,
  url: Schema.String,
  content: Schema.optionalKey(Schema.String),
  cell_id: Schema.String
})
const cellOf = Schema.decodeUnknownSync(CellShape)
const assetOf = Schema.decodeUnknownSync(AssetShape)

const told = (text: string) => {
  const frames = Site.framesOf(text).map(({ data }) => data)
  const cells = frames.flatMap((frame) => (frame.type === "cell" ? [cellOf(frame["cell"])] : []))
  return {
    frames,
    last: cells.findLast(({ type }) => type === "python" || type === "bash"),
    assets: frames.flatMap((frame) => (frame.type === "asset" ? [assetOf(frame["asset"])] : []))
  }
}

const ask = (question: string) => Effect.map(Site.post("/v2/chats/stream", { question }), ({ text }) => told(text))

const sandbox = DefaultSandbox.layer({ choice: "auto" }).pipe(Layer.orDie)

const site = Layer.unwrap(
  Effect.map(Effect.context<SandboxRuntime | DefaultSandbox.SandboxChoice>(), (machine) =>
    Site.layer({
      deployment: { script, sandbox: Layer.succeed(SandboxRuntime, Context.get(machine, SandboxRuntime)) }
    }).pipe(Layer.provideMerge(Layer.succeed(Machine, Context.get(machine, DefaultSandbox.SandboxChoice))))
  )
).pipe(Layer.provide(sandbox), Layer.provide(VegaRenderer.layerWith({ timeLimit: "100 seconds" })))

layer(site, { excludeTestServices: true, timeout: "300 seconds" })("programs in the machine's own sandbox", (it) => {
  /** Runs a test where there is a sandbox; says loudly where there is none. */
  const inSandbox = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const { reason, tier } = yield* Machine
      if (tier !== "none") return yield* work
      return yield* Effect.sync(() => {
        process.stderr.write(`\nSKIPPED: no program is run, because ${reason}\n\n`)
      })
    })

  it.effect(
    "compute over a result by its name, and keep their variables",
    () =>
      inSandbox(
        Effect.gen(function* () {
          const { assets, frames, last } = yield* ask(
            [
              "amounts = [float(amount) for amount in result_1['amount']]",
              "print(len(result_1), sum(amounts))",
              "open('outputs/total.csv', 'w').write(f'total\\n{sum(amounts)}\\n')",
              "result_1"
            ].join("\n")
          )
          assert.isDefined(last)
          assert.strictEqual(last.status, "completed", last.error)
          assert.strictEqual(last.output?.[0], "3 245.0")
          assert.deepStrictEqual(
            assets.map(({ name, type }) => [name, type]),
            [
              ["Look closer", "table"],
              ["total.csv", "table"]
            ]
          )
          assert.isTrue(assets.every(({ cell_id }) => cell_id === last.id))
          const rows = yield* Site.call(assets[0]?.url ?? "", { key: "" })
          assert.match(rows.text, /^region,amount,note\nnorth,120/)
          assert.include(assets[1]?.content, "| 245.0 |")
          assert.deepStrictEqual(frames.at(-1), { type: "done", status: "completed" })
        })
      ),
    { timeout: 300_000 }
  )

  it.effect(
    "show their charts, and their errors where they are",
    () =>
      inSandbox(
        Effect.gen(function* () {
          const { assets, last } = yield* ask(
            [
              "import castellan",
              "castellan.chart({'title': 'Sales', 'mark': 'bar', 'data': {'values': [{'a': 'x', 'b': 1}]},",
              "  'encoding': {'x': {'field': 'a', 'type': 'nominal'}, 'y': {'field': 'b', 'type': 'quantitative'}}})",
              "carriers = {}",
              "carriers['AA']"
            ].join("\n")
          )
          assert.deepStrictEqual(
            assets.map(({ name, type }) => [name, type]),
            [["Sales", "chart"]]
          )
          assert.isDefined(last)
          assert.strictEqual(last.status, "failed")
          assert.match(last.error ?? "", /carriers\['AA'\][^]*KeyError/)
        })
      ),
    { timeout: 300_000 }
  )

  it.effect(
    "run commands over the same files",
    () =>
      inSandbox(
        Effect.gen(function* () {
          const { assets, last } = yield* ask(
            "bash mkdir -p outputs; echo hello > outputs/note.txt; cat outputs/note.txt; exit 3"
          )
          assert.deepInclude(last, { type: "bash", status: "completed" })
          assert.deepStrictEqual(last?.output, ["hello"])
          assert.deepStrictEqual(
            assets.map(({ content, name, type }) => [name, type, content]),
            [["note.txt", "text", "hello\n"]]
          )
        })
      ),
    { timeout: 300_000 }
  )

  it.effect(
    "stop where they are when the run is cancelled",
    () =>
      inSandbox(
        Effect.gen(function* () {
          const chat = yield* Site.read("/v2/chats/stream", {
            method: "POST",
            body: JSON.stringify({ question: "print('so far', flush=True)\nwhile True: pass" }),
            headers: { "content-type": "application/json" }
          })
          // Told meanwhile: it is running, and has put something out.
          yield* chat.until((text) => text.includes('so far"]'))
          const opening = Site.framesOf(chat.text().slice(0, chat.text().indexOf("\n\n") + 2))[0]
          yield* Site.post(`/v2/chats/${String(opening?.data["chat_id"])}/cancel`, {})
          const { text } = yield* chat.end
          const { frames, last } = told(text)
          assert.deepInclude(last, { status: "halted", output: ["so far"] })
          assert.deepStrictEqual(frames.at(-1), { type: "done", status: "failed", error: "cancelled" })
        })
      ),
    { timeout: 300_000 }
  )
})
