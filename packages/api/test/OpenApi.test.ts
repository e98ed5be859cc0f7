import { Api } from "@castellan/api/Api"
import { AssetFormatWire, AssetWire } from "@castellan/api/asset/AssetWire"
import { AskRequest, ToolsWire } from "@castellan/api/chat/AskRequest"
import { CellWire } from "@castellan/api/chat/CellWire"
import * as StreamEvent from "@castellan/api/chat/ChatStreamEvent"
import * as ChatWire from "@castellan/api/chat/ChatWire"
import { ConnectorListWire, ConnectorWire } from "@castellan/api/connector/ConnectorWire"
import { ErrorEnvelope } from "@castellan/api/error/ErrorEnvelope"
import { ModelListWire, ModelWire } from "@castellan/api/model/ModelWire"
import { document } from "@castellan/api/openapi/OpenApiDocument"
import { HealthWire, ReadinessWire } from "@castellan/api/system/SystemGroup"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const packageFolder = join(import.meta.dirname, "..")

const AnyRecord = Schema.Record(Schema.String, Schema.Unknown)

const SchemaObject = Schema.StructWithRest(
  Schema.Struct({
    description: Schema.optionalKey(Schema.String),
    examples: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    properties: Schema.optionalKey(Schema.Record(Schema.String, AnyRecord)),
    required: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  [AnyRecord]
)

const Parameter = Schema.Struct({
  name: Schema.String,
  in: Schema.String,
  description: Schema.String,
  required: Schema.Boolean,
  schema: AnyRecord,
  example: Schema.Unknown
})

const MediaType = Schema.Struct({ schema: AnyRecord, example: Schema.optionalKey(Schema.Unknown) })

const Operation = Schema.Struct({
  operationId: Schema.String,
  tags: Schema.Array(Schema.String),
  summary: Schema.NonEmptyString,
  description: Schema.NonEmptyString,
  security: Schema.Array(AnyRecord),
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  requestBody: Schema.optionalKey(
    Schema.Struct({ required: Schema.Literal(true), content: Schema.Record(Schema.String, MediaType) })
  ),
  responses: Schema.Record(Schema.String, AnyRecord)
})

const Document = Schema.Struct({
  openapi: Schema.Literal("3.1.0"),
  tags: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String })),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({
    schemas: Schema.Record(Schema.String, SchemaObject),
    responses: Schema.Record(Schema.String, AnyRecord),
    headers: AnyRecord,
    securitySchemes: AnyRecord
  })
})

const decoded = Schema.decodeUnknownSync(Document)(document)
const { schemas } = decoded.components
const operations = Object.entries(decoded.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation }))
)

