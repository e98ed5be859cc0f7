/**
 * What stands between a credential and an operation, in the order of the decisions: who calls, whether they call too
 * often, and whether they have called for this before.
 *
 * Source: decisions.md §1 ("Order of checks"), §3 ("Rate limit").
 */
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { RequestOrigin } from "@castellan/core/audit/RequestOrigin"
import type { RateLimitExceeded, Unauthenticated } from "@castellan/core/error/Failure"
import { RateLimits, type RateLimitStanding } from "@castellan/core/ratelimit/RateLimits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { Idempotency } from "../idempotency/Idempotency.ts"
import * as FailedAuthentications from "../ratelimit/FailedAuthentications.ts"
import { setFields } from "../ratelimit/RateLimitFields.ts"
import { CurrentExchange } from "./Exchange.ts"

/** Admits requests to operations. */
export class Admission extends Context.Service<
  Admission,
  {
    /** Carries out an operation as the principal that a request's credentials tell. */
    readonly admit: <E, R>(
      authentication: Effect.Effect<Principal, Unauthenticated, HttpRouter.Provided>,
      operation: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      E | RateLimitExceeded | Unauthenticated,
      Exclude<R, CurrentPrincipal> | HttpRouter.Provided
    >
  }
>()("@castellan/http/request/Admission") {}

/** Whether a request tries to say who it is at all; one that does not has failed at nothing. */
const hasCredentials = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["authorization"] !== undefined || headers["svc_api_key"] !== undefined

/** Carries something out as a principal. Made once: `provideService` with all of its arguments makes itself anew. */
const actingAs = Effect.provideService(CurrentPrincipal)

/** Admits requests within the rate limits. */
export const layer: Layer.Layer<Admission, never, Idempotency | RateLimits> = Layer.effect(
  Admission,
  Effect.gen(function* () {
    const rateLimits = yield* RateLimits
    const idempotency = yield* Idempotency
    const failures = yield* FailedAuthentications.make

    /** Counts an authentication that has failed, and fails with what it failed with, or because there were too many. */
    const refuse = Effect.fnUntraced(function* (failure: Unauthenticated) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { address } = yield* RequestOrigin
      if (address !== undefined && hasCredentials(request)) yield* failures.count(address)
      return yield* failure
    })

    /** Carries out an operation that is within the limit, as the principal. */
    const within = <E, R>(
      standing: RateLimitStanding,
      principal: Principal,
      operation: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) =>
      CurrentExchange.use(
        ({
          headers
        }): Effect.Effect<
          HttpServerResponse.HttpServerResponse,
          E | RateLimitExceeded,
          Exclude<R, CurrentPrincipal> | HttpRouter.Provided
        > => {
          setFields(headers, standing)
          const { exceeded } = standing
          return exceeded === undefined
            ? actingAs(idempotency.once(principal, operation), principal)
            : Effect.fail(exceeded)
        }
      )

    return Admission.of({
      admit: (authentication, operation) =>
        Effect.matchEffect(authentication, {
          onFailure: refuse,
          onSuccess: (principal) =>
            Effect.flatMap(rateLimits.count(principal.organizationId), (standing) =>
              within(standing, principal, operation)
            )
        })
    })
  })
)
