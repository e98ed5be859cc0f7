import { ofAsset } from "@castellan/api/asset/AssetWire"
import { AssetWire } from "@castellan/api/asset/AssetWire"
import { CellWire, ofCell } from "@castellan/api/chat/CellWire"
import { ChatStreamEvent, ofRunEvent } from "@castellan/api/chat/ChatStreamEvent"
import * as ChatStreamFrame from "@castellan/api/chat/ChatStreamFrame"
import * as ChatWire from "@castellan/api/chat/ChatWire"
import { ConnectorWire, ofConnector } from "@castellan/api/connector/ConnectorWire"
import { ModelListWire, ofModels } from "@castellan/api/model/ModelWire"
import { Asset } from "@castellan/core/asset/Asset"
import { Cell, CellContent, CellStatus } from "@castellan/core/chat/Cell"
import { Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { Model, ModelNumber } from "@castellan/core/model/Model"
import { RunEvent, RunLogEntry } from "@castellan/core/run/RunEvent"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import * as Domain from "./fixture/Domain.ts"

/** What a client receives: the value encoded, written as JSON and read again. */
const received = <A, E>(schema: Schema.Codec<A, E>, value: A): unknown =>
  JSON.parse(JSON.stringify(Schema.encodeSync(schema)(value)))

const chartJson = {
  id: Domain.assetId,
  name: "Flights by carrier",
  type: "chart",
  url: `https://example.test/${Domain.assetId}.png?signed`,
  formats: [
    { format: "png", media_type: "image/png", url: `https://example.test/${Domain.assetId}.png?signed` },
    { format: "svg", media_type: "image/svg+xml", url: `https://example.test/${Domain.assetId}.svg?signed` }
  ],
  cell_id: Domain.queryCellId,
  message_cell_id: Domain.messageCellId,
  created_at: "2026-03-02T09:30:00.480Z"
}

const runningJson = {
  id: Domain.queryCellId,
  type: "ontology_query",
  status: "running",
  created_at: "2026-03-02T09:30:00.120Z",
  title: "Flights by carrier",
  query: "run: flights -> {}",
  connector_id: 1
}

const completedJson = {
  ...runningJson,
  status: "completed",
  code: "SELECT 1",
  output: ["3 rows"],
  dataframe_preview: "| carrier |",
  execution_time_ms: 41,
  assets: [Domain.assetId]
}

describe("events of the stream", () => {
  const expected = [
    {
      type: "metadata",
      id: Domain.messageCellId,
      created_at: "2026-03-02T09:30:00.000Z",
      model: "offline/analyst-1",
      chat_id: Domain.chatId,
      is_continuation: false
    },
    { type: "text", text: "Southwest – 南西 ✈️\nflew" },
    { type: "cell", cell: runningJson },
    { type: "cell", cell: completedJson },
    { type: "asset", asset: chartJson },
    { type: "done", status: "completed" }
  ]

  it("have the shape of the specification", () => {
    const actual = Domain.events.map((event) => received(ChatStreamEvent, ofRunEvent(event, Domain.sign)))
    assert.deepStrictEqual(actual, expected)
  })

  it("say why a run failed", () => {
    const event = RunEvent.cases.Done.make({ status: "failed", error: "cancelled" })
    assert.deepStrictEqual(received(ChatStreamEvent, ofRunEvent(event, Domain.sign)), {
      type: "done",
      status: "failed",
      error: "cancelled"
    })
  })

  it("are frames with an id and one line of data", () => {
    const [, text] = Domain.events
    assert.isDefined(text)
    if (text === undefined) return
    const frame = ChatStreamFrame.encode(new RunLogEntry({ sequence: 2, event: text }), Domain.sign)
    assert.strictEqual(frame, `id: 2\ndata: ${JSON.stringify(expected[1])}\n\n`)
  })

  it.prop("survive the wire, whatever they hold", [RunLogEntry], ([entry]) => {
    const event = ofRunEvent(entry.event, Domain.sign)
    const frame = ChatStreamFrame.encode(entry, Domain.sign)
    const [, data] = /^id: \d+\ndata: ([^\r\n]*)\n\n$/.exec(frame) ?? []
    assert.isDefined(data, frame)
    assert.deepStrictEqual(JSON.parse(data ?? ""), received(ChatStreamEvent, event))
    assert.deepStrictEqual(Schema.decodeUnknownSync(ChatStreamEvent)(JSON.parse(data ?? "")), event)
  })
})

describe("cells", () => {
  const cell = (content: CellContent, status: CellStatus = CellStatus.cases.Running.make({})) =>
    received(CellWire, ofCell(new Cell({ ...Domain.runningCell, content, status })))

  it("have the type of what they do", () => {
    const { Markdown, OntologyQuery, Sql, Tool } = CellContent.cases
    const types = [
      Markdown.make({ role: "user", content: "Why?" }),
      Sql.make({ query: "SELECT 1" }),
      OntologyQuery.make({ query: "run: a -> b" }),
      ...["python", "bash", "web_search", "bi_a", "bi_b", "file_storage", "make_chart"].map((toolName) =>
        Tool.make({ toolName, input: "{}" })
      )
    ].map((content) => Schema.decodeUnknownSync(CellWire)(cell(content)).type)
    assert.deepStrictEqual(types, [
      "markdown",
      "sql",
      "ontology_query",
      "python",
      "bash",
      "web_search",
      "bi_a",
      "bi_b",
      "file_storage",
      "mcp_tool"
    ])
  })

  it("of a message have its words", () => {
    assert.deepInclude(cell(CellContent.cases.Markdown.make({ role: "assistant", content: "**Yes**" })), {
      role: "assistant",
      content: "**Yes**"
    })
  })

  it("of a tool name it and show its input", () => {
    assert.deepInclude(cell(CellContent.cases.Tool.make({ toolName: "make_chart", input: '{"name":"a"}' })), {
      type: "mcp_tool",
      tool_name: "make_chart",
      code: '{"name":"a"}'
    })
  })

  it("that failed say why, and those that were stopped say so", () => {
    const content = CellContent.cases.Sql.make({ query: "SELECT nope" })
    const endedAt = Domain.at(150)
    assert.deepInclude(cell(content, CellStatus.cases.Failed.make({ endedAt, error: "no such column" })), {
      status: "failed",
      error: "no such column",
      execution_time_ms: 30
    })
    assert.deepInclude(cell(content, CellStatus.cases.Halted.make({ endedAt })), {
      status: "halted",
      execution_time_ms: 30
    })
  })

  it("never took less than no time, though clocks are set back", () => {
    const status = CellStatus.cases.Completed.make({ endedAt: Domain.at(0) })
    assert.deepInclude(cell(CellContent.cases.Sql.make({ query: "SELECT 1" }), status), { execution_time_ms: 0 })
  })

  it.prop("survive the wire", [Cell], ([value]) => {
    const wire = ofCell(value)
    assert.deepStrictEqual(Schema.decodeUnknownSync(CellWire)(received(CellWire, wire)), wire)
  })
})

describe("assets", () => {
  it("that can be fetched have an address for each format", () => {
    assert.deepStrictEqual(received(AssetWire, ofAsset(Domain.chart, Domain.sign)), chartJson)
  })

  it("that are their text have none", () => {
    const json = received(AssetWire, ofAsset(Domain.note, Domain.sign))
    assert.deepInclude(json, { type: "text", content: "*Sic.*", formats: [] })
    assert.notProperty(json, "url")
  })

  it.prop("survive the wire", [Asset], ([value]) => {
    const wire = ofAsset(value, Domain.sign)
    assert.deepStrictEqual(Schema.decodeUnknownSync(AssetWire)(received(AssetWire, wire)), wire)
  })
})

describe("chats", () => {
  it("on a list are summaries", () => {
    const page = { chats: [{ chat: Domain.chat, creatorEmail: "ada@example.com" }], totalCount: 41 }
    assert.deepStrictEqual(received(ChatWire.ChatListWire, ChatWire.ofPage(page)), {
      chats: [
        {
          id: Domain.chatId,
          summary: "Which carriers flew the most?",
          timestamp: "2026-03-02T09:30:00.000Z",
          updated_at: "2026-03-02T09:30:00.480Z",
          creator_email: "ada@example.com",
          preview: "Which carriers flew the most?",
          source: "api",
          model: "offline/analyst-1",
          is_running: true
        }
      ],
      total_count: 41
    })
  })

  it("in full have messages and assets; only the assistant's messages have assets of their own", () => {
    const message = { createdAt: Domain.at(0), content: "Why?" }
    const view = ChatWire.ofView(
      {
        chat: Domain.chat,
        transcript: {
          messages: [
            { ...message, role: "user", cellId: Domain.questionCellId, assets: [] },
            { ...message, role: "assistant", cellId: Domain.messageCellId, assets: [Domain.chart] }
          ],
          cells: [],
          assets: [Domain.chart]
        },
        usage: { inputTokens: 10, outputTokens: 4, toolCalls: 1 }
      },
      Domain.sign
    )
    assert.deepStrictEqual(received(ChatWire.ChatViewWire, view), {
      chat: {
        id: Domain.chatId,
        model: "offline/analyst-1",
        summary: "Which carriers flew the most?",
        is_running: true,
        usage: { input_tokens: 10, output_tokens: 4, tool_calls: 1 }
      },
      messages: [
        { role: "user", content: "Why?", created_at: "2026-03-02T09:30:00.000Z", cell_id: Domain.questionCellId },
        {
          role: "assistant",
          content: "Why?",
          created_at: "2026-03-02T09:30:00.000Z",
          cell_id: Domain.messageCellId,
          assets: [chartJson]
        }
      ],
      assets: [chartJson]
    })
  })

  it("answer with the message", () => {
    const answer = ChatWire.ofAnswer(
      {
        id: Domain.messageCellId,
        createdAt: Domain.at(0),
        model: Domain.model,
        response: "**Southwest**",
        chatId: Domain.chatId,
        assets: [Domain.chart]
      },
      Domain.sign
    )
    assert.deepStrictEqual(received(ChatWire.AnswerWire, answer), {
      id: Domain.messageCellId,
      created_at: "2026-03-02T09:30:00.000Z",
      model: "offline/analyst-1",
      response: "**Southwest**",
      chat_id: Domain.chatId,
      assets: [chartJson]
    })
  })

  it("show their cells", () => {
    const page = ChatWire.ofCells(Domain.chatId, { cells: [Domain.completedCell], hasMore: true })
    assert.deepStrictEqual(received(ChatWire.CellListWire, page), {
      chat_id: Domain.chatId,
      cells: [completedJson],
      has_more: true
    })
  })

  for (const [name, schema] of Object.entries({
    ChatListWire: ChatWire.ChatListWire,
    ChatViewWire: ChatWire.ChatViewWire,
    AnswerWire: ChatWire.AnswerWire,
    CellListWire: ChatWire.CellListWire,
    CancellationWire: ChatWire.CancellationWire
  })) {
    it.effect.prop(`${name} survives the wire`, [schema], ([value]) =>
      Effect.sync(() => {
        const codec: Schema.Codec<typeof value, unknown> = schema
        assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(received(codec, value)), value)
      })
    )
  }
})

