/**
 * The way from the service to its database swallows everything: every request is answered within its limit, by "try
 * again" or by "too late", and the server serves again as soon as the way is open, without anything being started anew.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, References, Schedule } from "effect"
import * as Site from "../../../http/test/support/Site.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Proxy from "./Proxy.ts"
import * as ServedSite from "./ServedSite.ts"

const connections = 3

/** A page of playbooks, a new one, and whether the server is ready. */
const requests = [
  Site.call("/v2/playbooks"),
  Site.call("/v2/playbooks", { method: "POST" }),
  Site.call("/v2/playbooks", { method: "POST", headers: { "idempotency-key": "once" } })
]

/** Requests that are all answered, and none of them by a success or a defect. */
const refused = Effect.gen(function* () {
  const replies = yield* Effect.forEach(Array.from({ length: 8 }, () => requests).flat(), (request) => request, {
    concurrency: "unbounded"
  })
  for (const reply of replies) {
    const { code } = Site.envelopeOf(reply)
    assert.include(["503 internal", "504 timeout", "409 conflict"], `${reply.status} ${code}`, reply.text)
    if (reply.status === 503) assert.match(reply.headers["retry-after"] ?? "", /^[1-9][0-9]?$/, reply.text)
  }
  return new Set(replies.map(({ status }) => status))
})

/** Waits until every request is answered by a success. */
const served = Effect.forEach(requests, (request) => request).pipe(
  Effect.repeat({
    until: (replies) => replies.every(({ status }) => status < 300),
    schedule: Schedule.spaced("20 millis")
  })
)

/** A test of a server that reaches its database through a proxy. */
const silent = (
  name: string,
  given: {
    readonly statementTimeout: Duration.Input
    readonly requestTimeout: Duration.Duration
    /** What becomes of the connections that were blocked. */
    readonly opens: (proxy: Proxy.Proxy) => void
  },
  expected: number
) => {
  for (const server of TestDatabase.servers()) {
    it.live(
      `${name} (${server.name})`,
      () =>
        Effect.gen(function* () {
          const database = yield* TestDatabase.database(server)
          const url = new URL(Redacted.value(TestDatabase.serviceUrl(server, database)))
          const proxy = yield* Proxy.to(Number(url.port === "" ? 5432 : url.port))
          url.hostname = "127.0.0.1"
          url.port = String(proxy.port)
          const site = yield* Layer.build(
            ServedSite.layer(
              {
                url: Redacted.make(url.href),
                maxConnections: connections,
                statementTimeout: given.statementTimeout
              },
              { requestTimeout: given.requestTimeout, idempotencyLease: Duration.seconds(1) }
            )
          )
          yield* Effect.gen(function* () {
            yield* served
            for (let round = 0; round < 2; round++) {
              proxy.block()
              const statuses = yield* refused
              assert.isTrue(statuses.has(expected), `${[...statuses]}`)
              proxy.unblock()
              given.opens(proxy)
              yield* served
            }
            // What was given up is closed, and nothing was opened beyond what there may be: those, and one that listens.
            assert.isAtMost(proxy.open(), connections + 1)
          }).pipe(Effect.provideContext(site))
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
      300_000
    )
  }
}

describe("a network that swallows everything", () => {
  silent(
    "is noticed by the connection before the request is out of time: 503",
    { statementTimeout: "200 millis", requestTimeout: Duration.seconds(50), opens: () => {} },
    503
  )
  silent(
    "is answered for by the limit of the request, whatever the connection still waits for: 504",
    { statementTimeout: "1 hour", requestTimeout: Duration.millis(250), opens: (proxy) => proxy.cut() },
    504
  )
})
