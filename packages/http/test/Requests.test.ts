import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Site from "./support/Site.ts"

const chat = "0197c0de-0000-7000-8000-000000000000"

/** Every operation, as somebody would call it who has nothing yet. */
const operations: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/v2/chats"],
  ["POST", "/v2/chats/stream"],
  ["GET", "/v2/chats"],
  ["GET", `/v2/chats/${chat}`],
  ["GET", `/v2/chats/${chat}/cells`],
  ["GET", `/v2/chats/${chat}/stream`],
  ["GET", `/v2/chats/${chat}/cells/${chat}`],
  ["PATCH", `/v2/chats/${chat}`],
  ["DELETE", `/v2/chats/${chat}`],
  ["POST", `/v2/chats/${chat}/cancel`],
  ["POST", `/v2/chats/${chat}/feedback`],
  ["GET", "/v2/connectors"],
  ["POST", "/v2/connectors"],
  ["GET", "/v2/connectors/types"],
  ["POST", "/v2/connectors/test"],
  ["PATCH", "/v2/connectors/999"],
  ["DELETE", "/v2/connectors/999"],
  ["GET", "/v2/connectors/999/row-policies"],
  ["PUT", "/v2/connectors/999/row-policies"],
  ["GET", "/v2/models"]
]

/** Which methods some path takes. A word such as `types` could be an id as well, for the methods of those. */
const taken = new Set([
  ...operations.map(([method, path]) => `${method} ${path}`),
  ...["connectors/types", "connectors/test", "chats/stream"].flatMap((word) => [
    `PATCH /v2/${word}`,
    `DELETE /v2/${word}`
  ])
])

const open: ReadonlyArray<string> = ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/reference.js"]

const asking = ["/v2/chats", "/v2/chats/stream"]

const deepArray = "[".repeat(10_000) + "]".repeat(10_000)
const deepObject = '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)

/** Bodies that no operation takes, and the words that the message must have. */
const badBodies: ReadonlyArray<readonly [what: string, body: string, names: RegExp]> = [
  ["nothing", "", /^body: /],
  ["half an object", "{", /^body: /],
  ["null", "null", /^body: /],
  ["an array", "[]", /^body: /],
  ["a number", "1", /^body: /],
  ["a string", '"question"', /^body: /],
  ["two values", "{} {}", /^body: /],
  ["a deep array", deepArray, /^body: /],
  ["a deep object", deepObject, /^a: must not be nested/],
  ["an empty object", "{}", /^question: is missing/],
  ["a null question", '{"question":null}', /^question: /],
  ["a numeric question", '{"question":1}', /^question: .*got 1$/],
  ["a list of questions", '{"question":["a"]}', /^question: /],
  ["an empty question", '{"question":""}', /^question: /],
  ["a blank question", '{"question":" \\n\\t"}', /^question: /],
  ["a NUL", '{"question":"a\\u0000b"}', /^question: .*NUL/],
  ["half a surrogate pair", '{"question":"a\\ud800b"}', /^question: /],
  ["a question that is too long", JSON.stringify({ question: "x".repeat(100_001) }), /^question: /],
  ["a question of the prototype", '{"__proto__":{"question":"x"}}', /^question: is missing/],
  ["a malformed chat", '{"question":"x","chat_id":"1"}', /^chat_id: .*UUID/],
  ["a null chat", '{"question":"x","chat_id":null}', /^chat_id: /],
  ["a numeric model", '{"question":"x","model":1}', /^model: /],
  ["a model with a blank", '{"question":"x","model":"a b"}', /^model: /],
  ["a list of tools", '{"question":"x","tools":[]}', /^tools: /],
  ["a null tool", '{"question":"x","tools":{"sql_enabled":null}}', /^tools\.sql_enabled: /],
  ["a tool that is a word", '{"question":"x","tools":{"python_enabled":"yes"}}', /^tools\.python_enabled: /],
  ["connectors that are a number", '{"question":"x","connector_ids":1}', /^connector_ids: /],
  ["a connector that is a word", '{"question":"x","connector_ids":["1"]}', /^connector_ids\[0\]: /],
  ["half a connector", '{"question":"x","connector_ids":[1,1.5]}', /^connector_ids\[1\]: /],
  ["a negative connector", '{"question":"x","tools":{"connector_ids":[-1]}}', /^tools\.connector_ids\[0\]: /],
  ["an immense connector", '{"question":"x","connector_ids":[1e300]}', /^connector_ids\[0\]: /],
  [
    "too many connectors",
    JSON.stringify({ question: "x", connector_ids: Array.from({ length: 1_001 }, () => 1) }),
    /^connector_ids: /
  ]
]

