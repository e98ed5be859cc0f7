import { bearer } from "@castellan/api/access/Authentication"
import { Authentication } from "@castellan/core/access/Authentication"
import { Unauthenticated } from "@castellan/core/error/Failure"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as RequestCredentials from "../../src/access/RequestCredentials.ts"

/** Who refuses everybody, and says what was asked. */
const asking = Authentication.of({
  authenticate: (value) => Effect.fail(new Unauthenticated({ message: `one: ${Redacted.value(value)}` })),
  authenticateValue: (value) => Effect.fail(new Unauthenticated({ message: `one: ${value}` })),
  authenticateAll: (values) =>
    Effect.fail(new Unauthenticated({ message: `all: ${values.map(Redacted.value).join(", ")}` }))
})

const route = HttpRouter.route("GET", "/", HttpServerResponse.empty())

/** Has a request with these headers as the one of the effect. */
const requested = <A, E>(
  headers: Readonly<Record<string, string>>,
  effect: Effect.Effect<A, E, HttpRouter.Provided>
): Effect.Effect<A, E> =>
  effect.pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/", { headers }))
    ),
    Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
    Effect.provideService(HttpRouter.RouteContext, { route, params: {} }),
    Effect.scoped
  )

/** What is asked of who tells principals, for a request with these headers. */
const asked = (headers: Readonly<Record<string, string>>) =>
  RequestCredentials.make.pipe(
    Effect.provideService(Authentication, asking),
    Effect.flatMap(({ byBearer }) => Effect.flip(requested(headers, byBearer))),
    Effect.map(({ message }) => message)
  )

describe("the bearer value of a request", () => {
  for (const authorization of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer value",
    "bearer value",
    "BEARER  value",
    "Bearer a value",
    "Bearer\tvalue",
    "Bearer \tvalue",
    "Bearervalue",
    "Basic value",
    "value",
    "Bearer Bearer value"
  ]) {
    it.effect(`is what the contract has it: ${JSON.stringify(authorization)}`, () =>
      Effect.gen(function* () {
        const headers = authorization === undefined ? {} : { authorization }
        const decoded = yield* requested(headers, HttpApiBuilder.securityDecode(bearer))
        assert.strictEqual(yield* asked(headers), `one: ${Redacted.value(decoded)}`)
      })
    )
  }

  it.effect("is asked about together with what stands beside it, where both are there", () =>
    Effect.gen(function* () {
      const authorization = "Bearer one"
      assert.strictEqual(yield* asked({ authorization, svc_api_key: "other" }), "all: one, other")
      assert.strictEqual(yield* asked({ authorization, svc_api_key: "" }), "one: one")
      assert.strictEqual(yield* asked({ svc_api_key: "other" }), "one: ")
    })
  )
})
