/**
 * The bounds of the HTTP surface: how much is read, how long is waited, how long things are kept.
 *
 * Source: decisions.md §4 ("a comment every 15 s", "Signed asset URLs live 15 minutes").
 */
import type { RateLimit } from "@castellan/core/organization/Organization"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

/** The bounds of the HTTP surface. */
export interface HttpLimits {
  /** Bytes of a JSON body; a larger one is refused with 413, and not read to its end. */
  readonly maxBodyBytes: number
  /**
   * Time for an operation to answer, beyond which it is 504. One that waits for a run, or for a file to arrive, has the
   * time that an answer may take beside it; a stream that has begun has no limit.
   */
  readonly requestTimeout: Duration.Duration
  /**
   * Time that `POST /v2/chats` waits for the run to end. A run has its own, shorter limit; this is for one that waits
   * for its turn.
   */
  readonly answerTimeout: Duration.Duration
  /** How often a comment is sent on a stream where nothing happens. */
  readonly heartbeat: Duration.Duration
  /** How long the frames of a run are kept after its last follower left. */
  readonly keepFrames: Duration.Duration
  /** Bytes of frames that are kept for runs without followers; the ones left longest ago go first. */
  readonly maxKeptBytes: number
  /** How long a signed asset URL works. */
  readonly assetLife: Duration.Duration
  /** Failed authentications of one client address. */
  readonly failedAuthentications: RateLimit
  /**
   * How long an attempt at a request with an idempotency key holds it; it is renewed for as long as the attempt goes
   * on. When a server dies in the middle of one, a client can try again after this time.
   */
  readonly idempotencyLease: Duration.Duration
  /** Bytes of a form that comes with an idempotency key: it is held in memory as a whole, to know it again. */
  readonly maxKeyedFormBytes: number
}

/** The bounds in force; a host replaces them by providing its own value. */
export const HttpLimits = Context.Reference<HttpLimits>("@castellan/http/HttpLimits", {
  defaultValue: () => ({
    maxBodyBytes: 1024 * 1024,
    requestTimeout: Duration.seconds(30),
    answerTimeout: Duration.minutes(11),
    heartbeat: Duration.seconds(15),
    keepFrames: Duration.minutes(1),
    maxKeptBytes: 64 * 1024 * 1024,
    assetLife: Duration.minutes(15),
    failedAuthentications: { requestsPerMinute: 60, burst: 60 },
    idempotencyLease: Duration.seconds(30),
    maxKeyedFormBytes: 32 * 1024 * 1024
  })
})

/** How long any request is carried out at most: as long as an answer may take, with all that is done around it. */
export const longestRequest = ({ answerTimeout, requestTimeout }: HttpLimits): Duration.Duration =>
  Duration.sum(answerTimeout, requestTimeout)
