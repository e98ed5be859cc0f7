/**
 * The public keys of an identity provider, by the address where it publishes them (JWKS).
 *
 * They are fetched once and kept. What is older than its lifetime is fetched again while requests go on with what is
 * there, so that a provider that is slow or down holds nobody up; only what is older than a day is trusted no more, or
 * a key that was withdrawn could be kept alive by keeping us from its provider. A key that nobody knows may be a new
 * one, so it is asked for; but whoever makes keys up makes us ask once in a cooldown, and no more.
 *
 * Source: decisions.md §3 ("a JWT verified against a JWKS"); RFC 7517 §5.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createLocalJWKSet, type LocalJWKSet } from "jose/jwks/local"

/** Where keys come from, and how long they are kept. */
export interface RemoteKeySetOptions {
  /** Where the identity provider publishes its keys. Whoever answers there decides who is let in: it should be https. */
  readonly url: URL
  /** How long keys are used before they are fetched again. Default 10 minutes. */
  readonly lifetime?: Duration.Duration
  /** How long keys are used that cannot be fetched again. Default 1 day. */
  readonly staleness?: Duration.Duration
  /** Time from one fetch to the next, at least, whatever it is for. Default 10 s. */
  readonly cooldown?: Duration.Duration
  /** Time for the provider to answer. Default 5 s. */
  readonly timeout?: Duration.Duration
}

/** The keys of an identity provider. */
export interface RemoteKeySet {
  /** The keys as they are known; none while the provider has not told them, or for too long. */
  readonly keys: Effect.Effect<Option.Option<LocalJWKSet>>
  /** Keys that are newer than some, fetched now unless the cooldown forbids it; none where there are none. */
  readonly newerThan: (known: LocalJWKSet) => Effect.Effect<Option.Option<LocalJWKSet>>
}

/** The keys could not be fetched. */
class KeySetUnusable extends Schema.TaggedError<KeySetUnusable>("@castellan/http/identity/KeySetUnusable")(
  "KeySetUnusable",
  { message: Schema.String }
) {}

/** Bytes of a key set at most; those of large providers have a few thousand. */
const maximumBytes = 256 * 1024

const decodeKeySet = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.Json)) }))
)

/** What the provider answers, as long as it is not more than a key set can be. */
const textOf = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.mapAccum(
      () => 0,
      (read, bytes) => [read + bytes.length, [{ bytes, read: read + bytes.length }]] as const
    ),
    Stream.mapEffect(({ bytes, read }) =>
      read > maximumBytes
        ? Effect.fail(new KeySetUnusable({ message: `it is larger than ${maximumBytes} bytes` }))
        : Effect.succeed(bytes)
    ),
    Stream.decodeText(),
    Stream.mkString
  )

/** Fetches the keys. A redirect is not followed: it could lead anywhere. */
const fetchFrom = (url: URL, timeout: Duration.Duration): Effect.Effect<LocalJWKSet, { readonly message: string }> =>
  HttpClient.execute(HttpClientRequest.get(url, { accept: "application/json" })).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap(textOf),
    Effect.flatMap(decodeKeySet),
    Effect.flatMap(({ keys }) =>
      Effect.try({
        try: () => createLocalJWKSet({ keys: keys.map((key) => ({ ...key })) }),
        catch: () => new KeySetUnusable({ message: "it is no set of JSON Web Keys" })
      })
    ),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(new KeySetUnusable({ message: `no answer within ${Duration.format(timeout)}` }))
    }),
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error", credentials: "omit" }),
    Effect.provideService(HttpClient.TracerPropagationEnabled, false)
  )

/** The keys that were fetched, and when. */
interface Held {
  readonly keys: LocalJWKSet
  readonly since: number
}

/** Keeps the keys of an identity provider for as long as the scope is open. The first fetch begins at once. */
export const make = Effect.fnUntraced(function* (
  options: RemoteKeySetOptions
): Effect.fn.Return<RemoteKeySet, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const lifetime = Duration.toMillis(options.lifetime ?? Duration.minutes(10))
  const staleness = Duration.toMillis(options.staleness ?? Duration.days(1))
  const cooldown = Duration.toMillis(options.cooldown ?? Duration.seconds(10))
  const fetched = fetchFrom(options.url, options.timeout ?? Duration.seconds(5))

  let held: Held | undefined
  let flight: Deferred.Deferred<void> | undefined
  let nextAttempt = Number.NEGATIVE_INFINITY

  const fly = Effect.gen(function* () {
    const keys = yield* fetched
    held = { keys, since: yield* Clock.currentTimeMillis }
  }).pipe(
    Effect.catch(({ message }) =>
      Effect.logWarning(`the keys of the identity provider cannot be fetched from ${options.url.href}: ${message}`)
    )
  )

  /**
   * The fetch that is under way, or a new one; none while the cooldown lasts. It is nobody's in particular: a request
   * that is cut short takes nothing from the others.
   */
  const attempt = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (flight !== undefined) return Option.some(flight)
    if (now < nextAttempt) return Option.none()
    const landing = Deferred.makeUnsafe<void>()
    flight = landing
    nextAttempt = now + cooldown
    const landed = Effect.suspend(() => {
      flight = undefined
      return Deferred.succeed(landing, undefined)
    })
    yield* Effect.forkIn(Effect.interruptible(Effect.ensuring(fly, landed)), scope)
    return Option.some(landing)
  }).pipe(Effect.uninterruptible)

  const attempted = Effect.flatMap(attempt, (landing) =>
    Option.isSome(landing) ? Deferred.await(landing.value) : Effect.void
  )

  yield* attempt
  return {
    keys: Effect.gen(function* () {
      const age = (yield* Clock.currentTimeMillis) - (held?.since ?? Number.NEGATIVE_INFINITY)
      if (age >= staleness) {
        held = undefined
        yield* attempted
      } else if (age >= lifetime) yield* attempt
      return Option.fromUndefinedOr(held?.keys)
    }),

    newerThan: (known) =>
      Effect.gen(function* () {
        if (held?.keys === known) yield* attempted
        return Option.filter(Option.fromUndefinedOr(held?.keys), (keys) => keys !== known)
      })
  }
})
