import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Domain from "./fixture/Domain.ts"
import * as Service from "./fixture/Service.ts"

const base = "http://castellan.test"
const authorized = { authorization: "Bearer key" }

/** Sends one request; answers with the status, the body, and what the handler was asked. */
const send = (path: string, init: RequestInit & { readonly json?: unknown } = {}) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const fetch = yield* Service.make((question) => asked.push(question))
    const { json, ...rest } = init
    const headers = new Headers({ ...authorized, ...Object.fromEntries(new Headers(init.headers)) })
    if (json !== undefined) headers.set("content-type", "application/json")
    let { body } = rest
    if (body instanceof FormData) {
      // Sent as bytes: Node's own stream of a form does not survive a reader that stops at its first file.
      const encoded = new Response(body)
      headers.set("content-type", encoded.headers.get("content-type") ?? "")
      body = yield* Effect.promise(() => encoded.arrayBuffer())
    }
    const request = new Request(`${base}${path}`, {
      ...rest,
      ...(body === undefined ? {} : { body }),
      headers,
      ...(json === undefined ? {} : { method: "POST", body: typeof json === "string" ? json : JSON.stringify(json) })
    })
    const response = yield* Effect.promise(() => fetch(request))
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, text, asked: asked[0] }
  })

/** The refusal that a request meets. */
const refused = (message: string, status = 400, code = "invalid_request") => ({
  status,
  text: JSON.stringify({ error: { code, message } }),
  asked: undefined
})

const question = "Why?"
const defaults = {
  sql: true,
  python: true,
  webSearch: false,
  ontology: true,
  biA: false,
  biB: false,
  fileStorage: false
}

describe("a question as JSON", () => {
  const accepted: ReadonlyArray<readonly [string, object, object]> = [
    ["alone", { question }, { question }],
    ["of 100,000 characters", { question: "q".repeat(100_000) }, { question: "q".repeat(100_000) }],
    ["in a chat", { question, chat_id: Domain.chatId }, { question, chatId: Domain.chatId }],
    [
      "in a chat named in upper case",
      { question, chat_id: Domain.chatId.toUpperCase() },
      { question, chatId: Domain.chatId }
    ],
    ["with a model", { question, model: "offline/analyst-1" }, { question, model: "offline/analyst-1" }],
    ["with unknown fields", { question, colour: "red", tools: { hammer: true } }, { question, tools: defaults }],
    [
      "with connectors",
      { question, connector_ids: [1, 2] },
      { question, tools: { ...defaults, connectorIds: [1, 2] } }
    ],
    [
      "with connectors named twice",
      { question, connector_ids: [1, 2], tools: { connector_ids: [3] } },
      { question, tools: { ...defaults, connectorIds: [3] } }
    ],
    [
      "with every tool set",
      {
        question,
        tools: {
          sql_enabled: false,
          python_enabled: false,
          web_search_enabled: true,
          ontology_enabled: false,
          bi_a_enabled: true,
          bi_b_enabled: true,
          file_storage_enabled: true
        }
      },
      {
        question,
        tools: {
          sql: false,
          python: false,
          webSearch: true,
          ontology: false,
          biA: true,
          biB: true,
          fileStorage: true
        }
      }
    ]
  ]
  for (const path of ["/v2/chats", "/v2/chats/stream"]) {
    it.effect.each(accepted)(`%s is taken by ${path}`, ([, json, expected]) =>
      Effect.gen(function* () {
        const { asked, status } = yield* send(path, { json })
        assert.deepStrictEqual({ asked, status }, { asked: expected, status: 200 })
      })
    )
  }

  const words = "must be a non-empty string of at most 100,000 characters"
  const unicode = "question: must be well-formed Unicode without NUL characters"
  const identifier = "must be a connector's id, a positive integer"
  it.effect.each<readonly [unknown, string]>([
    ["", "body: must be a JSON object"],
    ["{", "body: must be a valid JSON body"],
    ["null", "body: must be a JSON object, got null"],
    ["[]", "body: must be a JSON object, got an array"],
    ['"Why?"', 'body: must be a JSON object, got "Why?"'],
    [{}, "question: is missing"],
    [{ question: 5 }, `question: ${words}, got 5`],
    [{ question: null }, `question: ${words}, got null`],
    [{ question: "" }, `question: ${words}, got ""`],
    [{ question: " \n " }, `question: ${words}, got " \\n "`],
    [{ question: "q".repeat(100_001) }, `question: ${words}, got "${"q".repeat(59)}…"`],
    ['{"question":"a\\u0000b"}', `${unicode}, got "a\\u0000b"`],
    ['{"question":"\\ud800"}', `${unicode}, got "\\ud800"`],
    [{ question, chat_id: "7" }, 'chat_id: must be a UUID, got "7"'],
    [{ question, chat_id: 7 }, "chat_id: must be a UUID, got 7"],
    [{ question, chat_id: null }, "chat_id: must be a UUID, got null"],
    [{ question, model: "a b" }, 'model: must be a model\'s id, 1 to 200 visible ASCII characters, got "a b"'],
    [{ question, tools: [] }, "tools: must be a JSON object, got an array"],
    [{ question, tools: { sql_enabled: "yes" } }, 'tools.sql_enabled: must be true or false, got "yes"'],
    [{ question, tools: { connector_ids: [1, 0] } }, `tools.connector_ids[1]: ${identifier}, got 0`],
    [{ question, connector_ids: 1 }, "connector_ids: must be an array of at most 1000 connector ids, got 1"],
    [{ question, connector_ids: ["1"] }, `connector_ids[0]: ${identifier}, got "1"`],
    [{ question, connector_ids: [1.5] }, `connector_ids[0]: ${identifier}, got 1.5`],
    [
      { question, connector_ids: Array.from({ length: 1001 }, (_, index) => index + 1) },
      "connector_ids: must be an array of at most 1000 connector ids, got an array"
    ]
  ])("%j is refused", ([json, message]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* send("/v2/chats", { json }), refused(message))
    })
  )

  it.effect("of another media type is refused with 415", () =>
    Effect.gen(function* () {
      const { status } = yield* send("/v2/chats", {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: "Why?"
      })
      assert.strictEqual(status, 415)
    })
  )
})

