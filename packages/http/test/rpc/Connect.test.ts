/**
 * The operations of the Connect protocol, with the protocol's own client and without one. The cases of unary JSON are
 * those that the protocol's conformance suite has for servers, as far as these operations can show them.
 */
import { type DescMethodUnary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf"
import { Code, ConnectError } from "@connectrpc/connect"
import { compressionGzip, createConnectTransport } from "@connectrpc/connect-node"
import { AppId } from "@castellan/core/app/App"
import { Apps } from "@castellan/core/app/Apps"
import * as Failure from "@castellan/core/error/Failure"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { ScimGroupMapping, ScimGroupMappingId, ScimGroupTarget } from "@castellan/core/scim/ScimGroupMapping"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import * as NodeServer from "@castellan/http/server/NodeServer"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Latch, Layer, Redacted } from "effect"
import { withAssets } from "../support/ChatWithAssets.ts"
import { json, keyOf } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"
import * as Protos from "./Protos.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

/** How the client differs from one that sends JSON as it is. */
interface Transport {
  readonly useBinaryFormat?: boolean
  readonly sendCompression?: typeof compressionGzip
  readonly compressMinBytes?: number
}

/** What is sent beside a call. */
interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  /** Where the service is said to be, below the server's address. */
  readonly below?: string
  readonly transport?: Transport
}

/** Calls an operation as Connect's own client does; fails as the client does. */
const call = (
  method: DescMethodUnary,
  request: JsonValue,
  { below = "", headers = {}, transport = {} }: Asked = {}
): Effect.Effect<JsonValue, ConnectError, Site.Site> =>
  Effect.flatMap(Site.Site, ({ url }) =>
    Effect.tryPromise({
      try: async (signal) => {
        const client = createConnectTransport({
          baseUrl: `${url}${below}`,
          httpVersion: "1.1",
          useBinaryFormat: false,
          ...transport
        })
        const input = fromJson(method.input, request)
        const { message } = await client.unary(method, signal, undefined, headers, input)
        return toJson(method.output, message)
      },
      catch: (error) => ConnectError.from(error)
    })
  )

/** The code that a call fails with, by its name. */
const codeOf = (...asked: Parameters<typeof call>) =>
  Effect.map(Effect.flip(call(...asked)), ({ code, rawMessage }) => [Code[code], rawMessage] as const)

const webhookPath = "/v1/agents/webhook/trigger"
const getAppPath = "/svc.rpc.public.app.AppService/GetApp"
const migratePath = "/svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings"

