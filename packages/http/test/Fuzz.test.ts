import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as Site from "./support/Site.ts"

const chat = "0197c0de-0000-7000-8000-000000000000"

/** Words of the contract, of other protocols and of nobody. */
const words = [
  "v2",
  "v1",
  "chats",
  "stream",
  "cells",
  "cancel",
  "connectors",
  "models",
  "assets",
  "healthz",
  "readyz",
  "docs",
  "openapi.json",
  "reference.js",
  chat,
  chat.toUpperCase(),
  "..",
  ".",
  "%00",
  "%2f",
  "%zz",
  "%",
  "*",
  "~",
  "null",
  "__proto__",
  "constructor",
  "☃",
  "\u{1F4A9}",
  "-1",
  "1e9",
  "x".repeat(300)
]

const Word = Schema.Union([Schema.Literals(words), AnyText])

const Leaf = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Number,
  AnyText,
  Schema.Literals([chat, "", "\0", "\ud800", "offline/analyst", "1", "[]", "{}"])
])

const Value = Schema.Union([Leaf, Schema.Array(Leaf), Schema.Record(AnyText, Leaf)])

const Body = Schema.Struct({
  question: Schema.optionalKey(Value),
  chat_id: Schema.optionalKey(Value),
  model: Schema.optionalKey(Value),
  tools: Schema.optionalKey(Value),
  connector_ids: Schema.optionalKey(Value)
})

const Field = Schema.Union([
  Schema.Literals(["limit", "offset", "search_term", "sort_by", "sort_direction", "format", "expires", "signature"]),
  AnyText
])

const Request = Schema.Struct({
  /** Questions are what most of the contract is about, and chance alone rarely asks one. */
  aim: Schema.Literals(["anything", "question", "streamed question"]),
  method: Schema.Literals(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]),
  /** A path of the contract, or one of chance. */
  path: Schema.Union([
    Schema.Literals(
      [
        "/v2/chats",
        "/v2/chats/stream",
        `/v2/chats/${chat}`,
        `/v2/chats/${chat}/cells`,
        `/v2/chats/${chat}/stream`
      ].concat([
        `/v2/chats/${chat}/cancel`,
        "/v2/connectors",
        "/v2/models",
        `/v2/assets/${chat}`,
        "/healthz",
        "/readyz"
      ])
    ),
    Schema.Array(Word).check(Schema.isMaxLength(5))
  ]),
  query: Schema.Array(Schema.Tuple([Field, Word])).check(Schema.isMaxLength(4)),
  type: Schema.Literals([
    "application/json",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "text/plain",
    "application/x-www-form-urlencoded",
    "nonsense",
    ""
  ]),
  body: Schema.Union([Body, Value, AnyText, Schema.Undefined]),
  /** Whether the body is sent as JSON, or as text that it may look like. */
  json: Schema.Boolean,
  key: Schema.Literals(["valid", "none", "nonsense"]),
  lastEventId: Schema.optionalKey(AnyText)
})

const visible = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, "")

/** What can stand in a request line: whatever else there is, is percent-encoded, or left out when it cannot be. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll("%25", "%")

const asking = { question: "/v2/chats", "streamed question": "/v2/chats/stream" } as const

const aimed = (request: typeof Request.Type): typeof Request.Type =>
  request.aim === "anything" ? request : { ...request, method: "POST", path: asking[request.aim], key: "valid" }

const send = (request: typeof Request.Type) => {
  const { body, json, key, lastEventId, method, path, query, type } = aimed(request)
  const target = typeof path === "string" ? path : `/${path.map(encoded).join("/")}`
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&")
  const text = body === undefined ? undefined : typeof body === "string" && !json ? body : JSON.stringify(body)
  return Site.call(`${target}${search === "" ? "" : `?${search}`}`, {
    method,
    ...(key === "valid" ? {} : { key: key === "none" ? "" : "nonsense" }),
    ...(text === undefined ? {} : { body: text }),
    headers: {
      ...(type === "" ? {} : { "content-type": type }),
      ...(lastEventId === undefined ? {} : { "last-event-id": visible(lastEventId) })
    }
  })
}

layer(Site.layer(), { excludeTestServices: true, timeout: "180 seconds" })("whatever is sent", (it) => {
  it.effect("is answered, never by a defect, and with the envelope when it is refused", () =>
    Effect.gen(function* () {
      const statuses = new Map<number, number>()
      let refused = 0
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Request),
        (request) =>
          Effect.map(send(request), (reply) => {
            statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
            const note = `${JSON.stringify(request)} -> ${reply.status} ${reply.text}`
            assert.isBelow(reply.status, 500, note)
            assert.match(reply.headers["x-request-id"] ?? "", /^[\x21-\x7e]{1,128}$/, note)
            if (reply.status < 400) return true
            refused += 1
            if (aimed(request).method !== "HEAD") Site.envelopeOf(reply)
            if (reply.status === 405) assert.isDefined(reply.headers["allow"], note)
            if (reply.status === 401) assert.strictEqual(reply.headers["www-authenticate"], "Bearer", note)
            return true
          }),
        { seed: "castellan", runs: 4_000 }
      )
      assert.strictEqual(result._tag, "Passed", JSON.stringify(result).slice(0, 2_000))
      // Chance has been everywhere, or it has proved nothing.
      for (const status of [200, 204, 400, 401, 403, 404, 405, 415])
        assert.isAtLeast(statuses.get(status) ?? 0, 10, `${status}`)
      assert.isAtLeast(refused, 2_000)
    })
  )
})
