import { ChatId } from "@castellan/core/chat/Chat"
import { RoleId } from "@castellan/core/role/Role"
import { RunId } from "@castellan/core/run/Run"
import * as KeptAnswer from "@castellan/http/idempotency/KeptAnswer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

const uuid = "0197c0de-0000-7000-8000-000000000000"
const reach = { roles: [RoleId.make(uuid)], restricted: false }
const sealing = { secret: "a secret of more than thirty-two characters", id: "a".repeat(64), key: "key" }
const bytes = (text: string) => new TextEncoder().encode(text)

const textOf = ({ body }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag

const kept = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.flatMap(KeptAnswer.of(response, reach), (answer) =>
    Effect.map(Effect.fromOption(answer.kept), (one) => ({ ...answer, kept: one }))
  )

describe("an answer that is kept", () => {
  it("stands for its request, and not for the moment", () => {
    for (const status of [200, 201, 204, 400, 403, 404, 409, 413, 415, 422, 499])
      assert.isTrue(KeptAnswer.isKept(status))
    for (const status of [401, 408, 429, 500, 501, 503, 504]) assert.isFalse(KeptAnswer.isKept(status))
  })

  for (const [what, response, body] of [
    ["JSON", HttpServerResponse.text('{"a":"ü"}', { status: 201, contentType: "application/json" }), '{"a":"ü"}'],
    ["nothing", HttpServerResponse.empty({ status: 204, headers: { "x-a": "b" } }), "Empty"],
    ["a text that is raw", HttpServerResponse.raw("plain", { contentType: "text/plain" }), "plain"],
    [
      "a stream",
      HttpServerResponse.stream(Stream.make(bytes("one "), bytes("two")), { contentType: "text/plain" }),
      "one two"
    ]
  ] as const) {
    it.effect(`is given again as it was: ${what}`, () =>
      Effect.gen(function* () {
        const answer = yield* kept(response)
        const opened = yield* Effect.fromOption(KeptAnswer.unseal(KeptAnswer.seal(answer.kept, sealing), sealing))
        assert.deepStrictEqual([opened.reach, opened.content], [reach, answer.kept.content])
        assert.strictEqual(opened.content._tag, "Response")
        if (opened.content._tag !== "Response") return
        const again = KeptAnswer.toResponse(opened.content, opened.body)
        assert.deepStrictEqual([again.status, textOf(again)], [response.status, body])
        assert.strictEqual(again.headers["content-type"], response.headers["content-type"])
        assert.strictEqual(again.headers["x-a"], response.headers["x-a"])
        // What is sent the first time has not been used up by keeping it.
        assert.strictEqual(textOf(answer.response), body === "plain" ? "Raw" : body)
      })
    )
  }

  it("is a run, where that was streamed", () => {
    const content = { _tag: "Run", chatId: ChatId.make(uuid), runId: RunId.make(uuid) } as const
    const sealed = KeptAnswer.seal({ content, reach, body: new Uint8Array() }, sealing)
    const opened = Option.getOrUndefined(KeptAnswer.unseal(sealed, sealing))
    assert.deepStrictEqual(opened?.content, content)
  })

  it.effect("opens for who holds secret, request and key, and not when it was changed", () =>
    Effect.gen(function* () {
      const answer = yield* kept(HttpServerResponse.text("the only copy of a secret"))
      const sealed = KeptAnswer.seal(answer.kept, sealing)
      assert.isFalse(Buffer.from(sealed).includes("the only copy"))
      assert.notDeepEqual(KeptAnswer.seal(answer.kept, sealing), sealed)
      for (const other of [{ secret: "x".repeat(40) }, { id: "b".repeat(64) }, { key: "kez" }]) {
        assert.isTrue(Option.isNone(KeptAnswer.unseal(sealed, { ...sealing, ...other })))
      }
      for (let at = 0; at < sealed.length; at++) {
        const changed = Uint8Array.from(sealed)
        changed[at] = (changed[at] ?? 0) ^ 1
        assert.isTrue(Option.isNone(KeptAnswer.unseal(changed, sealing)), String(at))
      }
      for (const length of [0, 5, 12, 28, sealed.length - 1]) {
        assert.isTrue(Option.isNone(KeptAnswer.unseal(sealed.slice(0, length), sealing)), String(length))
      }
    })
  )
})
