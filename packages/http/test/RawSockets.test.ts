import { assert, layer, type Vitest } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Site from "./support/Site.ts"

/** The one response that came, taken apart; a defect when it is none, or has no envelope. */
const responseOf = (answer: string) => {
  const [head = "", body = ""] = answer.split("\r\n\r\n")
  const [status = "", ...lines] = head.split("\r\n")
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)])
  )
  const envelope = JSON.parse(body)
  assert.deepStrictEqual(Object.keys(envelope.error), ["code", "message"])
  assert.match(headers.get("x-request-id") ?? "", /^[\x21-\x7e]{1,128}$/)
  assert.strictEqual(headers.get("connection"), "close")
  assert.strictEqual(headers.get("content-length"), String(body.length))
  return { status: Number(status.split(" ")[1]), code: envelope.error.code, message: envelope.error.message }
}

/** Refusals that end their connection. */
const refusedAs =
  (it: Vitest.MethodsNonLive<Site.Site>) =>
  (status: number, cases: ReadonlyArray<readonly [what: string, bytes: string]>): void =>
    it.effect.each(cases)("%s", ([, bytes]) =>
      Effect.gen(function* () {
        const response = responseOf(yield* Site.raw(bytes))
        assert.deepStrictEqual([response.status, response.code], [status, "invalid_request"])
      })
    )

const hurried = {
  headersTimeout: Duration.millis(300),
  requestTimeout: Duration.millis(600),
  connectionsCheckingInterval: Duration.millis(50)
}

// Apart from the rest, which is not to be hurried on a machine that is busy.
layer(Site.layer({ server: hurried }), { excludeTestServices: true })(
  "bare sockets on which nothing more comes",
  (it) => {
    refusedAs(it)(408, [
      ["headers that never end", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A"],
      ["a connection that says nothing after its first line", "GET /healthz HTTP/1.1\r\n"]
    ])

    it.effect("a body that never ends is cut off", () =>
      Effect.gen(function* () {
        const { key } = yield* Site.Site
        const answer = yield* Site.raw(
          `POST /v2/chats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
        )
        assert.strictEqual(responseOf(answer).status, 408)
      })
    )
  }
)

layer(Site.layer(), { excludeTestServices: true })("bare sockets", (it) => {
  refusedAs(it)(400, [
    ["what is no HTTP", "hello\r\n\r\n"],
    ["a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an unknown version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["a header without a colon", "GET /healthz HTTP/1.1\r\nHost x\r\n\r\n"],
    ["a blank before the colon", "GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["a NUL in a header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n"],
    ["a bare line feed in a header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\nX-B: b\r\n\r\n"],
    ["a folded header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n"],
    ["two lengths", "POST /v2/chats HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    [
      "a length and chunks",
      "POST /v2/chats HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ],
    ["a negative length", "POST /v2/chats HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
    ["no host", "GET /healthz HTTP/1.1\r\n\r\n"],
    ["two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["the same host twice", "GET /healthz HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"]
  ])

  refusedAs(it)(405, [["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"]])
  refusedAs(it)(417, [
    [
      "an expectation that nobody can meet",
      "POST /v2/chats HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\nContent-Length: 1\r\n\r\n"
    ]
  ])
  refusedAs(it)(431, [
    ["headers of 20 kB", `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`],
    ["3,000 headers", `GET /healthz HTTP/1.1\r\nHost: x\r\n${"X-A: a\r\n".repeat(3_000)}\r\n`]
  ])
  it.effect("a request that was answered before its body turned out to be broken has one answer", () =>
    Effect.gen(function* () {
      for (const body of ["Transfer-Encoding: xchunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"]) {
        const answer = yield* Site.raw(`POST /v2/chats HTTP/1.1\r\nHost: x\r\n${body}`)
        assert.deepStrictEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 401"])
      }
    })
  )

  it.effect("HTTP/1.0 needs no host, and its connection ends", () =>
    Effect.gen(function* () {
      const answer = yield* Site.raw("GET /healthz HTTP/1.0\r\n\r\n")
      assert.match(answer, /^HTTP\/1\.1 200 [^]*\r\n\r\n\{"status":"ok"\}$/)
    })
  )

  it.effect("HTTP/1.0 is streamed to without chunks", () =>
    Effect.gen(function* () {
      const { key } = yield* Site.Site
      const run = yield* Site.stalledRun
      yield* Site.tell(run, Site.text("☃"), Site.done)
      const answer = yield* Site.raw(
        `GET /v2/chats/${run.chatId}/stream HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`
      )
      const [head = "", ...body] = answer.split("\r\n\r\n")
      assert.notMatch(head, /chunked/i)
      assert.strictEqual(Site.framesOf(body.join("\r\n\r\n")).at(-1)?.data.type, "done")
    })
  )

  it.effect("requests sent ahead are answered in their order, streams among them", () =>
    Effect.gen(function* () {
      const { key } = yield* Site.Site
      const run = yield* Site.stalledRun
      yield* Site.tell(run, Site.text("first"), Site.done)
      const request = (path: string, more = "") =>
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`
      const stream = `/v2/chats/${run.chatId}/stream`
      const answer = yield* Site.raw([
        request("/healthz") +
          request(stream) +
          request("/readyz") +
          request(stream) +
          request("/nope", "Connection: close\r\n")
      ])
      const marks = [...answer.matchAll(/"status":"ok"|"type":"done"|"status":"ready"|"no such route"/g)].map(
        ([mark]) => mark
      )
      assert.deepStrictEqual(marks, [
        '"status":"ok"',
        '"type":"done"',
        '"status":"ready"',
        '"type":"done"',
        '"no such route"'
      ])
      assert.strictEqual(answer.split("0\r\n\r\n").length, 3)
    })
  )

  it.effect("an upgrade that nobody asked for is ignored", () =>
    Effect.gen(function* () {
      for (const protocol of ["websocket", "h2c"]) {
        const answer = yield* Site.raw(
          `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`
        )
        assert.match(answer, /^HTTP\/1\.1 200 /)
      }
    })
  )
})
