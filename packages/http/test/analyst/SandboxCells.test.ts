import { ExecEvent } from "@castellan/core/sandcastle/SandboxRuntime"
import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import type { Script } from "@castellan/testing/scripted/ScriptedModel"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Site from "../support/Site.ts"

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3)
const page = "<script>fetch('/v2/chats')</script>"

/** What the question says is what is run, once. */
const script: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?._tag !== "Question") return says("Done.")
  const [tool = "", ...rest] = last.text.split(" ")
  const code = rest.join(" ")
  return calls(tool, { title: "Look closer", [tool === "bash" ? "command" : "code"]: code })
}

const deployment = {
  script,
  teaches: ({ code }: { readonly code: string }) =>
    code === "show"
      ? [
          ExecEvent.cases.Rich.make({ forms: [{ mediaType: "image/png", body: png }] }),
          ExecEvent.cases.Rich.make({ forms: [{ mediaType: "text/html", body: page }] })
        ]
      : undefined
}

const AssetShape = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  url: Schema.String,
  cell_id: Schema.String,
  message_cell_id: Schema.String
})
const CellShape = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.String,
    type: Schema.String,
    status: Schema.String,
    code: Schema.optionalKey(Schema.String),
    error: Schema.optionalKey(Schema.String),
    output: Schema.optionalKey(Schema.Array(Schema.String)),
    execution_id: Schema.optionalKey(Schema.String),
    execution_time_ms: Schema.optionalKey(Schema.Number),
    assets: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
const cellOf = Schema.decodeUnknownSync(CellShape)
const assetOf = Schema.decodeUnknownSync(AssetShape)

const ask = (question: string) =>
  Effect.map(Site.post("/v2/chats/stream", { question }), (reply) => {
    const frames = Site.framesOf(reply.text).map(({ data }) => data)
    return {
      frames,
      metadata: frames[0],
      cells: frames.flatMap((frame) => (frame.type === "cell" ? [cellOf(frame["cell"])] : [])),
      assets: frames.flatMap((frame) => (frame.type === "asset" ? [assetOf(frame["asset"])] : []))
    }
  })

layer(Site.layer({ deployment }), { excludeTestServices: true, timeout: "180 seconds" })(
  "cells of the sandbox",
  (it) => {
    describe("python", () => {
      it.effect("is told when it starts, with its code, and when it has ended, with output, time and execution", () =>
        Effect.gen(function* () {
          const { cells } = yield* ask("python print('x' * 3)\nprint('so')")
          const [started, ended] = cells.filter(({ type }) => type === "python")
          assert.isDefined(started)
          assert.deepInclude(started, { status: "running", tool_name: "python", title: "Look closer" })
          assert.strictEqual(started?.code, "print('x' * 3)\nprint('so')")
          assert.isUndefined(started.output)
          assert.deepInclude(ended, { id: started.id, status: "completed", output: ["xxx", "so"] })
          assert.isNumber(ended?.execution_time_ms)
          assert.match(ended?.execution_id ?? "", /^[0-9a-f-]{36}$/)
        })
      )

      it.effect("an error is the cell's, and what was put out stays", () =>
        Effect.gen(function* () {
          const { cells, frames } = yield* ask('python print("so far")\nraise KeyError("carrier")')
          const ended = cells.findLast(({ type }) => type === "python")
          assert.deepInclude(ended, { status: "failed", output: ["so far"] })
          assert.match(ended?.error ?? "", /KeyError: carrier$/)
          assert.deepStrictEqual(frames.at(-1), { type: "done", status: "completed" })
        })
      )

      it.effect("its figures are assets of its cell; a page is never shown as one of the host's", () =>
        Effect.gen(function* () {
          const { assets, cells, metadata } = yield* ask("python show")
          const ended = cells.findLast(({ type }) => type === "python")
          assert.deepStrictEqual(
            assets.map(({ type }) => type),
            ["image", "html"]
          )
          assert.deepStrictEqual(
            ended?.assets,
            assets.map(({ id }) => id)
          )
          for (const asset of assets) {
            assert.strictEqual(asset.cell_id, ended?.id)
            assert.strictEqual(asset.message_cell_id, metadata?.["id"])
          }
          const [image, html] = assets
          const picture = yield* Site.call(image?.url ?? "", { key: "" })
          assert.deepStrictEqual(new Uint8Array(picture.body), png)
          assert.strictEqual(picture.headers["content-type"], "image/png")
          const saved = yield* Site.call(html?.url ?? "", { key: "" })
          assert.strictEqual(saved.text, page)
          assert.match(saved.headers["content-disposition"] ?? "", /^attachment;/)
          assert.match(saved.headers["content-security-policy"] ?? "", /default-src 'none'.*sandbox$/)
          assert.strictEqual(saved.headers["x-content-type-options"], "nosniff")
        })
      )

      it.effect("a cancel stops it where it runs", () =>
        Effect.gen(function* () {
          const sandbox = yield* ScriptedSandbox
          const chat = yield* Site.read("/v2/chats/stream", {
            method: "POST",
            body: JSON.stringify({ question: 'python print("so far")\nwhile True: pass' }),
            headers: { "content-type": "application/json" }
          })
          yield* sandbox.stuck(1)
          const opening = Site.framesOf(yield* chat.until((text) => text.includes('"metadata"')))[0]
          const cancelled = yield* Site.post(`/v2/chats/${String(opening?.data["chat_id"])}/cancel`, {})
          assert.strictEqual(cancelled.status, 200)
          yield* sandbox.stuck(0)
          const { text } = yield* chat.end
          const frames = Site.framesOf(text).map(({ data }) => data)
          assert.deepStrictEqual(frames.at(-1), { type: "done", status: "failed", error: "cancelled" })
          const cells = frames.flatMap((frame) => (frame.type === "cell" ? [cellOf(frame["cell"])] : []))
          assert.deepInclude(cells.at(-1), { type: "python", status: "halted", output: ["so far"] })
        })
      )
    })

    describe("bash", () => {
      it.effect("is a cell of its own type", () =>
        Effect.gen(function* () {
          const { cells } = yield* ask("bash echo hello; exit 2")
          const [started, ended] = cells.filter(({ type }) => type === "bash")
          assert.deepInclude(started, { status: "running", tool_name: "bash", code: "echo hello; exit 2" })
          assert.deepInclude(ended, { status: "completed", output: ["hello"] })
        })
      )
    })

    it.effect("Python that is switched off for a question is not run", () =>
      Effect.gen(function* () {
        const reply = yield* Site.post("/v2/chats/stream", {
          question: "python print('x')",
          tools: { python_enabled: false }
        })
        const types = Site.framesOf(reply.text).flatMap(({ data }) =>
          data.type === "cell" ? [cellOf(data["cell"]).type] : []
        )
        assert.notInclude(types, "python")
      })
    )
  }
)