/** Sends a call without a client. */
const send = Effect.fnUntraced(function* (
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method = "POST"
) {
  const { key } = yield* Site.Site
  const reply = yield* Site.post(path, body, {
    method,
    headers: { "connect-protocol-version": "1", svc_api_key: key, ...headers }
  })
  assert.strictEqual(reply.headers["content-type"], "application/json", reply.text)
  assert.match(reply.headers["x-request-id"] ?? "", /./)
  return { status: reply.status, headers: reply.headers, body: JSON.parse(reply.text) }
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("Connect's own client", (it) => {
  const below = ["", "/rpc/public"]

  it.effect("gets an app, at either path, as its owner and as nobody else", () =>
    Effect.gen(function* () {
      const { key } = yield* Site.Site
      const chat = yield* withAssets
      const { body: app } = yield* json("POST", "/v2/apps", { name: "Board", description: "☃", chat_id: chat.id })
      const member = yield* keyOf()
      for (const prefix of below) {
        const asked = { below: prefix, headers: { svc_api_key: key } }
        const { created_at: createdAt, description, id: appId, name, updated_at: updatedAt } = app
        // A client of Protocol Buffers writes moments without the zeros at their end.
        const whole = (moment: string) => moment.replace(/\.?0+Z$/u, "Z")
        const answer = JSON.parse(JSON.stringify(yield* call(Protos.getApp, { appId }, asked)))
        assert.deepStrictEqual(
          { ...answer.app, createdAt: whole(answer.app.createdAt), updatedAt: whole(answer.app.updatedAt) },
          { appId, name, description, createdAt: whole(createdAt), updatedAt: whole(updatedAt) }
        )
        const hidden = yield* codeOf(Protos.getApp, { appId }, { below: prefix, headers: { svc_api_key: member } })
        assert.deepStrictEqual(hidden, ["NotFound", "app not found"])
      }
    })
  )

  it.effect("migrates the mappings, at either path, and moves nothing the second time", () =>
    Effect.gen(function* () {
      const { key, tenant } = yield* Site.Site
      for (const prefix of below) {
        for (const name of ["Analysts", "Auditors"]) {
          const now = yield* DateTime.now
          const mapping = new ScimGroupMapping({
            id: ScimGroupMappingId.make(yield* Uuid.next),
            organizationId: tenant.organizationId,
            group: `${name} ${prefix}`,
            target: ScimGroupTarget.cases.RoleName.make({ name: `${name} ${prefix}` }),
            createdAt: now,
            updatedAt: now
          })
          yield* ScimGroupMappingStore.use((store) => store.save(mapping))
        }
        const asked = { below: prefix, headers: { svc_api_key: key } }
        assert.deepStrictEqual(yield* call(Protos.migrate, {}, asked), { migratedMappingCount: 2 })
        assert.deepStrictEqual(yield* call(Protos.migrate, {}, asked), {})
      }
    })
  )

  it.effect("starts an agent with a payload, and without one", () =>
    Effect.gen(function* () {
      const { key } = yield* Site.Site
      const { body: agent } = yield* json("POST", "/v2/agents", { name: "Triage", prompt: "What does this mean?" })
      const { body: trigger } = yield* json("POST", `/v2/agents/${agent.id}/triggers`)
      const asked = { below: "/v1/agents", headers: { authorization: `Bearer ${key}` } }
      const payload = { incident: "INC-4711", lines: [1, 2.5, null, { deep: "ü" }] }
      const queued = yield* call(Protos.trigger, { triggerId: trigger.trigger_id, payload }, asked)
      assert.deepInclude(queued, { status: "queued" })
      yield* call(Protos.trigger, { triggerId: trigger.trigger_id }, asked)
      const { body } = yield* json("GET", `/v2/agents/${agent.id}/runs`)
      assert.deepStrictEqual(
        body.runs.map((run: { readonly payload: unknown }) => run.payload),
        [{}, payload]
      )
    })
  )

  it.effect("is told what is wrong by the protocol's codes", () =>
    Effect.gen(function* () {
      const { key, tenant } = yield* Site.Site
      const member = yield* keyOf()
      const nobody = yield* keyOf({ roles: [yield* Fixture.role(tenant.organizationId)] })
      for (const prefix of below) {
        const as = (secret: string) => ({ below: prefix, headers: { svc_api_key: secret } })
        assert.deepStrictEqual(yield* codeOf(Protos.getApp, { appId: unknown }, as(key)), ["NotFound", "app not found"])
        const malformed = yield* codeOf(Protos.getApp, { appId: "seven" }, as(key))
        assert.deepStrictEqual(malformed, ["InvalidArgument", 'appId: must be a UUID, got "seven"'])
        // An empty text is not sent by Protocol Buffers.
        assert.deepStrictEqual(yield* codeOf(Protos.getApp, {}, as(key)), ["InvalidArgument", "appId: is missing"])
        assert.strictEqual((yield* codeOf(Protos.getApp, { appId: unknown }, as(nobody)))[0], "NotFound")
        assert.deepStrictEqual(yield* codeOf(Protos.migrate, {}, as(member)), [
          "PermissionDenied",
          "admin role required"
        ])
        const wrong = yield* codeOf(Protos.migrate, {}, as("mistyped"))
        assert.deepStrictEqual(wrong, ["Unauthenticated", "invalid API key format"])
        const none = yield* codeOf(Protos.migrate, {}, { below: prefix })
        assert.deepStrictEqual(none, ["Unauthenticated", "Authentication required"])
        const elsewhere = { below: prefix, headers: { authorization: `Bearer ${key}` } }
        assert.strictEqual((yield* codeOf(Protos.migrate, {}, elsewhere))[0], "Unauthenticated")
        const two = { below: prefix, headers: { svc_api_key: key, authorization: `Bearer ${member}` } }
        assert.strictEqual((yield* codeOf(Protos.migrate, {}, two))[0], "Unauthenticated")
      }
      const webhook = { below: "/v1/agents", headers: { authorization: `Bearer ${key}` } }
      const missing = yield* codeOf(Protos.trigger, { triggerId: unknown }, webhook)
      assert.deepStrictEqual(missing, ["NotFound", "trigger not found"])
      const payload = { text: "x".repeat(16_384) }
      const large = yield* codeOf(Protos.trigger, { triggerId: unknown, payload }, webhook)
      assert.deepStrictEqual(large[0], "InvalidArgument")
      assert.match(large[1], /^payload: must be at most 16,384 bytes/)
    })
  )

  it.effect(
    "is told what the server does not do: other formats, compression, unknown methods, messages too large",
    () =>
      Effect.gen(function* () {
        const { key } = yield* Site.Site
        const headers = { svc_api_key: key }
        const request = { appId: unknown }
        const refused = (transport: Transport) =>
          Effect.map(codeOf(Protos.getApp, request, { headers, transport }), ([code]) => code)
        assert.strictEqual(yield* refused({ useBinaryFormat: true }), "Unknown")
        assert.strictEqual(yield* refused({ sendCompression: compressionGzip, compressMinBytes: 0 }), "Unimplemented")
        assert.strictEqual((yield* codeOf(Protos.getApp, request, { headers, below: "/other" }))[0], "Unimplemented")
        const large = { appId: "x".repeat(1024 * 1024) }
        assert.strictEqual((yield* codeOf(Protos.getApp, large, { headers }))[0], "ResourceExhausted")
      })
  )
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("a call without a client", (it) => {
  const paths = [webhookPath, getAppPath, migratePath, `/rpc/public${getAppPath}`, `/rpc/public${migratePath}`]

  it.effect("has to name the protocol's version, and may say how long it waits", () =>
    Effect.gen(function* () {
      const { key } = yield* Site.Site
      for (const path of paths) {
        for (const [name, value] of [
          ["connect-protocol-version", "2"],
          ["connect-protocol-version", ""],
          ["connect-timeout-ms", "soon"],
          ["connect-timeout-ms", "-1"],
          ["connect-timeout-ms", "1.5"],
          ["connect-timeout-ms", "12345678901"]
        ] as const) {
          const { body, status } = yield* send(path, {}, { [name]: value })
          assert.deepStrictEqual([status, body.code, body.details], [400, "invalid_argument", []], `${path} ${value}`)
          assert.isTrue(body.message.startsWith(`${name}: `), body.message)
        }
        const without = yield* Site.post(path, {}, { headers: { svc_api_key: key } })
        assert.deepInclude(JSON.parse(without.text), { code: "invalid_argument" })
      }
      for (const timeout of ["9999999999", "30000", "0030000"]) {
        const { body } = yield* send(migratePath, {}, { "connect-timeout-ms": timeout })
        assert.deepStrictEqual(body, { migratedMappingCount: 0 })
      }
    })
  )

  it.effect("is refused in the protocol's terms where HTTP alone tells what is wrong", () =>
    Effect.gen(function* () {
      for (const path of paths) {
        for (const method of ["DELETE", "PUT"]) {
          const wrong = yield* send(path, {}, {}, method)
          assert.deepStrictEqual([wrong.status, wrong.body.code], [405, "unknown"])
          assert.strictEqual(wrong.headers["allow"], "OPTIONS, POST")
        }
        for (const type of ["image/jpeg", "application/proto", "application/connect+json", "text/plain"]) {
          const { body, headers, status } = yield* send(path, {}, { "content-type": type })
          assert.deepStrictEqual(
            [status, body.code, headers["accept-post"]],
            [415, "unknown", "application/json"],
            type
          )
        }
        for (const encoding of ["gzip", "foo"]) {
          const { body, status } = yield* send(path, {}, { "content-encoding": encoding })
          assert.deepStrictEqual([status, body.code], [501, "unimplemented"])
          assert.include(body.message, "supported encodings are identity")
        }
        const tooLarge = yield* send(path, " ".repeat(1024 * 1024 + 1))
        assert.deepStrictEqual([tooLarge.status, tooLarge.body.code], [413, "resource_exhausted"])
      }
      const unknownMethod = yield* Site.post("/svc.rpc.public.app.AppService/PutApp", {})
      assert.deepStrictEqual([unknownMethod.status, Site.envelopeOf(unknownMethod).code], [404, "not_found"])
    })
  )

  it.effect("brings JSON: an object, in which what is not known is ignored", () =>
    Effect.gen(function* () {
      for (const body of ["", "{", "[]", "null", '"text"', "7"]) {
        const answer = yield* send(migratePath, body)
        assert.deepStrictEqual([answer.status, answer.body.code], [400, "invalid_argument"], body)
      }
      const answer = yield* send(migratePath, { unknown: true }, { "content-type": "application/json; charset=utf-8" })
      assert.deepStrictEqual([answer.status, answer.body], [200, { migratedMappingCount: 0 }])
      assert.strictEqual((yield* send(migratePath, {}, { "content-encoding": "identity" })).status, 200)
    })
  )

  it.effect("says in what way it asks for a credential", () =>
    Effect.gen(function* () {
      const { key } = yield* Site.Site
      const webhook = yield* send(webhookPath, { triggerId: unknown }, { authorization: "Bearer no", svc_api_key: "" })
      assert.deepStrictEqual([webhook.status, webhook.headers["www-authenticate"]], [401, "Bearer"])
      const rpc = yield* Site.post(migratePath, {}, { key: "", headers: { "connect-protocol-version": "1" } })
      assert.deepStrictEqual([rpc.status, rpc.headers["www-authenticate"]], [401, "svc_api_key"])
      // The address may be written in another way that is routed the same.
      const slash = yield* send(`${migratePath}?x=1`, {}, { svc_api_key: "no", authorization: `Bearer ${key}` })
      assert.deepStrictEqual([slash.status, slash.body.code], [401, "unauthenticated"])
    })
  )
})

const id = (digit: string) => AppId.make(`0197c0de-0000-7000-8000-${digit.repeat(12)}`)

/** Apps that never come, come too late without a way to stop it, fail in every way, or break. */
const behaviours = {
  never: id("a"),
  stubborn: id("b"),
  broken: id("c"),
  failing: [
    [new Failure.InvalidRequest({ message: "why" }), 400, "invalid_argument"],
    [new Failure.PermissionDenied({ message: "why" }), 403, "permission_denied"],
    [new Failure.NotFound({ message: "why" }), 404, "not_found"],
    [new Failure.Conflict({ message: "why" }), 400, "failed_precondition"],
    [new Failure.RateLimitExceeded({ message: "why", retryAfterSeconds: 7 }), 429, "resource_exhausted"],
    [new Failure.Cancelled({ message: "why" }), 499, "canceled"],
    [new Failure.ExecutionFailed({ message: "why" }), 500, "unknown"],
    [new Failure.NoReport({ message: "why" }), 500, "unknown"],
    [new Failure.TimedOut({ message: "why" }), 504, "deadline_exceeded"],
    [new Failure.Unauthenticated({ message: "why" }), 401, "unauthenticated"]
  ]
} as const

let interrupted = 0

/** What the stubborn app waits for. */
const released = Latch.makeUnsafe()

const misbehaving = Layer.effect(
  Apps,
  Effect.map(Apps, (apps) =>
    Apps.of({
      ...apps,
      get: (app) => {
        const digit = Number(app.at(-1))
        const failure = Number.isNaN(digit) ? undefined : behaviours.failing[digit]?.[0]
        if (failure !== undefined) return Effect.fail(failure)
        if (app === behaviours.stubborn) {
          return Effect.andThen(Effect.uninterruptible(released.await), apps.get(app))
        }
        if (app === behaviours.broken) return Effect.die(new Error("the secret cause"))
        return Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => {
            interrupted += 1
          })
        )
      }
    })
  )
)

const layerMisbehaving = Layer.effect(
  Site.Site,
  Effect.gen(function* () {
    const { port, url } = yield* NodeServer.NodeServer
    const tenant = yield* Fixture.tenant()
    return Site.Site.of({ url, port, tenant, key: Redacted.value(tenant.adminKey), admin: Fixture.adminOf(tenant) })
  })
).pipe(
  Layer.provideMerge(NodeServer.layer()),
  Layer.provideMerge(CastellanHttp.layer({ assetSecret: Site.assetSecret })),
  Layer.provide(misbehaving),
  Layer.provideMerge(Deployment.layer())
)

layer(layerMisbehaving, { timeout: "180 seconds", excludeTestServices: true })(
  "an operation of the protocol that goes wrong",
  (it) => {
    it.effect("fails by the protocol's code and status, whether the contract has foreseen it or not", () =>
      Effect.gen(function* () {
        for (const [digit, [failure, status, code]] of behaviours.failing.entries()) {
          const answer = yield* send(getAppPath, { appId: id(String(digit)) })
          assert.strictEqual(answer.status, status, failure.code)
          assert.deepStrictEqual(answer.body, { code, message: "why", details: [] })
          if (failure.code === "rate_limit_exceeded") assert.strictEqual(answer.headers["retry-after"], "7")
        }
      })
    )

    it.effect("tells nothing of what broke", () =>
      Effect.gen(function* () {
        const answer = yield* send(`/rpc/public${getAppPath}`, { appId: behaviours.broken })
        assert.strictEqual(answer.status, 500)
        assert.deepStrictEqual(answer.body, {
          code: "internal",
          message: Failure.defaultMessage.internal,
          details: []
        })
      })
    )

    it.effect("is stopped by the caller's deadline, at which the caller is answered", () =>
      Effect.gen(function* () {
        const { key } = yield* Site.Site
        const before = interrupted
        const [took, answer] = yield* Effect.timed(
          send(getAppPath, { appId: behaviours.never }, { "connect-timeout-ms": "200" })
        )
        assert.deepStrictEqual([answer.status, answer.body.code, answer.body.details], [504, "deadline_exceeded", []])
        assert.isAtLeast(Duration.toMillis(took), 195)
        assert.strictEqual(interrupted, before + 1)
        const [client] = yield* codeOf(
          Protos.getApp,
          { appId: behaviours.never },
          { headers: { svc_api_key: key, "connect-timeout-ms": "100" } }
        )
        assert.strictEqual(client, "DeadlineExceeded")
      })
    )

    it.effect("is answered for by the deadline also where it cannot be stopped", () =>
      Effect.gen(function* () {
        const answer = yield* send(getAppPath, { appId: behaviours.stubborn }, { "connect-timeout-ms": "200" })
        assert.deepStrictEqual([answer.status, answer.body.code], [504, "deadline_exceeded"])
      }).pipe(Effect.ensuring(released.open))
    )

    it.effect("is not begun where the caller does not wait at all", () =>
      Effect.gen(function* () {
        const before = interrupted
        const answer = yield* send(getAppPath, { appId: behaviours.never }, { "connect-timeout-ms": "0" })
        assert.deepStrictEqual([answer.status, answer.body.code], [504, "deadline_exceeded"])
        assert.strictEqual(interrupted, before)
      })
    )
  }
)
