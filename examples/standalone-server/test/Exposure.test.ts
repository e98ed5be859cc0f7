/**
 * What the server lets in from outside: pages of other origins, and addresses that proxies tell of. Nothing unless it is
 * told to; over real HTTP, as it is started.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const started = async (data: string, environment: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment, PORT: "0", CASTELLAN_DATA_DIR: data, CASTELLAN_SANDBOX: "none" }
  })
  const ended = once(child, "exit")
  const url = await new Promise<string>((resolve, reject) => {
    let output = ""
    child.once("exit", () => reject(new Error(output)))
    child.stdout.on("data", (chunk) => {
      output += String(chunk)
      const found = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
  }
  return { url, stop, key: readFileSync(join(data, "admin.key"), "utf8").trim() }
}

const server = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const data = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "castellan-exposure-test-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  return yield* Effect.acquireRelease(
    Effect.promise(() => started(data, environment)),
    ({ stop }) => Effect.promise(stop)
  )
})

type Server = Effect.Success<ReturnType<typeof server>>

/** What a browser asks before a page of an origin may call, and what it then looks for. */
const preflight = ({ url }: Server, origin: string) =>
  Effect.promise(() =>
    fetch(`${url}/v2/chats`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type"
      }
    })
  )

const Events = Schema.Struct({
  audit_events: Schema.Array(Schema.Struct({ ip_address: Schema.optionalKey(Schema.String) }))
})

/** The address that a login is recorded with, of somebody who says to have come from elsewhere. */
const recorded = Effect.fnUntraced(function* ({ key, url }: Server, forwarded: string) {
  const authorization = `Bearer ${key}`
  const login = yield* Effect.promise(() =>
    fetch(`${url}/v2/sessions`, { method: "POST", headers: { authorization, "x-forwarded-for": forwarded } })
  )
  assert.strictEqual(login.status, 201)
  const reply = yield* Effect.promise(async () =>
    (await fetch(`${url}/v2/audit-events?action=login`, { headers: { authorization } })).json()
  )
  const { audit_events } = yield* Schema.decodeUnknownEffect(Events)(reply)
  return audit_events[0]?.ip_address
})

describe("the server", () => {
  it.live(
    "lets no page of another origin in, and believes no proxy, unless told to",
    () =>
      Effect.gen(function* () {
        const [closed, open] = yield* Effect.all(
          [
            server({}),
            server({
              CASTELLAN_CORS_ORIGINS: "https://app.example.com,http://localhost:5173",
              CASTELLAN_TRUSTED_PROXIES: "1"
            })
          ],
          { concurrency: 2 }
        )
        const shut = yield* preflight(closed, "https://app.example.com")
        assert.isNull(shut.headers.get("access-control-allow-origin"))
        assert.isNull(shut.headers.get("access-control-allow-methods"))
        for (const origin of ["https://app.example.com", "http://localhost:5173"]) {
          const { headers, status } = yield* preflight(open, origin)
          assert.strictEqual(status, 204)
          assert.strictEqual(headers.get("access-control-allow-origin"), origin)
          assert.include(headers.get("access-control-allow-methods") ?? "", "POST")
          assert.include((headers.get("access-control-allow-headers") ?? "").toLowerCase(), "authorization")
          assert.isNull(headers.get("access-control-allow-credentials"))
        }
        const other = yield* preflight(open, "https://elsewhere.example.com")
        assert.isNull(other.headers.get("access-control-allow-origin"))

        const forwarded = "203.0.113.9, 198.51.100.7"
        assert.strictEqual(yield* recorded(closed, forwarded), "127.0.0.1", "anybody can write such a field")
        assert.strictEqual(yield* recorded(open, forwarded), "198.51.100.7", "what the one proxy added")
      }).pipe(Effect.scoped),
    120_000
  )
})
