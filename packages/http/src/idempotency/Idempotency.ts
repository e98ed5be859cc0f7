/**
 * Requests with an idempotency key: each is carried out once, however often it is sent, to whichever server.
 *
 * A request is claimed after its credentials were checked, and before anything else of it is looked at. What carries it
 * out is told by `CurrentAttempt`, so that its use case is noted on the request's record in its own transaction. From
 * the claim on, the request no longer depends on its client: one that gives up and tries again finds it underway, and
 * later its answer.
 *
 * What is kept is the answer of the operation, refusals as well. An answer that is about the moment (401, 429, any 5xx)
 * is not: if nothing was done, the request is forgotten and may be sent again; if something was, it is never done again,
 * and whoever asks is told so.
 *
 * Source: decisions.md §1 (`Idempotency-Key`).
 */
import type { Principal } from "@castellan/core/access/Principal"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import { Conflict, InvalidRequest, NotFound } from "@castellan/core/error/Failure"
import { CurrentAttempt } from "@castellan/core/idempotency/CurrentAttempt"
import { IdempotencyKey } from "@castellan/core/idempotency/IdempotencyKey"
import { type Attempt, AttemptId } from "@castellan/core/idempotency/IdempotentRequest"
import { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { HttpLimits, longestRequest } from "../HttpLimits.ts"
import * as ErrorResponse from "../request/ErrorResponse.ts"
import { CurrentExchange } from "../request/Exchange.ts"
import * as FailureResponse from "../request/FailureResponse.ts"
import type { HttpApp } from "../request/RequestBoundary.ts"
import { RunBroadcast } from "../stream/RunBroadcast.ts"
import * as StreamResponse from "../stream/StreamResponse.ts"
import * as KeptAnswer from "./KeptAnswer.ts"
import * as RequestIdentity from "./RequestIdentity.ts"

/** The header that carries the key, and the one that tells an answer that was given before. */
const keyHeader = "idempotency-key"
const replayedHeader = "idempotent-replayed"

/** An attempt that holds its request. */
interface Holding {
  readonly attempt: Attempt
  readonly sealing: KeptAnswer.Sealing
  /** Of the principal. */
  readonly reach: KeptAnswer.Reach
  /** Whether the answer is made, or given up: what commits later is no part of the request. */
  isConcluded: boolean
}

/** A request with a key, on its way. */
class KeyedRequest {
  holding: Holding | undefined
}

const CurrentKeyedRequest = Context.Reference<KeyedRequest | undefined>(
  "@castellan/http/idempotency/Idempotency/CurrentKeyedRequest",
  { defaultValue: () => undefined }
)

/**
 * Carries requests with a key out once. What it carries out is an operation of a request, which is its caller's.
 *
 * @effect-expect-leaking HttpServerRequest
 */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    /** Keeps the answers of an application's requests, and has those that hold one go on without their client. */
    readonly around: <E>(app: HttpApp<E>) => HttpApp<E>
    /**
     * Carries an operation out, or gives the answer that it has had before. Dies with the error of the domain that the
     * request ends with where it is neither: the boundary answers it.
     */
    readonly once: <E, R>(
      principal: Principal,
      operation: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpRouter.Provided>
  }
>()("@castellan/http/idempotency/Idempotency") {}

const isIdempotencyKey = Schema.is(IdempotencyKey)

const conflict = (what: string) => Effect.die(new Conflict({ message: `idempotency-key: ${what}` }))

const differs = conflict("was used for another request")
const underway = conflict("the request that it was sent with is still being carried out")
const carriedOut = conflict(
  "the request was carried out, and its answer is lost: look at what it did before you send it with another key"
)
const foreign = conflict("the answer is for a caller with roles or with access that this one does not have")
const superseded = conflict("another attempt at the request has taken over")

/** A request whose body can be read again. */
const readAgain = (request: HttpServerRequest.HttpServerRequest, body: Uint8Array<ArrayBuffer>) =>
  HttpServerRequest.fromWeb(
    new Request(`http://localhost${request.url}`, { method: request.method, body: new Blob([body]) })
  ).modify({ url: request.url, headers: request.headers, remoteAddress: request.remoteAddress })

/** How idempotency is kept. */
export interface IdempotencyOptions {
  /** What answers are sealed with. Every server of a deployment needs the same. */
  readonly secret: Redacted.Redacted<string>
}

/** Carries requests out once, by the records of the store. */
export const layer = (
  options: IdempotencyOptions
): Layer.Layer<Idempotency, never, Chats | IdempotencyStore | RunBroadcast> =>
  Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const chats = yield* Chats
      const broadcast = yield* RunBroadcast
      const limits = yield* HttpLimits
      const secret = Redacted.value(options.secret)
      const detached = yield* FiberSet.make<HttpServerResponse.HttpServerResponse, unknown>()
      const lease = limits.idempotencyLease
      const longest = longestRequest(limits)

      /** Holds on to a request for as long as the fiber goes on. */
      const renewing = ({ attempt }: Holding) =>
        Effect.flatMap(DateTime.now, (now) => store.renew(attempt, DateTime.addDuration(now, lease))).pipe(
          Effect.catchCause((cause) => Effect.as(Effect.logWarning("a lease was not renewed", cause), true)),
          Effect.repeat({ schedule: Schedule.spaced(Duration.times(lease, 1 / 3)), while: (held) => held }),
          Effect.delay(Duration.times(lease, 1 / 3))
        )

      /** Follows a run from its start, as who asked for it may. */
      const follow = Effect.fnUntraced(function* ({ chatId, runId }: StreamResponse.StreamedRun) {
        const runs = yield* chats.runs(chatId)
        const number = runs.findIndex(({ id }) => id === runId)
        const run = runs[number]
        if (run === undefined) return yield* new NotFound({ message: "the chat has no such run" })
        const follower = yield* broadcast.follow({ id: run.id, organizationId: run.organizationId, number }, 0)
        return StreamResponse.make(follower, { chatId, runId })
      })

      const replay = Effect.fnUntraced(function* (
        principal: Principal,
        answer: Uint8Array,
        sealing: KeptAnswer.Sealing
      ) {
        const kept = KeptAnswer.unseal(answer, sealing)
        if (Option.isNone(kept)) return yield* carriedOut
        const { body, content, reach } = kept.value
        if (!KeptAnswer.isWithinReachOf(principal, reach)) return yield* foreign
        const response =
          content._tag === "Response"
            ? KeptAnswer.toResponse(content, body)
            : yield* Effect.orDie(Effect.provideService(follow(content), CurrentPrincipal, principal))
        return HttpServerResponse.setHeader(response, replayedHeader, "true")
      })

      const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
        request.headers["content-type"]?.toLowerCase().startsWith("multipart/") === true
          ? Effect.provideService(
              request.arrayBuffer,
              HttpIncomingMessage.MaxBodySize,
              ByteSize.bytes(limits.maxKeyedFormBytes)
            )
          : request.arrayBuffer

      const once = <E, R>(
        keyed: KeyedRequest,
        principal: Principal,
        operation: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const key = request.headers[keyHeader]
          if (!isIdempotencyKey(key)) {
            return yield* Effect.die(
              new InvalidRequest({ message: "idempotency-key: must be 1 to 255 visible ASCII characters" })
            )
          }
          const body = new Uint8Array(yield* Effect.orDie(bodyOf(request)))
          const { route } = yield* HttpRouter.RouteContext
          const { method, url } = request
          const contentType = request.headers["content-type"]
          const id = RequestIdentity.idOf(principal, `${route.method} ${route.path}`, key)
          const sealing = { secret, id, key }
          const attempt: Attempt = {
            organizationId: principal.organizationId,
            id,
            attempt: AttemptId.make(SecureRandom.uuidV4Unsafe())
          }
          const now = yield* DateTime.now
          const outcome = yield* store
            .claim({
              ...attempt,
              fingerprint: RequestIdentity.fingerprintOf(secret, { method, url, contentType, body }),
              now,
              leaseUntil: DateTime.addDuration(now, lease)
            })
            .pipe(
              Effect.tap(({ _tag }) =>
                Effect.sync(() => {
                  if (_tag !== "Granted") return
                  keyed.holding = {
                    attempt,
                    sealing,
                    reach: KeptAnswer.reachOf(principal),
                    isConcluded: false
                  }
                })
              ),
              // A claim that was granted is concluded, whatever happens.
              Effect.uninterruptible
            )
          switch (outcome._tag) {
            case "Answered":
              return yield* replay(principal, outcome.answer, sealing)
            case "Underway": {
              const { headers } = yield* CurrentExchange
              headers["retry-after"] = "1"
              return yield* underway
            }
            case "CarriedOut":
              return yield* carriedOut
            case "Differs":
              return yield* differs
            case "Granted": {
              const { holding } = keyed
              const commit = Effect.suspend(() =>
                holding === undefined || holding.isConcluded
                  ? Effect.void
                  : Effect.flatMap(store.commit(attempt), (held) => (held ? Effect.void : superseded))
              )
              if (holding !== undefined) yield* Effect.forkChild(renewing(holding))
              return yield* operation.pipe(
                Effect.provideService(HttpServerRequest.HttpServerRequest, readAgain(request, body)),
                Effect.provideService(CurrentAttempt, { commit })
              )
            }
          }
        })

      /** Keeps the answer of an attempt, or gives the request up; answers with the response to send. */
      const conclude = Effect.fnUntraced(function* (
        { attempt, reach, sealing }: Holding,
        response: HttpServerResponse.HttpServerResponse | undefined
      ) {
        if (response !== undefined && KeptAnswer.isKept(response.status)) {
          const answer = yield* KeptAnswer.of(response, reach)
          if (Option.isSome(answer.kept)) {
            yield* store.answer(attempt, KeptAnswer.seal(answer.kept.value, sealing))
            return answer.response
          }
        }
        yield* store.release(attempt, yield* DateTime.now)
        return response
      })

      /** What was done is done: a client is answered also where its answer could not be kept. */
      const concluded = (holding: Holding, response: HttpServerResponse.HttpServerResponse | undefined) =>
        Effect.suspend(() => {
          holding.isConcluded = true
          return conclude(holding, response)
        }).pipe(
          Effect.catchCause((cause) =>
            Effect.as(Effect.logError("the answer to an idempotent request was not kept", cause), response)
          )
        )

      const answering = <E>(keyed: KeyedRequest, app: HttpApp<E>): HttpApp<E> =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const exit = yield* Effect.exit(restore(app))
            const { holding } = keyed
            if (holding === undefined) return yield* exit
            if (Exit.isFailure(exit)) {
              yield* concluded(holding, FailureResponse.ofCause(exit.cause))
              return yield* exit
            }
            return (yield* concluded(holding, exit.value)) ?? exit.value
          })
        )

      return Idempotency.of({
        around: <E>(app: HttpApp<E>): HttpApp<E> =>
          Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
            if (request.method !== "POST" || request.headers[keyHeader] === undefined) return app
            const keyed = new KeyedRequest()
            const work = Effect.timeoutOrElse(app, {
              duration: longest,
              orElse: () => Effect.succeed(ErrorResponse.timeout)
            })
            return Effect.uninterruptible(
              Effect.gen(function* () {
                const fiber = yield* Effect.forkDetach(
                  answering(keyed, work).pipe(
                    Effect.scoped,
                    Effect.provideService(CurrentKeyedRequest, keyed),
                    Effect.interruptible
                  )
                )
                yield* FiberSet.add(detached, fiber)
                // A router is interruptible in its routes alone, and this is around it.
                return yield* Effect.interruptible(Fiber.join(fiber)).pipe(
                  // Until the request is held, it ends with its client.
                  Effect.onInterrupt(() =>
                    Effect.sync(() => {
                      if (keyed.holding === undefined) fiber.interruptUnsafe()
                    })
                  )
                )
              })
            )
          }),
        once: <E, R>(
          principal: Principal,
          operation: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
        ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpRouter.Provided> =>
          CurrentKeyedRequest.use(
            (keyed): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpRouter.Provided> =>
              keyed === undefined ? operation : once(keyed, principal, operation)
          )
      })
    })
  )