const badQueries: ReadonlyArray<readonly [path: string, query: string, names: RegExp]> = [
  ["/v2/chats", "limit=0", /^limit: .*between 1 and 100, got 0/],
  ["/v2/chats", "limit=101", /^limit: /],
  ["/v2/chats", "limit=-1", /^limit: /],
  ["/v2/chats", "limit=1.5", /^limit: /],
  ["/v2/chats", "limit=ten", /^limit: /],
  ["/v2/chats", "limit=", /^limit: /],
  ["/v2/chats", "limit=1&limit=2", /^limit: /],
  ["/v2/chats", "limit=1e400", /^limit: /],
  ["/v2/chats", "offset=-1", /^offset: /],
  ["/v2/chats", "offset=99999999999999999999", /^offset: /],
  ["/v2/chats", "sort_by=colour", /^sort_by: /],
  ["/v2/chats", "sort_direction=up", /^sort_direction: /],
  ["/v2/chats", `search_term=${"x".repeat(501)}`, /^search_term: /],
  ["/v2/chats", "search_term=%00", /^search_term: /],
  [`/v2/chats/${chat}/cells`, "limit=501", /^limit: /],
  [`/v2/chats/${chat}/cells`, "offset=x", /^offset: /]
]

/** Ids that are none; each stands in every path that has one. */
const badIds = [
  "1",
  "abc",
  "0197c0de-0000-7000-8000-00000000000g",
  `${chat}0`,
  "%00",
  "%2e%2e",
  "..%2f..%2fetc%2fpasswd",
  "%F0%9F%92%A9",
  "x".repeat(5_000),
  "null",
  "__proto__",
  "'%20OR%201=1--"
]

const refused = (reply: Site.Reply, status: number, code: string, names: RegExp = /./) => {
  assert.strictEqual(reply.status, status, reply.text.slice(0, 300))
  const envelope = Site.envelopeOf(reply)
  assert.strictEqual(envelope.code, code)
  assert.match(envelope.message, names)
  assert.match(reply.headers["x-request-id"] ?? "", /^[\x21-\x7e]{1,128}$/)
  assert.strictEqual(reply.headers["x-content-type-options"], "nosniff")
  assert.strictEqual(reply.headers["cache-control"], "no-store")
}

