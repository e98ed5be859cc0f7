/**
 * Calls to a provider of remote sandboxes: each with a deadline of its own, whatever the provider's client keeps, and
 * with failures that say what can be done about them.
 *
 * Source: the measured facts on remote sandboxes: a provider answers with 500, hangs at the first command, or has lost
 * what it said it kept.
 */
import {
  AuthenticationError,
  CommandExitError,
  NotFoundError,
  RateLimitError,
  SandboxError as ProviderError,
  ServiceBusyError,
  TimeoutError
} from "@e2b/code-interpreter"
import { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** Why a provider did not do what it was asked. */
export type ProviderReason =
  /** It did not answer in time: what was asked may have been done. */
  | "silent"
  /** It cannot answer now. */
  | "busy"
  /** There is no such sandbox, or not any more. */
  | "gone"
  /** It does not know who asks. */
  | "refused"
  /** A limit of the account is reached. */
  | "limit"
  /** It answered what cannot be understood, or that the request is at fault. */
  | "other"

/** A call to a provider failed. Never leaves this folder. */
export class ProviderFailure extends Data.TaggedError("ProviderFailure")<{
  readonly reason: ProviderReason
  /** For the log. */
  readonly detail: string
}> {}

const limits: ReadonlySet<number> = new Set([402, 403, 429])

const reasonOf = (error: unknown): ProviderReason => {
  if (error instanceof NotFoundError || error instanceof TimeoutError) return "gone"
  if (error instanceof AuthenticationError) return "refused"
  if (error instanceof RateLimitError) return "limit"
  if (error instanceof ServiceBusyError) return "busy"
  if (error instanceof CommandExitError) return "other"
  if (error instanceof ProviderError) {
    // What runs in the sandbox answers without a status where it is at fault itself.
    if (error.statusCode === undefined || error.statusCode >= 500) return "busy"
    return limits.has(error.statusCode) ? "limit" : "other"
  }
  // A connection that broke, before an answer or in the midst of it, and whatever the client does not tell apart.
  return error instanceof TypeError || error instanceof SyntaxError ? "busy" : "other"
}

/** Calls a provider. The signal is aborted when nobody waits for the answer any more. */
export const call = <A>(
  what: string,
  timeout: Duration.Duration,
  run: (signal: AbortSignal) => Promise<A>
): Effect.Effect<A, ProviderFailure> =>
  Effect.tryPromise({
    try: run,
    catch: (error) =>
      new ProviderFailure({
        reason: reasonOf(error),
        detail: `${what}: ${error instanceof Error ? error.message : String(error)}`
      })
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(
          new ProviderFailure({ reason: "silent", detail: `${what}: no answer in ${Duration.format(timeout)}` })
        )
    })
  )

/** Calls again, a moment later, what does no harm when it is done twice. */
export const patiently = <A>(effect: Effect.Effect<A, ProviderFailure>): Effect.Effect<A, ProviderFailure> =>
  Effect.retry(effect, {
    times: 2,
    schedule: Schedule.exponential("200 millis"),
    while: ({ reason }) => reason === "busy" || reason === "silent"
  })

const words: { readonly [Reason in ProviderReason]: string } = {
  silent: "the provider of sandboxes did not answer in time",
  busy: "the provider of sandboxes cannot open one at the moment",
  gone: "the provider of sandboxes has lost the one that it opened",
  refused: "the provider of sandboxes does not accept the key of this deployment",
  limit: "the limit of this deployment at the provider of sandboxes is reached",
  other: "the provider of sandboxes did not open one"
}

const told = (failure: ProviderFailure) =>
  Effect.logWarning("A call to the provider of sandboxes failed", failure.reason, failure.detail)

/** What a failure means to whoever opens a session. */
export const whileOpening = <A, R>(effect: Effect.Effect<A, ProviderFailure, R>): Effect.Effect<A, SandboxError, R> =>
  effect.pipe(
    Effect.tapErrorTag("ProviderFailure", told),
    Effect.mapError(
      ({ reason }) =>
        new SandboxError({ reason: reason === "limit" ? "exhausted" : "unavailable", message: words[reason] })
    )
  )

/** What a failure means to whoever has a session: a sandbox that cannot be reached is as good as gone. */
export const whileOpen = <A, R>(effect: Effect.Effect<A, ProviderFailure, R>): Effect.Effect<A, SandboxError, R> =>
  effect.pipe(
    Effect.tapErrorTag("ProviderFailure", told),
    Effect.mapError(() => new SandboxError({ reason: "lost", message: "the sandbox cannot be reached any more" }))
  )