describe("a question as a form", () => {
  const form = (...parts: ReadonlyArray<readonly [string, string | Blob]>) => {
    const body = new FormData()
    for (const [name, value] of parts) body.append(name, value)
    return { method: "POST", body }
  }

  it.effect.each<readonly [string, ReadonlyArray<readonly [string, string]>, object]>([
    ["alone", [["question", question]], { question }],
    [
      "with everything",
      [
        ["question", question],
        ["chat_id", Domain.chatId],
        ["model", "offline/analyst-1"],
        ["tools", '{"sql_enabled":false}']
      ],
      { question, chatId: Domain.chatId, model: "offline/analyst-1", tools: { ...defaults, sql: false } }
    ],
    [
      "with an array of connectors",
      [
        ["question", question],
        ["connector_ids", "[1, 2]"]
      ],
      { question, tools: { ...defaults, connectorIds: [1, 2] } }
    ],
    [
      "with one connector",
      [
        ["question", question],
        ["connector_ids", "3"]
      ],
      { question, tools: { ...defaults, connectorIds: [3] } }
    ],
    [
      "with connectors repeated",
      [
        ["question", question],
        ["connector_ids", "1"],
        ["connector_ids", "2"]
      ],
      { question, tools: { ...defaults, connectorIds: [1, 2] } }
    ],
    [
      "with unknown parts",
      [
        ["question", question],
        ["__proto__", "x"],
        ["colour", "red"]
      ],
      { question }
    ]
  ])("%s is taken", ([, parts, expected]) =>
    Effect.gen(function* () {
      const { asked, status } = yield* send("/v2/chats/stream", form(...parts))
      assert.deepStrictEqual({ asked, status }, { asked: expected, status: 200 })
    })
  )

  const ids = "connector_ids: must be a JSON array of connector ids, or repeated ids"
  it.effect.each<readonly [string, ReadonlyArray<readonly [string, string | Blob]>, string]>([
    ["without a question", [["colour", "red"]], "question: is missing"],
    [
      "with two questions",
      [
        ["question", "Why?"],
        ["question", "How?"]
      ],
      "question: must be a non-empty string of at most 100,000 characters, got an array"
    ],
    [
      "with tools that are no JSON",
      [
        ["question", question],
        ["tools", "{sql"]
      ],
      'tools: must be a JSON object, got "{sql"'
    ],
    [
      "with a tool that is no switch",
      [
        ["question", question],
        ["tools", '{"sql_enabled":1}']
      ],
      "tools.sql_enabled: must be true or false, got 1"
    ],
    [
      "with connectors that are words",
      [
        ["question", question],
        ["connector_ids", "one"]
      ],
      `${ids}, got "one"`
    ],
    [
      "with a connector that cannot be",
      [
        ["question", question],
        ["connector_ids", "[0]"]
      ],
      "connector_ids[0]: must be a connector's id, a positive integer, got 0"
    ],
    [
      "with files that are text parts",
      [
        ["question", question],
        ["files", "a,b"]
      ],
      "files: must be files, not text parts"
    ],
    [
      "with a question that is a file",
      [["question", new File(["Why?"], "question.txt", { type: "text/plain" })]],
      "question: must be a text part, not a file"
    ]
  ])("%s is refused", ([, parts, message]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* send("/v2/chats", form(...parts)), refused(message))
    })
  )
})

