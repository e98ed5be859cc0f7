import { document } from "@castellan/api/openapi/OpenApiDocument"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { decoded, named, operations as contract } from "./fixture/Contract.ts"

const packageFolder = join(import.meta.dirname, "..")

const SchemaObject = Schema.StructWithRest(
  Schema.Struct({
    description: Schema.optionalKey(Schema.String),
    examples: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown)))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

const schemas = Schema.decodeUnknownSync(Schema.Record(Schema.String, SchemaObject))(decoded.components.schemas)
const operations = Object.entries(decoded.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation }))
)

/** Every operation of api-v2.md and decisions.md, and the system's own. */
const specified = `
GET,POST /v2/chats
POST /v2/chats/stream
GET,PATCH,DELETE /v2/chats/{id}
GET /v2/chats/{id}/cells
GET /v2/chats/{id}/cells/{cell_id}
POST /v2/chats/{id}/cancel
GET /v2/chats/{id}/stream
POST /v2/chats/{id}/feedback
GET /v2/assets/{id}
GET,POST /v2/connectors
GET /v2/connectors/types
POST /v2/connectors/test
PATCH,DELETE /v2/connectors/{id}
GET,PUT /v2/connectors/{id}/row-policies
GET /v2/models
GET,POST /v2/playbooks
GET,PATCH,DELETE /v2/playbooks/{id}
POST /v2/playbooks/{id}/deploy
POST /v2/playbooks/{id}/undeploy
POST /v2/playbooks/{id}/run
GET /v2/playbooks/{id}/runs
GET,POST /v2/sandcastles
GET,DELETE /v2/sandcastles/{id}
POST /v2/sandcastles/{id}/execute
POST /v2/sandcastles/{id}/exec
POST /v2/sandcastles/{id}/query
POST /v2/sandcastles/{id}/interrupt
GET,POST /v2/sandcastles/{id}/files
GET,DELETE /v2/sandcastles/{id}/files/{path}
GET /v2/sandcastles/{id}/executions
GET /v2/sandcastles/{id}/library/diff
POST /v2/sandcastles/{id}/library/changes
GET /v2/changes
GET /v2/changes/{id}
POST /v2/changes/{id}/approve
POST /v2/changes/{id}/deny
POST /v2/changes/{id}/restore
POST /v2/changes/{id}/submit
GET,PUT,DELETE /v2/folder-policies
GET,POST /v2/agents
GET,PATCH,DELETE /v2/agents/{id}
GET,POST /v2/agents/{id}/triggers
DELETE /v2/agents/{id}/triggers/{trigger_id}
GET /v2/agents/{id}/runs
POST /v1/agents/webhook/trigger
GET,POST /v2/apps
GET,PATCH,DELETE /v2/apps/{id}
GET,PUT /v2/chats/{id}/access
GET,PUT /v2/playbooks/{id}/access
GET,PUT /v2/agents/{id}/access
GET,PUT /v2/connectors/{id}/access
GET,PUT /v2/apps/{id}/access
GET,POST /v2/api-keys
DELETE /v2/api-keys/{id}
POST /v2/api-keys/{id}/rotate
POST /v2/sessions
GET,POST /v2/roles
GET,PATCH,DELETE /v2/roles/{id}
GET,PUT /v2/roles/{id}/permissions
GET /v2/members
POST /v2/members/invite
POST /v2/members/service-accounts
DELETE /v2/members/{id}
GET,POST /v2/members/{id}/roles
DELETE /v2/members/{id}/roles/{roleId}
GET,PATCH /v2/organization
GET /v2/usage
GET,PUT /v2/budgets
GET /v2/audit-events
POST /svc.rpc.public.app.AppService/GetApp
POST /svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings
POST /rpc/public/svc.rpc.public.app.AppService/GetApp
POST /rpc/public/svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings
GET /healthz
GET /readyz
`
  .trim()
  .split("\n")
  .flatMap((line) => {
    const [methods = "", path = ""] = line.split(" ")
    return methods.split(",").map((method) => `${method} ${path}`)
  })

/** What makes something, and says so. Source: decisions.md §1 ("which is 201"). */
const creating = new Set([
  "POST /v2/playbooks",
  "POST /v2/api-keys",
  "POST /v2/sandcastles",
  "POST /v2/sandcastles/{id}/library/changes",
  "POST /v2/sandcastles/{id}/files",
  "POST /v2/roles",
  "POST /v2/connectors",
  "POST /v2/agents",
  "POST /v2/agents/{id}/triggers",
  "POST /v2/apps",
  "POST /v2/sessions",
  "POST /v2/members/service-accounts"
])