describe("the OpenAPI document", () => {
  it("is the one that is pinned: run `node scripts/openapi.ts` after a change of the contract", async () => {
    const pinned = await readFile(join(packageFolder, "openapi.json"), "utf8")
    assert.strictEqual(pinned, `${JSON.stringify(document, null, 2)}\n`)
  })

  it("has no fault that a linter finds", async () => {
    const cli = join(dirname(createRequire(import.meta.url).resolve("@redocly/cli/package.json")), "bin/cli.js")
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [cli, "lint", "--format=json", "--config=redocly.yaml", "openapi.json"],
      { cwd: packageFolder, env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_NOTIFICATIONS: "true" } }
    ).catch((failure: { readonly stdout: string }) => failure)
    const report = Schema.decodeUnknownSync(
      Schema.fromJsonString(
        Schema.Struct({
          totals: Schema.Struct({ errors: Schema.Int, warnings: Schema.Int }),
          problems: Schema.Array(Schema.Unknown)
        })
      )
    )(stdout)
    assert.deepStrictEqual(report.problems, [])
    assert.deepStrictEqual(report.totals, { errors: 0, warnings: 0 })
  })

  it("has every operation of the contract, by the names of the specification", () => {
    const names: Array<string> = []
    HttpApi.reflect(Api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => names.push(`${endpoint.method} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`)
    })
    const served = Object.fromEntries(operations.map(({ at, operation }) => [at, operation.operationId]))
    assert.sameMembers(Object.keys(served), names)
    assert.deepStrictEqual(served, {
      "POST /v2/chats": "createChat",
      "GET /v2/chats": "listChats",
      "POST /v2/chats/stream": "streamChat",
      "GET /v2/chats/{id}": "getChat",
      "GET /v2/chats/{id}/cells": "listCells",
      "GET /v2/chats/{id}/stream": "followChat",
      "POST /v2/chats/{id}/cancel": "cancelChat",
      "GET /v2/connectors": "listConnectors",
      "GET /v2/models": "listModels",
      "GET /v2/assets/{id}": "getAsset",
      "GET /healthz": "getHealth",
      "GET /readyz": "getReadiness"
    })
  })

  it("asks for a bearer value wherever the specification does", () => {
    const free = operations.filter(({ operation }) => operation.security.length === 0).map(({ at }) => at)
    assert.deepStrictEqual(free, ["GET /v2/assets/{id}", "GET /healthz", "GET /readyz"])
    for (const { operation } of operations) {
      if (operation.security.length > 0) assert.deepStrictEqual(operation.security, [{ bearer: [] }])
    }
  })

  it("has the errors that the specification names", () => {
    const statuses = Object.fromEntries(
      operations.map(({ at, operation }) => [at, Object.keys(operation.responses).filter((status) => status >= "400")])
    )
    assert.includeMembers(statuses["GET /v2/chats/{id}"] ?? [], ["401", "403", "404", "429", "500"])
    assert.includeMembers(statuses["GET /v2/chats"] ?? [], ["400", "401", "403", "429", "500"])
    assert.includeMembers(statuses["POST /v2/chats/stream"] ?? [], ["400", "401", "403", "404", "409", "429", "500"])
    assert.includeMembers(statuses["POST /v2/chats"] ?? [], [
      "400",
      "401",
      "403",
      "404",
      "409",
      "422",
      "429",
      "499",
      "500",
      "504"
    ])
    assert.deepStrictEqual(statuses["GET /healthz"], [])
    assert.deepStrictEqual(statuses["GET /readyz"], ["503"])
  })

  it("takes questions in both media types, and streams events", () => {
    for (const path of ["/v2/chats", "/v2/chats/stream"]) {
      const content = decoded.paths[path]?.["post"]?.requestBody?.content ?? {}
      assert.deepStrictEqual(Object.keys(content), ["application/json", "multipart/form-data"])
    }
    const streamed = { "text/event-stream": { schema: { $ref: "#/components/schemas/ChatStreamEvent" } } }
    assert.deepStrictEqual(decoded.paths["/v2/chats/stream"]?.["post"]?.responses["200"]?.["content"], streamed)
    assert.deepStrictEqual(decoded.paths["/v2/chats/{id}/stream"]?.["get"]?.responses["200"]?.["content"], streamed)
    assert.deepInclude(schemas["ChatStreamEvent"], {
      discriminator: {
        propertyName: "type",
        mapping: Object.fromEntries(
          ["metadata", "text", "cell", "asset", "done"].map((type) => [
            type,
            `#/components/schemas/${type[0]?.toUpperCase()}${type.slice(1)}Event`
          ])
        )
      }
    })
  })

  it("shows parameters as what they are", () => {
    const parameters = decoded.paths["/v2/chats"]?.["get"]?.parameters ?? []
    assert.deepStrictEqual(
      parameters.map(({ name, schema }) => [name, schema]),
      [
        ["limit", { type: "integer", minimum: 1, maximum: 100, default: 20 }],
        ["offset", { type: "integer", minimum: 0, maximum: 1_000_000, default: 0 }],
        ["search_term", { type: "string", minLength: 0, maxLength: 500 }],
        ["sort_by", { type: "string", enum: ["name", "created_at", "updated_at"], default: "updated_at" }],
        ["sort_direction", { type: "string", enum: ["asc", "desc"], default: "desc" }]
      ]
    )
    const [id] = decoded.paths["/v2/chats/{id}"]?.["get"]?.parameters ?? []
    assert.deepInclude(id, { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } })
  })
})