describe("queries", () => {
  const everything = { limit: 20, offset: 0, sortBy: "updated_at", sortDirection: "desc" }
  it.effect.each<readonly [string, object]>([
    ["", everything],
    ["?search_term=", everything],
    ["?limit=100&offset=1000000", { ...everything, limit: 100, offset: 1_000_000 }],
    ["?search_term=a%20b&unknown=1", { ...everything, searchTerm: "a b" }],
    ["?sort_by=name&sort_direction=asc", { ...everything, sortBy: "name", sortDirection: "asc" }]
  ])("%s lists chats", ([query, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* send(`/v2/chats${query}`)).asked, expected)
    })
  )

  const limit = "limit: must be an integer between 1 and 100"
  it.effect.each<readonly [string, string]>([
    ["limit=abc", `${limit}, got "abc"`],
    ["limit=", `${limit}, got ""`],
    ["limit=0", `${limit}, got 0`],
    ["limit=101", `${limit}, got 101`],
    ["limit=1.5", `${limit}, got 1.5`],
    ["limit=1&limit=2", `${limit}, got an array`],
    ["limit=NaN", `${limit}, got "NaN"`],
    ["offset=-1", "offset: must be an integer between 0 and 1000000, got -1"],
    ["sort_by=colour", 'sort_by: must be one of name, created_at, updated_at, got "colour"'],
    ["sort_direction=up", 'sort_direction: must be one of asc, desc, got "up"'],
    [
      `search_term=${"x".repeat(501)}`,
      `search_term: must be a string of at most 500 characters, got "${"x".repeat(59)}…"`
    ],
    ["search_term=%00", 'search_term: must be well-formed Unicode without NUL characters, got "\\u0000"']
  ])("%s is refused", ([query, message]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* send(`/v2/chats?${query}`), refused(message))
    })
  )

  it.effect("of cells have defaults and bounds of their own", () =>
    Effect.gen(function* () {
      const path = `/v2/chats/${Domain.chatId}/cells`
      assert.deepStrictEqual((yield* send(path)).asked, { id: Domain.chatId, limit: 200, offset: 0 })
      assert.deepStrictEqual((yield* send(`${path}?limit=500&offset=7`)).asked, {
        id: Domain.chatId,
        limit: 500,
        offset: 7
      })
      assert.deepStrictEqual(
        yield* send(`${path}?limit=501`),
        refused("limit: must be an integer between 1 and 500, got 501")
      )
    })
  )
})

describe("paths", () => {
  it.effect.each([
    ["GET", "/v2/chats/not-a-uuid"],
    ["GET", `/v2/chats/${Domain.chatId}0/cells?limit=abc`],
    ["GET", "/v2/chats/%00/stream"],
    ["POST", "/v2/chats/1/cancel"],
    ["GET", "/v2/assets/1?format=png"]
  ] as const)("%s %s reads as not found", ([method, path]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* send(path, { method }), refused("Resource not found", 404, "not_found"))
    })
  )

  it.effect("take ids in upper case", () =>
    Effect.gen(function* () {
      const { asked } = yield* send(`/v2/chats/${Domain.chatId.toUpperCase()}/cancel`, { method: "POST" })
      assert.deepStrictEqual(asked, { id: Domain.chatId })
    })
  )
})

describe("a follower", () => {
  const path = `/v2/chats/${Domain.chatId}/stream`
  const follow = (id?: string) => send(path, id === undefined ? {} : { headers: { "last-event-id": id } })

  it.effect.each<readonly [string | undefined, number]>([
    [undefined, 0],
    ["", 0],
    ["0", 0],
    ["17", 17],
    ["2000017", 2_000_017]
  ])("that has %s goes on after it", ([id, after]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* follow(id)).asked, { id: Domain.chatId, after })
    })
  )

  it.effect.each(["-1", "x", "1.5", "1e3", "9".repeat(16)])("that has %s is refused", (id) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* follow(id), refused("last-event-id: must be the id of an event"))
    })
  )
})

describe("credentials", () => {
  it.effect.each(["/v2/chats", "/v2/chats?limit=abc", "/v2/chats/not-a-uuid", "/v2/connectors", "/v2/models"])(
    "are asked for before anything else is looked at: %s",
    (path) =>
      Effect.gen(function* () {
        const answer = yield* send(path, { headers: { authorization: "Bearer other" } })
        assert.deepStrictEqual(answer, refused("Authentication required", 401, "unauthenticated"))
      })
  )

  it.effect.each(["/healthz", "/readyz", `/v2/assets/${Domain.assetId}?format=nonsense`])(
    "are not asked for by %s",
    (path) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* send(path, { headers: { authorization: "" } })).status, 200)
      })
  )
})