describe("the OpenAPI document", () => {
  it("is the one that is pinned: run `node scripts/openapi.ts` after a change of the contract", async () => {
    const pinned = await readFile(join(packageFolder, "openapi.json"), "utf8")
    assert.strictEqual(pinned, `${JSON.stringify(document, null, 2)}\n`)
  })

  it("has no fault that a linter finds", { timeout: 300_000 }, async () => {
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

  it("has every operation of the specification, each under a name of its own", () => {
    assert.sameMembers(
      operations.map(({ at }) => at),
      specified
    )
    assert.strictEqual(contract.length, specified.length)
    const names = operations.map(({ operation }) => operation.operationId)
    assert.strictEqual(new Set(names).size, names.length)
    for (const name of names) assert.match(name, /^[a-z][A-Za-z]+$/)
  })

  it("answers 201 where something is made, and 200 elsewhere", () => {
    for (const { at, operation } of operations) {
      const success = Object.keys(operation.responses).filter((status) => status < "400")
      assert.deepStrictEqual(success, [creating.has(at) ? "201" : "200"], at)
    }
  })

  it("asks for the credential that the specification names", () => {
    const free = operations.filter(({ operation }) => operation.security.length === 0).map(({ at }) => at)
    assert.deepStrictEqual(free, ["GET /v2/assets/{id}", "GET /healthz", "GET /readyz"])
    for (const { at, operation } of operations) {
      if (operation.security.length === 0) continue
      assert.deepStrictEqual(operation.security, [at.includes("/svc.rpc.") ? { svc_api_key: [] } : { bearer: [] }], at)
    }
    assert.deepInclude(decoded.components.securitySchemes["svc_api_key"], {
      type: "apiKey",
      in: "header",
      name: "svc_api_key"
    })
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
    /** The errors of api-v2.md "Endpoints", word for word. */
    const worded: ReadonlyArray<readonly [string, string]> = [
      ["POST /v2/playbooks", "401 403 429 500"],
      ["PATCH /v2/playbooks/{id}", "400 401 403 404 429 500"],
      ["POST /v2/playbooks/{id}/deploy", "401 403 404 429 500"],
      ["POST /v2/playbooks/{id}/run", "400 401 403 404 422 429 500 504"],
      ["PATCH /v2/roles/{id}", "400 401 403 404 429 500"],
      ["POST /v2/api-keys", "400 401 403 429 500"],
      ["GET /v2/sandcastles/{id}/executions", "400 401 403 404 429 500"],
      ["POST /v2/sandcastles/{id}/library/changes", "400 401 403 404 409 429 500"],
      ["POST /v2/changes/{id}/approve", "400 401 403 404 409 429 500"],
      ["POST /v2/changes/{id}/deny", "400 401 403 404 409 429 500"],
      ["POST /v1/agents/webhook/trigger", "400 401 403 404 429 500 504"],
      ["GET /v2/sandcastles/{id}/files/{path}", "400 401 403 404 429 500"],
      ["DELETE /v2/folder-policies", "400 401 403 404 429 500"]
    ]
    for (const [at, expected] of worded) assert.includeMembers(statuses[at] ?? [], expected.split(" "), at)
    for (const { at, operation } of operations) {
      const answers = statuses[at] ?? []
      if (operation.security.length > 0) assert.includeMembers(answers, ["401", "429", "500"], at)
      if (at.includes("{id}")) assert.include(answers, "404", at)
      const takesJson = operation.requestBody?.content["application/json"] !== undefined
      if (takesJson && at.includes(" /v2/")) assert.includeMembers(answers, ["400", "413", "415"], at)
    }
    assert.deepStrictEqual(statuses["GET /healthz"], [])
    assert.deepStrictEqual(statuses["GET /readyz"], ["503"])
  })

  it("has the Connect protocol's body for the errors of its operations, and the envelope for all others", () => {
    for (const { at, operation } of operations) {
      const speaksConnect = !at.includes(" /v2/")
      for (const [status, { $ref }] of Object.entries(operation.responses)) {
        if (status < "400" || at.endsWith("z")) continue
        assert.strictEqual($ref?.startsWith("#/components/responses/Connect"), speaksConnect, `${at} ${status}`)
      }
    }
  })

  it("tells of idempotency wherever something is posted", () => {
    for (const { at, operation } of operations) {
      const takesKey = (operation.parameters ?? []).some(({ name }) => name === "Idempotency-Key")
      assert.strictEqual(takesKey, at.startsWith("POST /v2/"), at)
      if (takesKey) assert.include(Object.keys(operation.responses), "409", at)
    }
  })

  it("tells callers of the rate limit, and that the storage may be away", () => {
    for (const { at, operation } of operations) {
      const isCounted = (operation.security ?? []).length > 0
      assert.strictEqual(operation.responses["503"]?.$ref?.endsWith("ServiceUnavailable") === true, isCounted, at)
      const [answer] = Object.entries(operation.responses).flatMap(([status, one]) => (status < "300" ? [one] : []))
      assert.strictEqual("RateLimit" in (answer?.headers ?? {}), isCounted, at)
      assert.strictEqual("RateLimit-Policy" in (answer?.headers ?? {}), isCounted, at)
    }
  })

  it("lets a body be left out where every field of it may be", () => {
    const optional = operations.filter(({ operation }) => operation.requestBody?.required === false)
    assert.deepStrictEqual(
      optional.map(({ at }) => at),
      ["POST /v2/playbooks/{id}/run", "POST /v2/sandcastles", "POST /v2/api-keys/{id}/rotate"]
    )
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

  it("has an example of every JSON body, and of every parameter", () => {
    for (const { at, operation } of operations) {
      for (const { example } of Object.values(operation.requestBody?.content ?? {})) assert.isDefined(example, at)
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const json = content?.["application/json"]
        if (json !== undefined && !at.includes("/assets/")) assert.isDefined(json.example, `${at} ${status}`)
      }
    }
  })

  it("says nothing of how it was made, and does not forbid what may come", () => {
    const text = JSON.stringify(document)
    for (const word of ["x-effect", '"additionalProperties":false', "allOf"]) assert.notInclude(text, word)
  })

  /** Forms have parts, not JSON: other tests hold them. */
  const forms = ["AskForm", "UploadForm"]

  it.each(Object.keys(schemas))("has an example of %s that it would send or take", (name) => {
    const wire = named.get(name)
    if (forms.includes(name) || wire === undefined) {
      assert.include(forms, name)
      return
    }
    const [example] = schemas[name]?.examples ?? []
    const value = Schema.decodeUnknownSync(wire)(example, { onExcessProperty: "error" })
    assert.deepStrictEqual(JSON.parse(JSON.stringify(Schema.encodeSync(wire)(value))), example)
  })
})