describe("what the OpenAPI document names", () => {
  it("has plain names", () => {
    for (const name of [...Object.keys(schemas), ...Object.keys(decoded.components.responses)]) {
      assert.match(name, /^[A-Z][A-Za-z]+$/)
      assert.notMatch(name, /Encoded$|Wire$/)
    }
  })

  it("has a description of every schema and every field, and an example of every schema", () => {
    for (const [name, schema] of Object.entries(schemas)) {
      assert.isNotEmpty(schema.description, name)
      assert.isNotEmpty(schema.examples, name)
      for (const [field, property] of Object.entries(schema.properties ?? {})) {
        const described = "description" in property || "$ref" in property || "contentSchema" in property
        assert.isTrue(described || name.endsWith("Error"), `${name}.${field}`)
      }
    }
  })

  it("has an example of every JSON body", () => {
    for (const { at, operation } of operations) {
      for (const { example } of Object.values(operation.requestBody?.content ?? {})) assert.isDefined(example, at)
      const content = Schema.decodeUnknownSync(
        Schema.Struct({ content: Schema.optionalKey(Schema.Record(Schema.String, MediaType)) })
      )(operation.responses["200"])
      const json = content.content?.["application/json"]
      if (json !== undefined && !at.includes("/assets/")) assert.isDefined(json.example, at)
    }
  })

  it("says nothing of how it was made, and does not forbid what may come", () => {
    const text = JSON.stringify(document)
    for (const word of ["x-effect", "additionalProperties", "allOf", "9007199254740991"]) assert.notInclude(text, word)
  })

  const wires: Readonly<Record<string, Schema.Codec<unknown, unknown>>> = {
    Answer: ChatWire.AnswerWire,
    AskRequest,
    Asset: AssetWire,
    AssetEvent: StreamEvent.AssetEvent,
    AssetFormat: AssetFormatWire,
    Cancellation: ChatWire.CancellationWire,
    Cell: CellWire,
    CellEvent: StreamEvent.CellEvent,
    CellList: ChatWire.CellListWire,
    Chat: ChatWire.ChatDetailWire,
    ChatList: ChatWire.ChatListWire,
    ChatMessage: ChatWire.ChatMessageWire,
    ChatStreamEvent: StreamEvent.ChatStreamEvent,
    ChatSummary: ChatWire.ChatSummaryWire,
    ChatView: ChatWire.ChatViewWire,
    Connector: ConnectorWire,
    ConnectorList: ConnectorListWire,
    DoneEvent: StreamEvent.DoneEvent,
    Health: HealthWire,
    MetadataEvent: StreamEvent.MetadataEvent,
    Model: ModelWire,
    ModelList: ModelListWire,
    Readiness: ReadinessWire,
    TextEvent: StreamEvent.TextEvent,
    Tools: ToolsWire,
    Usage: ChatWire.UsageWire
  }
  /** Shapes that other tests hold: the form has parts, not JSON, and a server that is not ready says so in one word. */
  const elsewhere = ["AskForm", "NotReady"]

  it.each(Object.keys(schemas))("has an example of %s that it would send or take", (name) => {
    const wire = name.endsWith("Error") ? ErrorEnvelope : wires[name]
    if (wire === undefined) {
      assert.include(elsewhere, name)
      return
    }
    const [example] = schemas[name]?.examples ?? []
    const value = Schema.decodeUnknownSync(wire)(example, { onExcessProperty: "error" })
    assert.deepStrictEqual(JSON.parse(JSON.stringify(Schema.encodeSync(wire)(value))), example)
  })
})
