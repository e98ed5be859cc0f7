/** Sandcastles of a key without full access, and of the key that takes its place. */
import { says, calls, type Script } from "@castellan/testing/scripted/ScriptedModel"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { code, json, keyOf, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

/** A question is a program, which is run, or a greeting; the answer is what came of it. */
const script: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?._tag === "Question" && last.text !== "Hello")
    return calls("python", { title: "Look closer", code: last.text })
  return says(JSON.stringify(last))
}

/** The key of a member with full access, who mints others. */
const minter = keyOf({ fullMemberAccess: true })

const mint = (name: string, by: string) =>
  Effect.map(json("POST", "/v2/api-keys", { name, inheritAllRoles: true, fullMemberAccess: false }, by), ({ body }) => {
    const { api_key, key }: { readonly api_key: { readonly id: string }; readonly key: string } = body
    return { id: api_key.id, key }
  })

const rotated = (id: string, by: string, graceSeconds = 0) =>
  Effect.map(json("POST", `/v2/api-keys/${id}/rotate`, { graceSeconds }, by), ({ body }) => {
    const { api_key, key }: { readonly api_key: { readonly id: string }; readonly key: string } = body
    return { id: api_key.id, key }
  })

/** Runs a program in a chat; answers what the model was told of it. */
const ask = Effect.fnUntraced(function* (program: string, key: string, chatId?: string) {
  const reply = yield* json("POST", "/v2/chats", { question: program, ...(chatId && { chat_id: chatId }) }, key)
  assert.strictEqual(reply.status, 200, JSON.stringify(reply.body))
  const answer: { readonly chat_id: string; readonly response: string } = reply.body
  return answer
})

const listed = (key: string) =>
  Effect.map(
    json("GET", "/v2/sandcastles?status=all", undefined, key),
    ({ body }): ReadonlyArray<{ readonly sandbox_id: string; readonly chat_id?: string }> => body.sandboxes
  )

layer(Site.layer({ deployment: { script } }), { timeout: "180 seconds" })("sandcastles of a rotated key", (it) => {
  it.effect("a chat's is the new key's with its variables, and the old key's no more", () =>
    Effect.gen(function* () {
      const by = yield* minter
      const old = yield* mint("old", by)
      const { chat_id } = yield* ask("kept = 41", old.key)
      const [castle] = yield* listed(old.key)
      if (castle === undefined) return assert.fail("the question started none")
      assert.strictEqual(castle.chat_id, chat_id)
      const path = `/v2/sandcastles/${castle.sandbox_id}`
      const other = yield* mint("other", by)
      yield* refusal(code.notFound, "GET", path, undefined, other.key)

      const next = yield* rotated(old.id, by)
      assert.strictEqual((yield* json("GET", path, undefined, next.key)).body.status, "running")
      assert.deepStrictEqual(yield* listed(next.key), [castle])
      assert.include((yield* ask("print(kept)", next.key, chat_id)).response, "41")
      const direct = yield* json("POST", `${path}/execute`, { code: "print(kept + 1)" }, next.key)
      assert.deepStrictEqual(direct.body.output, ["42\n"])
      assert.strictEqual((yield* listed(next.key)).length, 1)

      for (const [method, at] of [
        ["GET", path],
        ["POST", `${path}/execute`],
        ["DELETE", path],
        ["GET", "/v2/sandcastles"]
      ] as const) {
        yield* refusal(code.unauthenticated, method, at, method === "POST" ? { code: "1" } : undefined, old.key)
      }
      // Once more: the first key's are the third one's as well.
      const third = yield* rotated(next.id, by)
      assert.include((yield* ask("print(kept)", third.key, chat_id)).response, "41")
      assert.strictEqual((yield* listed(third.key)).length, 1)
      yield* refusal(code.notFound, "GET", path, undefined, other.key)
    })
  )

  it.effect(
    "while the old key has its grace both go on with its chats, and it sees nothing of what only the new one made",
    () =>
      Effect.gen(function* () {
        const by = yield* minter
        const old = yield* mint("old", by)
        const shared = yield* ask("Hello", old.key)
        assert.deepStrictEqual(yield* listed(old.key), [])
        const next = yield* rotated(old.id, by, 60)
        // The new one is the first to run something, and the old one finds it as it is.
        yield* ask("kept = 7", next.key, shared.chat_id)
        assert.include((yield* ask("print(kept)", old.key, shared.chat_id)).response, "7")
        assert.deepStrictEqual(yield* listed(old.key), yield* listed(next.key))

        const own = yield* ask("mine = 1", next.key)
        const castle = (yield* listed(next.key)).find(({ chat_id }) => chat_id === own.chat_id)
        if (castle === undefined) return assert.fail("the question started none")
        const path = `/v2/sandcastles/${castle.sandbox_id}`
        yield* refusal(code.notFound, "GET", path, undefined, old.key)
        yield* refusal(code.notFound, "POST", `${path}/execute`, { code: "print(mine)" }, old.key)
        yield* refusal(code.notFound, "POST", "/v2/chats", { question: "print(mine)", chat_id: own.chat_id }, old.key)
        const started = yield* json("POST", "/v2/sandcastles", {}, next.key)
        yield* refusal(code.notFound, "GET", `/v2/sandcastles/${started.body.sandbox_id}`, undefined, old.key)
        assert.deepStrictEqual(
          (yield* listed(old.key)).map(({ chat_id }) => chat_id),
          [shared.chat_id]
        )
        yield* TestClock.adjust("1 minute")
        yield* refusal(code.unauthenticated, "GET", path, undefined, old.key)
        assert.include((yield* ask("print(kept)", next.key, shared.chat_id)).response, "7")
      })
  )
})
