/**
 * The outermost layer of every request: whatever happens within, one well-formed response comes out, with the
 * request's id and, where it is an error, the envelope.
 *
 * A client that went away is not answered. A request that the stopping server cuts short is told so.
 *
 * Source: decisions.md §1, §2.
 */
import { RequestOrigin } from "@castellan/core/audit/RequestOrigin"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as ConnectErrors from "../rpc/ConnectErrors.ts"
import { type Challenge, challengeOf } from "../rpc/ConnectRoutes.ts"
import * as StreamResponse from "../stream/StreamResponse.ts"
import type { Cors } from "../cors/Cors.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as ErrorResponse from "./ErrorResponse.ts"
import { CurrentExchange, Exchange } from "./Exchange.ts"
import * as FailureResponse from "./FailureResponse.ts"
import * as RequestId from "./RequestId.ts"
import type { RouteTable } from "./RouteTable.ts"
import * as Surroundings from "./Surroundings.ts"

/** What carries out the requests of a route. */
export interface Operation {
  readonly app: HttpApp<unknown>
  /** The route, for who asks which one it is. */
  readonly route: HttpRouter.Route<unknown, unknown>
  /** How the route asks for its credential, where it speaks the Connect protocol. */
  readonly challenge: Challenge | undefined
}

/** An HTTP application, as Effect's servers take it. */
export type HttpApp<E = never> = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Whether it was the client that ended the request. */
const isClientAbort = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => reason.annotations.has(HttpServerError.ClientAbort.key))

/** A path without its query, which may hold what must not be in a log. */
const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

/** How requests come to the boundary. */
export interface BoundaryOptions {
  readonly cors: Cors
  /** How many proxies stand in front, whose word on the client's address is taken. */
  readonly trustedProxies: number
  /** What the application has for requests to be carried out among. */
  readonly surroundings: Context.Context<never>
}

/** What a path takes, for whoever asks. */
const optionsOf = (
  request: HttpServerRequest.HttpServerRequest,
  routes: RouteTable<Operation>,
  cors: Cors
): HttpServerResponse.HttpServerResponse => {
  const allowed = routes.allowed(request.url)
  return allowed === undefined
    ? ErrorResponse.unknownRoute
    : HttpServerResponse.empty({ status: 204, headers: { allow: allowed, ...cors.preflightOf(request, allowed) } })
}

/** The response as it leaves: with the headers of the exchange, and an envelope if it is an error that has none. */
const complete = (
  response: HttpServerResponse.HttpServerResponse,
  { headers }: Exchange
): HttpServerResponse.HttpServerResponse => {
  const hasEnvelope = response.status < 400 || response.headers["content-type"] === "application/json"
  const answer = hasEnvelope ? response : ErrorResponse.ofStatus(response.status)
  headers["cache-control"] ??= answer.headers["cache-control"] ?? "no-store"
  return HttpServerResponse.setHeaders(answer, headers)
}

/** No operation takes the request. */
const unrouted = (url: string, routes: RouteTable<Operation>): HttpServerResponse.HttpServerResponse => {
  const allowed = routes.allowed(url)
  return allowed === undefined ? ErrorResponse.unknownRoute : ErrorResponse.methodNotAllowed(allowed)
}

/** An application of routes, within their boundary. */
export const make = (routes: RouteTable<Operation>, options: BoundaryOptions): HttpApp =>
  Effect.contextWith((surroundings: Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>) => {
    const request = Context.get(surroundings, HttpServerRequest.HttpServerRequest)
    const requestId = RequestId.of(request.headers[RequestId.header])
    const exchange = new Exchange(requestId)
    options.cors.set(exchange.headers, request)
    const found = request.method === "OPTIONS" ? undefined : routes.find(request.method, request.url)
    const challenge = found === undefined ? challengeOf(request.url) : found.handler.challenge

    const completed = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
      ConnectErrors.inTerms(complete(response, exchange), challenge)

    if (found === undefined) {
      return Effect.succeed(
        completed(
          request.method === "OPTIONS" ? optionsOf(request, routes, options.cors) : unrouted(request.url, routes)
        )
      )
    }

    const answer = (cause: Cause.Cause<unknown>): HttpApp => {
      if (Cause.hasInterruptsOnly(cause)) {
        const interrupts = Cause.fromReasons<never>(cause.reasons.filter(Cause.isInterruptReason))
        if (isClientAbort(interrupts)) return Effect.failCause(interrupts)
        // The server stops. Carried as a defect, which is sent and ends the request as interrupted all the same.
        return Effect.failCause(Cause.combine(interrupts, Cause.die(completed(ErrorResponse.stopping))))
      }
      const known = FailureResponse.ofCause(cause)
      const isUnavailable = FailureResponse.isStorageUnavailable(cause)
      if (known !== undefined && !isUnavailable) return Effect.succeed(completed(known))
      const what = isUnavailable ? "the storage is unavailable" : "a request failed unexpectedly"
      return Effect.as(
        Effect.logError(what, cause).pipe(Effect.annotateLogs({ method: request.method, path: pathOf(request.url) })),
        completed(known ?? ErrorResponse.internal)
      )
    }

    const address = ClientAddress.of(request, options.trustedProxies)
    const { handler, params, searchParams } = found
    const answered: HttpApp = Effect.matchCauseEffect(handler.app, {
      onSuccess: (response) => StreamResponse.send(request, completed(response)),
      onFailure: answer
    })
    return Effect.updateContext(
      answered,
      // All that the request adds to its surroundings, at once; written out, since each `pipe` would make functions of it.
      (context: Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>) => {
        const joined = Surroundings.within(context, options.surroundings)
        // A host's router may have some for each request, which are no matter of the application's own.
        const annotations = {
          ...Context.get(context, References.CurrentLogAnnotations),
          ...Context.get(joined, References.CurrentLogAnnotations),
          request_id: requestId
        }
        const origin = address === undefined ? { requestId } : { requestId, address }
        const routed = Context.add(
          Context.add(joined, HttpServerRequest.ParsedSearchParams, searchParams),
          HttpRouter.RouteContext,
          { route: handler.route, params }
        )
        return Context.add(
          Context.add(Context.add(routed, CurrentExchange, exchange), RequestOrigin, origin),
          References.CurrentLogAnnotations,
          annotations
        )
      }
    )
  })
