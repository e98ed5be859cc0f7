/**
 * The operations of the Connect protocol: the bodies and statuses of their errors, their headers, and their credentials.
 */
import { Internal } from "@castellan/api/error/ErrorEnvelope"
import { InternalConnect } from "@castellan/api/rpc/ConnectError"
import * as ConnectError from "@castellan/api/rpc/ConnectError"
import * as ConnectProtocol from "@castellan/api/rpc/ConnectProtocol"
import { TriggerAgentRequest } from "@castellan/api/rpc/RpcWire"
import { PublicRpcGroup, RpcGroup } from "@castellan/api/rpc/RpcGroup"
import { WebhookGroup } from "@castellan/api/rpc/WebhookGroup"
import { AgentRunId } from "@castellan/core/agent/AgentRun"
import { CurrentPrincipal, Principal } from "@castellan/core/access/Principal"
import { AppId } from "@castellan/core/app/App"
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import * as Failure from "@castellan/core/error/Failure"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted, Result, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import * as Domain from "./fixture/Domain.ts"

const Api = HttpApi.make("castellan").add(WebhookGroup, RpcGroup, PublicRpcGroup)

const principal = new Principal({
  organizationId: Domain.organizationId,
  memberId: Domain.memberId,
  roles: [],
  restricted: false,
  credential: { _tag: "ApiKey", id: ApiKeyId.make("01980c5e-0000-7000-8000-0000000000ff"), rotatedFrom: [] }
})

const identify = <A, E, R>(credential: Redacted.Redacted<string>, effect: Effect.Effect<A, E, R>) =>
  Redacted.value(credential) === "key"
    ? Effect.provideService(effect, CurrentPrincipal, principal)
    : Effect.fail(new Failure.Unauthenticated({ message: "invalid API key format" }))

const runId = AgentRunId.make("01980c70-3c00-7b20-9d00-2a3b4c5d6e12")
const triggerId = "01980c70-3c00-7b20-9d00-2a3b4c5d6e11"

type TriggerFailure = Failure.PermissionDenied | Failure.NotFound | Failure.Conflict | Failure.TimedOut

/** A service whose webhook fails as it is told, or queues a run. */
const serve = (failure?: TriggerFailure) => {
  const app = {
    app: {
      appId: AppId.make("01980c70-3c00-7b20-9d00-2a3b4c5d6e20"),
      name: "Carriers",
      description: "",
      createdAt: DateTime.makeUnsafe("2026-03-02T09:30:00Z"),
      updatedAt: DateTime.makeUnsafe("2026-03-02T09:30:00Z")
    }
  }
  const Handlers = Layer.mergeAll(
    HttpApiBuilder.group(Api, "webhook", (handlers) =>
      handlers.handle("trigger", () =>
        failure === undefined ? Effect.succeed({ status: "queued" as const, runId }) : Effect.fail(failure)
      )
    ),
    HttpApiBuilder.group(Api, "rpc", (handlers) =>
      handlers.handleAll({
        getApp: () => Effect.succeed(app),
        migrateScimGroupMappings: () => Effect.succeed({ migratedMappingCount: 3 })
      })
    ),
    HttpApiBuilder.group(Api, "publicRpc", (handlers) =>
      handlers.handleAll({
        getApp: () => Effect.succeed(app),
        migrateScimGroupMappings: () => Effect.succeed({ migratedMappingCount: 3 })
      })
    )
  )
  const Routes = HttpApiBuilder.layer(Api).pipe(
    Layer.provide(Handlers),
    Layer.provide([
      Layer.succeed(ConnectProtocol.WebhookAuthentication, {
        bearer: (effect, { credential }) => identify(credential, effect)
      }),
      Layer.succeed(ConnectProtocol.RpcAuthentication, {
        svc_api_key: (effect, { credential }) => identify(credential, effect)
      }),
      HttpApiMiddleware.layerSchemaErrorTransform(ConnectProtocol.ConnectSchemaErrors, (error) =>
        Effect.fail(ConnectProtocol.refusal(error) ?? new Internal({ message: "Internal server error" }))
      )
    ]),
    Layer.provide(HttpServer.layerServices)
  )
  return Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => HttpRouter.toWebHandler(Routes, { disableLogger: true })),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) => handler
  )
}

const webhook = "/v1/agents/webhook/trigger"
const getApp = "/svc.rpc.public.app.AppService/GetApp"
const migrate = "/svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings"
const webhookHeaders = { authorization: "Bearer key", "connect-protocol-version": "1" }
const rpcHeaders = { svc_api_key: "key", "connect-protocol-version": "1" }