describe("connectors and models", () => {
  it("say nothing of where data are", () => {
    const connector = new Connector({
      id: ConnectorId.make(3),
      organizationId: Domain.organizationId,
      name: ConnectorName.make("flights"),
      source: ConnectorSource.cases.Files.make({ folder: "/srv/secret" }),
      createdAt: Domain.at(0)
    })
    assert.deepStrictEqual(received(ConnectorWire, ofConnector(connector)), {
      id: 3,
      name: "flights",
      type: "files",
      created_at: "2026-03-02T09:30:00.000Z"
    })
  })

  it("name models by text and by number", () => {
    const choosable = new Model({
      id: Domain.model,
      number: ModelNumber.make(2),
      provider: "offline",
      name: "Offline analyst",
      supportsFastMode: false
    })
    assert.deepStrictEqual(received(ModelListWire, ofModels([{ model: choosable, isDefault: true }])), {
      models: [
        {
          id: "offline/analyst-1",
          model_id: 2,
          provider: "offline",
          name: "Offline analyst",
          supports_fast_mode: false,
          default: true
        }
      ]
    })
  })
})

describe("scalars", () => {
  const decode = Schema.decodeUnknownSync(ChatWire.ChatDetailWire.fields.id)

  it("read UUIDs in any case, and write them in lower case", () => {
    const id = decode(Domain.chatId.toUpperCase())
    assert.strictEqual(id, Domain.chatId)
    assert.strictEqual(Schema.encodeSync(ChatWire.ChatDetailWire.fields.id)(id), Domain.chatId)
  })

  it("write moments with milliseconds, though they are none", () => {
    const { created_at: moment } = ChatWire.AnswerWire.fields
    assert.strictEqual(Schema.encodeSync(moment)(DateTime.makeUnsafe(0)), "1970-01-01T00:00:00.000Z")
  })
})
