import { Authentication as BearerSecurity } from "@castellan/api/access/Authentication"
import { SchemaErrors } from "@castellan/api/error/SchemaErrors"
import { RolesGroup } from "@castellan/api/role/RolesGroup"
import { Api } from "@castellan/api/Api"
import { Authentication } from "@castellan/core/access/Authentication"
import { CurrentPrincipal, Principal } from "@castellan/core/access/Principal"
import { NotFound, Unauthenticated } from "@castellan/core/error/Failure"
import { MemberId } from "@castellan/core/member/Member"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, ErrorReporter, Exit, Layer } from "effect"
import { HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Admission } from "../../src/request/Admission.ts"
import * as AdmittedOperations from "../../src/request/AdmittedOperations.ts"

const refused = new Unauthenticated({ message: "nobody comes in here" })

const somebody = new Principal({
  organizationId: OrganizationId.make("00000000-0000-4000-8000-000000000001"),
  memberId: MemberId.make("00000000-0000-4000-8000-000000000002"),
  roles: [],
  restricted: false,
  credential: { _tag: "Token" }
})

/** Lets everybody in as somebody, or nobody. */
const admitting = (isOpen: boolean) =>
  Layer.succeed(
    Admission,
    Admission.of({
      admit: (_authentication, operation) =>
        isOpen ? Effect.provideService(operation, CurrentPrincipal, somebody) : Effect.fail(refused)
    })
  )

/** Nobody's credentials are looked at. */
const unasked = Layer.succeed(
  Authentication,
  Authentication.of({
    authenticate: () => Effect.die("unasked"),
    authenticateAll: () => Effect.die("unasked"),
    authenticateValue: () => Effect.die("unasked")
  })
)

/** What there is for requests of an operation. */
const taken = (
  endpoint: HttpApiEndpoint.Top,
  operation: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown> = Effect.succeed(HttpServerResponse.empty()),
  isOpen = true
) => {
  const operations = AdmittedOperations.make()
  return Effect.map(AdmittedOperations.taking, (take) => {
    take(endpoint, operation)
    return operations.find(endpoint)
  }).pipe(
    Effect.provide(
      Layer.mergeAll(Layer.succeed(AdmittedOperations.AdmittedOperations, operations), admitting(isOpen), unasked)
    )
  )
}

const endpoints = Object.values(Api.groups).flatMap((group): ReadonlyArray<HttpApiEndpoint.Top> =>
  Object.values(group.endpoints)
)

/** How a request of an operation ends: with a status and a text, or of what. */
const ended = Effect.fnUntraced(function* (
  operation: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>,
  isOpen?: boolean
) {
  const app = yield* taken(RolesGroup.endpoints.get, operation, isOpen)
  assert.isDefined(app)
  const request = HttpServerRequest.fromWeb(new Request("http://localhost/v2/roles/one"))
  const exit = yield* app.pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
    Effect.provideService(HttpRouter.RouteContext, {
      route: HttpRouter.route("GET", "/v2/roles/:id", HttpServerResponse.empty()),
      params: { id: "one" }
    }),
    Effect.scoped,
    Effect.exit
  )
  if (Exit.isFailure(exit)) return Cause.squash(exit.cause)
  return `${exit.value.status} ${yield* Effect.promise(() => HttpServerResponse.toWeb(exit.value).text())}`
})

/** What a host might put around an operation, beside what the contract does. */
class Audited extends HttpApiMiddleware.Service<Audited>()("a-host/Audited") {}

const bare = HttpApiEndpoint.get("bare", "/bare")

describe("operations that are admitted by a bearer value", () => {
  it.effect("are all that take one, and no others", () =>
    Effect.gen(function* () {
      const found = yield* Effect.filter(endpoints, (endpoint) =>
        Effect.map(taken(endpoint), (app) => app !== undefined)
      )
      assert.sameOrderedMembers(
        found.map(({ path }) => path),
        endpoints.filter(({ middlewares }) => middlewares.has(BearerSecurity)).map(({ path }) => path)
      )
      assert.isBelow(found.length, endpoints.length)
    })
  )

  it.effect("are none that have a middleware more, or in which the credentials come within", () =>
    Effect.gen(function* () {
      assert.isDefined(yield* taken(bare.middleware(SchemaErrors).middleware(BearerSecurity)))
      for (const endpoint of [
        bare.middleware(SchemaErrors).middleware(BearerSecurity).middleware(Audited),
        bare.middleware(BearerSecurity).middleware(SchemaErrors)
      ]) {
        assert.isUndefined(yield* taken(endpoint))
      }
    })
  )

  it.effect("answer, whoever is let in", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* ended(Effect.succeed(HttpServerResponse.text("a role"))), "200 a role")
    })
  )

  it.effect("are not begun for who is not let in", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* ended(Effect.die("begun"), false),
        '401 {"error":{"code":"unauthenticated","message":"nobody comes in here"}}'
      )
    })
  )

  it.effect("have their errors in the envelope, and die of what is no error of theirs", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* ended(Effect.fail(new NotFound({ message: "no such role" }))),
        '404 {"error":{"code":"not_found","message":"no such role"}}'
      )
      assert.strictEqual(yield* ended(Effect.fail("a stranger")), "a stranger")
    })
  )

  it.effect("tell a host's reporters of their errors", () =>
    Effect.gen(function* () {
      const reported: Array<string> = []
      const reporter = ErrorReporter.make(({ error }) => {
        reported.push(error.message)
      })
      yield* Effect.provide(
        Effect.andThen(
          ended(Effect.fail(new NotFound({ message: "no such role" }))),
          ended(Effect.die("begun"), false)
        ),
        ErrorReporter.layer([reporter])
      )
      assert.deepStrictEqual(reported, ["no such role", "nobody comes in here"])
    })
  )
})
