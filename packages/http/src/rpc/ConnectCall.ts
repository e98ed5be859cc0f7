/**
 * What a call of the Connect protocol asks of the server as such, beside its operation: how long the caller waits, and
 * that a body can be read.
 *
 * Source: decisions.md §2 (`Connect-Timeout-Ms`); Connect protocol, "Unary-Request", "Compression".
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as ErrorResponse from "../request/ErrorResponse.ts"
import type { HttpApp } from "../request/RequestBoundary.ts"
import * as ConnectErrors from "./ConnectErrors.ts"
import { challengeOf } from "./ConnectRoutes.ts"

const late = ErrorResponse.make(504, "timeout", "the deadline of Connect-Timeout-Ms has passed")

/** The milliseconds that the caller waits; nothing where it does not say, or says what the operation refuses. */
const deadlineOf = (header: string | undefined): number | undefined =>
  header !== undefined && /^[0-9]{1,10}$/u.test(header) ? Number(header) : undefined

/** The compression of the body; nothing where there is none. The service reads bodies as they are. */
const compressionOf = (header: string | undefined): string | undefined =>
  header === undefined || header === "" || header.toLowerCase() === "identity" ? undefined : header

const cannotRead = (compression: string): HttpServerResponse.HttpServerResponse =>
  ConnectErrors.make({
    status: 501,
    body: {
      code: "unimplemented",
      message: `unknown compression ${JSON.stringify(compression)}: supported encodings are identity`,
      details: []
    }
  })

/**
 * Answers by the deadline. What goes on is interrupted and not waited for: something that cannot be interrupted may take
 * longer than the caller does.
 */
const by = <E>(millis: number, work: HttpApp<E>): HttpApp<E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(work)), (fiber) =>
      restore(Effect.timeoutOption(Fiber.join(fiber), Duration.millis(millis))).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(fiber)),
        Effect.flatMap(
          Option.match({
            onSome: (response) => Effect.succeed(response),
            onNone: () =>
              Effect.sync(() => {
                fiber.interruptUnsafe()
                return late
              })
          })
        )
      )
    )
  )

/** Holds calls of the protocol to what they ask for; other requests are left alone. */
export const around = <E>(app: HttpApp<E>): HttpApp<E> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method, url }) => {
    if (method !== "POST" || challengeOf(url) === undefined) return app
    const compression = compressionOf(headers["content-encoding"])
    if (compression !== undefined) return Effect.succeed(cannotRead(compression))
    const millis = deadlineOf(headers["connect-timeout-ms"])
    if (millis === undefined) return app
    return millis === 0 ? Effect.succeed(late) : by(millis, app)
  })