layer(Site.layer(), { excludeTestServices: true, timeout: "180 seconds" })("requests", (it) => {
  it.effect("what is answered is kept by nobody on the way: a list, and least of all a new key", () =>
    Effect.gen(function* () {
      for (const [reply, status] of [
        [yield* Site.call("/v2/chats"), 200],
        [yield* Site.post("/v2/api-keys", { inheritAllRoles: true }), 201],
        [yield* Site.post("/v2/sessions", {}), 201]
      ] as const) {
        assert.strictEqual(reply.status, status, reply.text)
        assert.strictEqual(reply.headers["cache-control"], "no-store")
      }
    })
  )

  describe("the order of checks", () => {
    it.effect("an unknown path is 404, whoever asks and whatever they send", () =>
      Effect.gen(function* () {
        for (const path of [
          "/",
          "/v2",
          "/v2/chat",
          "/V2/chats",
          "/v2/playbook",
          "/v1/agents/webhook",
          "/%zz",
          "/v2/chats/%zz"
        ]) {
          for (const key of ["", "nonsense", undefined]) {
            for (const method of ["GET", "POST", "DELETE"]) {
              refused(yield* Site.call(path, { method, ...(key === undefined ? {} : { key }) }), 404, "not_found")
            }
          }
        }
      })
    )

    it.effect("a method that a path does not take is 405 with what it takes, before credentials", () =>
      Effect.gen(function* () {
        for (const [method, path] of operations) {
          for (const other of ["PUT", "PATCH", "DELETE", "PROPFIND", "TRACE", "PURGE"]) {
            if (taken.has(`${other} ${path}`)) continue
            const reply = yield* Site.call(path, { method: other, key: "" })
            refused(reply, 405, "invalid_request")
            assert.include((reply.headers["allow"] ?? "").split(", "), method)
          }
        }
        const reply = yield* Site.call("/v2/chats/stream", { method: "GET", key: "" })
        // A chat whose id is "stream": the path exists, and its GET needs a credential first.
        refused(reply, 401, "unauthenticated")
        refused(
          yield* Site.call("/v2/models", { method: "POST", key: "" }),
          405,
          "invalid_request",
          /GET, HEAD, OPTIONS/
        )
      })
    )

    it.effect("no credential is 401, before the shape of the request and before what exists", () =>
      Effect.gen(function* () {
        for (const [method, path] of operations) {
          const what = method === "POST" ? { method, body: "{", headers: { "content-type": "text/plain" } } : { method }
          const none = yield* Site.call(path, { ...what, key: "" })
          refused(none, 401, "unauthenticated", /^Authentication required$/)
          assert.strictEqual(none.headers["www-authenticate"], "Bearer")
          refused(yield* Site.call(path, { ...what, key: "abc" }), 401, "unauthenticated", /^invalid API key format$/)
        }
        refused(yield* Site.call("/v2/chats?limit=0", { key: "" }), 401, "unauthenticated")
        refused(yield* Site.call("/v2/chats/xyz", { key: "" }), 401, "unauthenticated")
      })
    )

    it.effect("only bearer values count, and one is enough", () =>
      Effect.gen(function* () {
        const { key } = yield* Site.Site
        for (const authorization of ["", "Bearer", "Bearer ", `Basic ${key}`, key, `Bearer${key}`, `Bearer ${key} x`]) {
          const reply = yield* Site.call("/v2/models", { key: "", headers: { authorization } })
          refused(reply, 401, "unauthenticated")
        }
        for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key}`]) {
          assert.strictEqual((yield* Site.call("/v2/models", { key: "", headers: { authorization } })).status, 200)
        }
      })
    )
  })

  describe("bodies", () => {
    for (const path of asking) {
      it.effect(`POST ${path} refuses what is no question, and says why`, () =>
        Effect.gen(function* () {
          for (const [what, body, names] of badBodies) {
            const reply = yield* Site.post(path, body)
            assert.strictEqual(reply.status, 400, `${what}: ${reply.text.slice(0, 300)}`)
            refused(reply, 400, "invalid_request", names)
          }
        })
      )

      it.effect(`POST ${path} refuses other media types with 415`, () =>
        Effect.gen(function* () {
          for (const type of [
            "text/plain",
            "application/xml",
            "application/x-www-form-urlencoded",
            "text/html",
            "x",
            "application/octet-stream"
          ]) {
            const reply = yield* Site.post(path, { question: "x" }, { headers: { "content-type": type } })
            refused(reply, 415, "invalid_request", /^content-type: /)
          }
        })
      )

      it.effect(`POST ${path} refuses a body that is too large, with and without its length`, () =>
        Effect.gen(function* () {
          const { key } = yield* Site.Site
          const body = JSON.stringify({ question: "x".repeat(2 * 1024 * 1024) })
          refused(yield* Site.post(path, body), 413, "invalid_request", /^body: /)
          const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
          const chunk = `${(64 * 1024).toString(16)}\r\n${"x".repeat(64 * 1024)}\r\n`
          const chunked = yield* Site.raw([
            `${head}Transfer-Encoding: chunked\r\n\r\n`,
            ...Array.from({ length: 32 }, () => chunk)
          ])
          assert.match(chunked, /^HTTP\/1\.1 413 /)
          assert.match(chunked, /"code":"invalid_request"/)
          // Announced and not sent: it is not waited for.
          const announced = yield* Site.raw(`${head}Content-Length: 999999999\r\nExpect: 100-continue\r\n\r\n`)
          assert.match(announced, /^HTTP\/1\.1 413 /)
        })
      )

      it.effect(`POST ${path} takes a form, and refuses malformed ones`, () =>
        Effect.gen(function* () {
          const type = { "content-type": "multipart/form-data; boundary=b" }
          const part = (name: string, value: string, more = "") =>
            `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
          const send = (body: string, headers: Record<string, string> = type) =>
            Site.call(path, { method: "POST", body, headers })
          assert.strictEqual((yield* send(`${part("question", "How much?")}--b--\r\n`)).status, 200)
          assert.strictEqual(
            (yield* send(`${part("question", "x")}${part("connector_ids", "[1]")}--b--\r\n`)).status,
            200
          )
          assert.strictEqual(
            (yield* send(`${part("question", "x")}${part("connector_ids", "1")}${part("connector_ids", "1")}--b--\r\n`))
              .status,
            200
          )
          assert.strictEqual(
            (yield* send(`${part("question", "x")}${part("tools", '{"sql_enabled":false}')}--b--\r\n`)).status,
            200
          )
          refused(yield* send("--b--\r\n"), 400, "invalid_request", /^question: is missing/)
          refused(
            yield* send(`${part("question", "x")}${part("tools", "{")}--b--\r\n`),
            400,
            "invalid_request",
            /^tools: /
          )
          refused(
            yield* send(`${part("question", "x")}${part("tools", '{"sql_enabled":1}')}--b--\r\n`),
            400,
            "invalid_request",
            /^tools/
          )
          refused(
            yield* send(`${part("question", "x")}${part("connector_ids", "x")}--b--\r\n`),
            400,
            "invalid_request",
            /^connector_ids/
          )
          refused(
            yield* send(`${part("question", "x")}${part("files", "data", '; filename=".env"')}--b--\r\n`),
            400,
            "invalid_request",
            /^files: /
          )
          refused(yield* send(part("question", "x").slice(0, 20)), 400, "invalid_request")
          refused(yield* send("nonsense"), 400, "invalid_request")
          refused(yield* send("x", { "content-type": "multipart/form-data" }), 400, "invalid_request")
          refused(yield* send(`${part("question", "x".repeat(600 * 1024))}--b--\r\n`), 413, "invalid_request")
          refused(yield* send(`${part("x", "y").repeat(500)}${part("question", "x")}--b--\r\n`), 413, "invalid_request")
        })
      )
    }

    it.effect("JSON without a media type is JSON, and its charset is no matter", () =>
      Effect.gen(function* () {
        const body = JSON.stringify({ question: "How much? ☃", "unknown field": null })
        for (const headers of [
          {},
          { "content-type": "application/json; charset=utf-8" },
          { "content-type": "APPLICATION/JSON" }
        ]) {
          assert.strictEqual((yield* Site.call("/v2/chats", { method: "POST", body, headers })).status, 200)
        }
      })
    )

    it.effect("what exists and what is allowed come after the shape", () =>
      Effect.gen(function* () {
        refused(yield* Site.post("/v2/chats", { question: "", chat_id: chat }), 400, "invalid_request")
        refused(yield* Site.post("/v2/chats", { question: "x", chat_id: chat }), 404, "not_found")
        refused(
          yield* Site.post("/v2/chats", { question: "x", chat_id: chat, model: "a" }),
          400,
          "invalid_request",
          /^model: /
        )
        refused(yield* Site.post("/v2/chats", { question: "x", model: "no/such" }), 403, "permission_denied")
        refused(yield* Site.post("/v2/chats", { question: "x", connector_ids: [99] }), 403, "permission_denied")
        refused(yield* Site.call(`/v2/chats/${chat}/cells?limit=0`), 400, "invalid_request")
        refused(yield* Site.call(`/v2/chats/${chat}/cells?limit=1`), 404, "not_found")
      })
    )

    it.effect("a second question while one is being answered is 409", () =>
      Effect.gen(function* () {
        const run = yield* Site.stalledRun
        for (const path of asking) {
          refused(yield* Site.post(path, { question: "x", chat_id: run.chatId }), 409, "conflict")
        }
      })
    )
  })

  describe("queries and paths", () => {
    it.effect("a value out of range is 400 and never clamped", () =>
      Effect.gen(function* () {
        for (const [path, query, names] of badQueries) {
          refused(yield* Site.call(`${path}?${query}`), 400, "invalid_request", names)
        }
      })
    )

    it.effect("a query of 12,000 characters is read or refused, and one beyond the headers' limit is 431", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* Site.call(`/v2/chats?unknown=${"x".repeat(12_000)}`)).status, 200)
        refused(yield* Site.call(`/v2/chats?search_term=${"x".repeat(12_000)}`), 400, "invalid_request")
        const { key } = yield* Site.Site
        const answer = yield* Site.raw(
          `GET /v2/chats?x=${"x".repeat(20_000)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
        )
        assert.match(answer, /^HTTP\/1\.1 431 /)
        assert.match(answer, /"code":"invalid_request"/)
      })
    )

    it.effect("a malformed id reads as not found in every path that has one", () =>
      Effect.gen(function* () {
        for (const id of badIds) {
          for (const [method, path] of operations.filter(([, one]) => one.includes(chat))) {
            refused(yield* Site.call(path.replace(chat, id), { method }), 404, "not_found")
          }
        }
      })
    )

    it.effect("an id is read in any case, and a path with a slash too many", () =>
      Effect.gen(function* () {
        const run = yield* Site.stalledRun
        for (const path of [
          `/v2/chats/${run.chatId.toUpperCase()}`,
          `/v2/chats/${run.chatId}/`,
          `//v2//chats/${run.chatId}`
        ]) {
          assert.strictEqual((yield* Site.call(path)).status, 200)
        }
      })
    )
  })

  describe("methods that every path has", () => {
    it.effect("HEAD is GET without a body", () =>
      Effect.gen(function* () {
        const run = yield* Site.stalledRun
        for (const path of ["/v2/models", "/v2/connectors", "/v2/chats", `/v2/chats/${run.chatId}`, ...open]) {
          const get = yield* Site.call(path)
          const head = yield* Site.call(path, { method: "HEAD" })
          assert.strictEqual(head.status, 200)
          assert.strictEqual(head.text, "")
          assert.strictEqual(head.headers["content-type"], get.headers["content-type"])
          assert.strictEqual(head.headers["content-length"], get.headers["content-length"])
        }
        const stream = yield* Site.call(`/v2/chats/${run.chatId}/stream`, { method: "HEAD" })
        assert.deepStrictEqual(
          [stream.status, stream.headers["content-type"], stream.text],
          [200, "text/event-stream", ""]
        )
        assert.strictEqual((yield* Site.call("/v2/models", { method: "HEAD", key: "" })).status, 401)
        assert.strictEqual((yield* Site.call("/nope", { method: "HEAD" })).status, 404)
        const post = yield* Site.call("/v2/chats/stream/cancel", { method: "HEAD" })
        assert.deepStrictEqual([post.status, post.headers["allow"]], [405, "OPTIONS, POST"])
      })
    )

    it.effect("OPTIONS says what a path takes", () =>
      Effect.gen(function* () {
        const reply = yield* Site.call("/v2/chats", { method: "OPTIONS", key: "" })
        assert.deepStrictEqual(
          [reply.status, reply.headers["allow"], reply.text],
          [204, "GET, HEAD, OPTIONS, POST", ""]
        )
        refused(yield* Site.call("/nope", { method: "OPTIONS" }), 404, "not_found")
      })
    )
  })

  describe("request ids", () => {
    const sent = (id: string | Array<string>) => Site.call("/v2/models", { headers: { "x-request-id": id } })

    it.effect("one of 1 to 128 visible ASCII characters is kept", () =>
      Effect.gen(function* () {
        for (const id of ["a", "x".repeat(128), "!~#{}", "0197c0de-0000-7000-8000-000000000000"]) {
          assert.strictEqual((yield* sent(id)).headers["x-request-id"], id)
        }
        const error = yield* Site.call("/nope", { headers: { "x-request-id": "mine" } })
        assert.strictEqual(error.headers["x-request-id"], "mine")
      })
    )

    it.effect("any other is replaced, and no two are alike", () =>
      Effect.gen(function* () {
        const made = new Set<string | undefined>()
        for (const id of ["", "x".repeat(129), "a b", "é", ["a", "b"]]) {
          const { headers } = yield* sent(id)
          assert.match(headers["x-request-id"] ?? "", /^[\x21-\x7e]{1,128}$/)
          assert.notStrictEqual(headers["x-request-id"], id)
          made.add(headers["x-request-id"])
        }
        assert.strictEqual(made.size, 5)
      })
    )
  })

  describe("what needs no credential", () => {
    it.effect("the system's operations answer", () =>
      Effect.gen(function* () {
        for (const path of open) assert.strictEqual((yield* Site.call(path, { key: "" })).status, 200, path)
        assert.deepStrictEqual(JSON.parse((yield* Site.call("/healthz", { key: "" })).text), { status: "ok" })
        const document = JSON.parse((yield* Site.call("/openapi.json", { key: "" })).text)
        assert.strictEqual(document.openapi, "3.1.0")
        assert.includeMembers(Object.keys(document.paths), ["/v2/chats", "/v2/chats/{id}/stream", "/v2/models"])
      })
    )

    it.effect("the page of the reference loads nothing from elsewhere", () =>
      Effect.gen(function* () {
        const page = yield* Site.call("/docs", { key: "" })
        assert.notMatch(page.text, /https?:\/\//)
        assert.match(page.headers["content-security-policy"] ?? "", /default-src 'none'.*script-src 'self'/)
        const compressed = yield* Site.call("/docs/reference.js", { headers: { "accept-encoding": "gzip" } })
        assert.strictEqual(compressed.headers["content-encoding"], "gzip")
        const plain = yield* Site.call("/docs/reference.js")
        assert.isAbove(plain.body.length, compressed.body.length)
        assert.match(plain.text, /createApiReference/)
        const moved = yield* Site.call("/docs/", { key: "" })
        assert.deepStrictEqual([moved.status, moved.headers["location"]], [308, "../docs"])
      })
    )
  })
})
