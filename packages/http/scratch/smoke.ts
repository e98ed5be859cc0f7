import { Effect, Layer, Redacted, Stream } from "effect"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { calls, says, text, finished, call } from "@castellan/testing/scripted/ScriptedModel"
import * as CastellanHttp from "../src/CastellanHttp.ts"
import * as NodeServer from "../src/server/NodeServer.ts"
const script = () => [text("Hello "), text("world"), finished()]
const app = NodeServer.layer({}).pipe(
  Layer.provideMerge(CastellanHttp.layer({ assetSecret: Redacted.make("x".repeat(32)) })),
  Layer.provideMerge(Deployment.layer({ script }))
)
await Effect.gen(function* () {
  const { url } = yield* NodeServer.NodeServer
  const tenant = yield* Fixture.tenant()
  const key = Redacted.value(tenant.adminKey)
  const go = (path: string, init: RequestInit = {}, auth = true) => Effect.promise(async () => {
    const r = await fetch(url + path, { ...init, headers: { ...(auth ? { authorization: `Bearer ${key}` } : {}), ...(init.headers as {}) } })
    const t = await r.text()
    console.log(init.method ?? "GET", path, r.status, JSON.stringify(Object.fromEntries(r.headers)), t.slice(0, 600))
    return t
  })
  yield* go("/v2/models"); yield* go("/v2/models", {}, false)
  yield* go("/v2/connectors"); yield* go("/nope"); yield* go("/v2/models", { method: "POST" }); yield* go("/v2/models", { method: "HEAD" }); yield* go("/v2/models", { method: "OPTIONS" })
  const json = { "content-type": "application/json" }
  yield* go("/v2/chats", { method: "POST", body: "{", headers: json })
  yield* go("/v2/chats", { method: "POST", body: "x", headers: { "content-type": "text/plain" } })
  yield* go("/v2/chats", { method: "POST", body: JSON.stringify({ question: "x".repeat(2e6) }), headers: json })
  const a = JSON.parse(yield* go("/v2/chats", { method: "POST", body: JSON.stringify({ question: "hi" }), headers: json }))
  yield* go("/v2/chats/stream", { method: "POST", body: JSON.stringify({ question: "hi", chat_id: a.chat_id }), headers: json })
  yield* go(`/v2/chats/${a.chat_id}/stream`)
  yield* go(`/v2/chats/${a.chat_id}/stream`, { headers: { "last-event-id": "2" } })
  yield* go(`/v2/chats/${a.chat_id}/stream`, { headers: { "last-event-id": "99" } })
  yield* go(`/v2/chats/xyz/stream`); yield* go("/v2/chats?limit=0"); yield* go("/healthz", {}, false); yield* go("/readyz", {}, false); yield* go("/openapi.json", {}, false); yield* go("/docs", {}, false); yield* go("/docs/", {redirect:"manual"}, false); yield* go("/docs/reference.js", {}, false)
  yield* go("/v2/chats"); yield* go(`/v2/chats/${a.chat_id}`); yield* go(`/v2/chats/${a.chat_id}/cells`); yield* go(`/v2/chats/${a.chat_id}/cancel`, { method: "POST" })
  const f = new FormData(); f.set("question", "form?"); yield* go("/v2/chats", { method: "POST", body: f })
  f.set("files", new Blob(["a"]), "a.txt"); yield* go("/v2/chats", { method: "POST", body: f })
  yield* go("/v2/chats/%zz"); yield* go("/v2/assets/0197c0de-0000-7000-8000-000000000000?format=png&expires=1&signature=x", {}, false)
}).pipe(Effect.provide(app), Effect.scoped, Effect.runPromise)
console.log("down")