const send = Effect.fnUntraced(function* (
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  failure?: TriggerFailure
) {
  const handler = yield* serve(failure)
  const response = yield* Effect.promise(() =>
    handler(
      new Request(`http://castellan.test${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body)
      })
    )
  )
  return { status: response.status, body: yield* Effect.promise(() => response.json()) }
})

describe("an operation of the Connect protocol", () => {
  it.effect("answers in the protocol's terms", () =>
    Effect.gen(function* () {
      const payload = { incident: "INC-4711" }
      assert.deepStrictEqual(yield* send(webhook, { triggerId, payload }, webhookHeaders), {
        status: 200,
        body: { status: "queued", runId }
      })
      for (const prefix of ["", "/rpc/public"]) {
        const app = yield* send(`${prefix}${getApp}`, { appId: "01980c70-3c00-7b20-9d00-2a3b4c5d6e20" }, rpcHeaders)
        assert.strictEqual(app.status, 200)
        assert.deepNestedInclude(app.body, { "app.name": "Carriers", "app.createdAt": "2026-03-02T09:30:00.000Z" })
        assert.deepStrictEqual(yield* send(`${prefix}${migrate}`, {}, rpcHeaders), {
          status: 200,
          body: { migratedMappingCount: 3 }
        })
      }
    })
  )

  const message = "why – 南西"
  it.effect.each<readonly [TriggerFailure, number, string]>([
    [new Failure.PermissionDenied({ message }), 403, "permission_denied"],
    [new Failure.NotFound({ message }), 404, "not_found"],
    [new Failure.Conflict({ message }), 400, "failed_precondition"],
    [new Failure.TimedOut({ message }), 504, "deadline_exceeded"]
  ])("fails with %s in the protocol's body", ([failure, status, code]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* send(webhook, { triggerId }, webhookHeaders, failure), {
        status,
        body: { code, message, details: [] }
      })
    })
  )

  const tooLarge = { text: "x".repeat(16_384 - '{"text":""}'.length + 1) }
  const nested = (lists: number): unknown => ({ a: JSON.parse(`${"[".repeat(lists)}${"]".repeat(lists)}`) })
  const { "connect-protocol-version": _, ...withoutVersion } = webhookHeaders
  it.effect.each<readonly [string, unknown, Readonly<Record<string, string>>, string]>([
    ["without its version", { triggerId }, withoutVersion, "connect-protocol-version: "],
    ["of another version", { triggerId }, { ...webhookHeaders, "connect-protocol-version": "2" }, "connect-protocol-"],
    [
      "with a time limit of 11 digits",
      { triggerId },
      { ...webhookHeaders, "connect-timeout-ms": "12345678901" },
      "connect-timeout-ms: must be a number of milliseconds, of at most 10 digits"
    ],
    ["without a trigger", {}, webhookHeaders, "triggerId: is missing"],
    ["with a trigger that is none", { triggerId: "7" }, webhookHeaders, "triggerId: must be a UUID"],
    ["with a list as its payload", { triggerId, payload: [] }, webhookHeaders, "payload: must be a JSON object"],
    [
      "with a payload of a byte too many",
      { triggerId, payload: tooLarge },
      webhookHeaders,
      "payload: must be at most 16,384 bytes as JSON"
    ],
    [
      "with a payload in which more than 256 things lie in one another",
      { triggerId, payload: nested(256) },
      webhookHeaders,
      "payload: must not be nested more than 256 deep"
    ]
  ])("%s is an invalid argument", ([, body, headers, expected]) =>
    Effect.gen(function* () {
      const answer = yield* send(webhook, body, headers)
      assert.strictEqual(answer.status, 400)
      assert.deepInclude(answer.body, { code: "invalid_argument", details: [] })
      assert.isTrue(String(Reflect.get(answer.body, "message")).startsWith(expected), JSON.stringify(answer.body))
    })
  )

  it.effect("takes a payload of 16,384 bytes, and counts bytes rather than characters", () =>
    Effect.gen(function* () {
      const largest = { text: "x".repeat(16_384 - '{"text":""}'.length) }
      assert.strictEqual((yield* send(webhook, { triggerId, payload: largest }, webhookHeaders)).status, 200)
      const wide = { text: "é".repeat(8_187) }
      assert.strictEqual((yield* send(webhook, { triggerId, payload: wide }, webhookHeaders)).status, 400)
    })
  )

  it.each([300, 20_000, 400_000])("refuses a payload of %d lists in one another, however deep", (lists) => {
    const decoded = Schema.decodeUnknownResult(TriggerAgentRequest)({ triggerId, payload: nested(lists) })
    assert.isTrue(Result.isFailure(decoded))
  })

  it.effect("asks for its own credential", () =>
    Effect.gen(function* () {
      const unauthenticated = {
        status: 401,
        body: { code: "unauthenticated", message: "invalid API key format", details: [] }
      }
      assert.deepStrictEqual(yield* send(webhook, { triggerId }, rpcHeaders), unauthenticated)
      assert.deepStrictEqual(yield* send(migrate, {}, webhookHeaders), unauthenticated)
    })
  )
})

describe("Connect's codes", () => {
  it("have the statuses of the protocol", () => {
    assert.deepStrictEqual(ConnectError.connectStatus, {
      canceled: 499,
      unknown: 500,
      invalid_argument: 400,
      deadline_exceeded: 504,
      not_found: 404,
      already_exists: 409,
      permission_denied: 403,
      resource_exhausted: 429,
      failed_precondition: 400,
      aborted: 409,
      out_of_range: 400,
      unimplemented: 501,
      internal: 500,
      unavailable: 503,
      data_loss: 500,
      unauthenticated: 401
    })
  })

  it("stand for every code of ours", () => {
    for (const code of Failure.ErrorCode.literals) {
      const body = ConnectError.connectBody(code, "why")
      assert.deepStrictEqual(body, { code: ConnectError.connectCode[code], message: "why", details: [] })
      assert.strictEqual(ConnectError.statusOf(code), ConnectError.connectStatus[body.code])
    }
  })

  it("never tell a cause", () => {
    const sent = Schema.encodeSync(InternalConnect)(new Internal({ message: "Internal server error" }))
    assert.deepStrictEqual(sent, { code: "internal", message: "Internal server error", details: [] })
  })
})
