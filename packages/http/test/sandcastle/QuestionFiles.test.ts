import { ChatSandcastles } from "@castellan/core/sandcastle/ChatSandcastles"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { ChatId } from "@castellan/core/chat/Chat"
import { layerUnavailable } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const boundary = "----castellan"

/** A question with files, as browsers write it. */
const form = (
  fields: Readonly<Record<string, string>>,
  files: ReadonlyArray<readonly [name: string, content: string | Uint8Array]>
): Buffer =>
  Buffer.concat([
    ...Object.entries(fields).map(([name, value]) =>
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    ),
    ...files.flatMap(([name, content]) => [
      Buffer.from(
        `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\ncontent-type: text/csv\r\n\r\n`
      ),
      Buffer.from(content),
      Buffer.from("\r\n")
    ]),
    Buffer.from(`--${boundary}--\r\n`)
  ])

const ask = (
  fields: Readonly<Record<string, string>>,
  files: ReadonlyArray<readonly [name: string, content: string | Uint8Array]>,
  path = "/v2/chats"
) =>
  Site.call(path, {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: form(fields, files)
  })

const body = (reply: { readonly text: string }) => JSON.parse(reply.text)

/** What a chat's sandcastle holds of the files that were sent. */
const uploadsOf = Effect.fnUntraced(function* (chatId: string) {
  const { admin } = yield* Site.Site
  const runs = yield* ChatStore.use((store) => store.runs(admin.organizationId, ChatId.make(chatId)))
  const run = runs.at(-1)
  if (run === undefined) return assert.fail("the chat has no run")
  const castle = yield* ChatSandcastles.use((chats) => chats.of(run))
  const { answer } = yield* castle.listFiles("uploads")
  return answer.map(({ path, size }) => [path, size])
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("files with a question over HTTP", (it) => {
  it.effect("are taken, listed with the question, and in the chat's sandcastle", () =>
    Effect.gen(function* () {
      const files = [
        ["sales.csv", "a,b\n1,2\n"],
        ["Umsätze für Zoë.csv", "x"]
      ] as const
      const first = yield* ask({ question: "What is in them?" }, files)
      assert.strictEqual(first.status, 200, first.text)
      const { chat_id: chatId } = body(first)
      const listed = [
        { name: "sales.csv", path: "uploads/sales.csv", mime_type: "text/csv", size: 8 },
        { name: "Umsätze für Zoë.csv", path: "uploads/Umsätze für Zoë.csv", mime_type: "text/csv", size: 1 }
      ]
      const chat = (yield* json("GET", `/v2/chats/${chatId}`)).body
      assert.deepStrictEqual(chat.messages[0].files, listed)
      assert.notProperty(chat.messages[1], "files")
      const { cells } = (yield* json("GET", `/v2/chats/${chatId}/cells`)).body
      assert.deepStrictEqual(cells[0].files, listed)
      assert.deepStrictEqual(yield* uploadsOf(chatId), [
        ["uploads/Umsätze für Zoë.csv", 1],
        ["uploads/sales.csv", 8]
      ])
      // On the stream as well, for a chat that goes on.
      const stream = yield* ask(
        { question: "And now?", chat_id: chatId },
        [["sales.csv", "newer file"]],
        "/v2/chats/stream"
      )
      assert.strictEqual(stream.status, 200)
      assert.include(stream.text, '"path":"uploads/sales.csv"')
      assert.deepStrictEqual((yield* uploadsOf(chatId)).at(-1), ["uploads/sales.csv", 10])
    })
  )

  it.effect("are refused by name, number and size, and then nothing is asked", () =>
    Effect.gen(function* () {
      const count = Effect.map(json("GET", "/v2/chats"), (reply): number => reply.body.total_count)
      const before = yield* count
      const many = Array.from({ length: 11 }, (_, index) => [`${index}.csv`, "x"] as const)
      for (const [files, status, message] of [
        [[[".env", "x"]], 400, /^files: the name ".env" must not name a dotfile$/u],
        [[["..", "x"]], 400, /^files: /u],
        [
          [
            ["a.csv", "x"],
            ["A.csv", "y"]
          ],
          400,
          /^files: the name "A.csv" must not be sent twice$/u
        ],
        [many, 400, /^files: must not be more than 10$/u],
        [[["large.bin", new Uint8Array(25 * 1024 * 1024 + 1)]], 413, /./u]
      ] as const) {
        const reply = yield* ask({ question: "What is in it?" }, files)
        assert.strictEqual(reply.status, status, reply.text)
        assert.match(Site.envelopeOf(reply).message, message)
      }
      assert.strictEqual(yield* count, before)
    })
  )

  it.effect("may have 25 MiB each", () =>
    Effect.gen(function* () {
      const content = new Uint8Array(25 * 1024 * 1024).fill(120)
      const reply = yield* ask({ question: "What is in it?" }, [["large.bin", content]])
      assert.strictEqual(reply.status, 200, reply.text.slice(0, 200))
      assert.deepStrictEqual(yield* uploadsOf(body(reply).chat_id), [["uploads/large.bin", content.length]])
    })
  )
})

layer(Site.layer({ deployment: { sandbox: layerUnavailable } }), { timeout: "180 seconds", excludeTestServices: true })(
  "files with a question where there are no sandboxes",
  (it) => {
    it.effect("are refused, so that none is lost in silence", () =>
      Effect.gen(function* () {
        const reply = yield* ask({ question: "What is in it?" }, [["a.csv", "x"]])
        assert.deepStrictEqual(
          [reply.status, Site.envelopeOf(reply).message],
          [400, "files: this deployment has no sandboxes to read them in"]
        )
        assert.strictEqual((yield* ask({ question: "What is there?" }, [])).status, 200)
      })
    )
  }
)
