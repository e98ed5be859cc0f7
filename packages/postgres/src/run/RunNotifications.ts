/**
 * How servers that share a database tell each other that a run's log has grown, and that a run is to be stopped. What is
 * told is a hint and no more: who misses one finds out at its next look.
 *
 * Source: architecture.md §4 ("many servers"); issue "Everything kept", §1 ("The run log with LISTEN/NOTIFY").
 */
import { RunId } from "@castellan/core/run/Run"
import { PgClient } from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The channel of the database on which servers tell each other of runs. */
export const channel = "castellan_run_log"

/** Runs at most in one notification: its payload has less than 8,000 bytes. Source: PostgreSQL, NOTIFY. */
export const runsPerNotification = 90

/** How long a log is now. */
export interface Growth {
  /** Whose log, as `keyOf` names it. */
  readonly key: string
  readonly length: number
}

/** What a server is told. */
export type RunNotification =
  | { readonly _tag: "Grown"; readonly logs: ReadonlyArray<Growth> }
  /** A run is to be stopped, by whoever carries it. */
  | { readonly _tag: "Cancelled"; readonly runId: RunId }
  /** It listens now, and did not before: anything may have grown meanwhile. */
  | { readonly _tag: "Listening" }

/** What logs are named by: the organization and the run. The statement that notifies writes the same. */
export const keyOf = (organizationId: string, runId: string): string => `${organizationId}/${runId}`

/** What the servers of a deployment tell each other. */
export class RunNotifications extends Context.Service<
  RunNotifications,
  {
    /** What is told from now on. It never ends. Whoever listens shares what listens in this process. */
    readonly all: Stream.Stream<RunNotification>
  }
>()("@castellan/postgres/run/RunNotifications") {}

/** The growth in a payload; what cannot be read says nothing, and is found at the next look. */
const growthsOf = (payload: string): ReadonlyArray<Growth> =>
  payload.split(",").flatMap((part) => {
    const [key, length] = part.split(":")
    return key === undefined || length === undefined || !/^[1-9][0-9]*$/.test(length)
      ? []
      : [{ key, length: Number(length) }]
  })

/** The payload that tells of a run that is to be stopped. */
export const cancelOf = (organizationId: string, runId: string): string => `${keyOf(organizationId, runId)}:cancel`

const idIn = Schema.decodeUnknownOption(RunId)

/** What a payload tells. */
const told = (payload: string): RunNotification => {
  const cancelled = /^[^/]+\/(.+):cancel$/.exec(payload)
  const runId = cancelled === null ? Option.none() : idIn(cancelled[1])
  return Option.isSome(runId) ? { _tag: "Cancelled", runId: runId.value } : { _tag: "Grown", logs: growthsOf(payload) }
}

/** From 0.1 seconds up to 5, as long as the server cannot be reached. */
const reconnecting = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

/** Through the database itself: one connection of the pool listens, and a lost one is replaced. */
export const layer: Layer.Layer<RunNotifications, never, PgClient> = Layer.effect(
  RunNotifications,
  Effect.gen(function* () {
    const sql = yield* PgClient
    const listening: RunNotification = { _tag: "Listening" }
    const all = Stream.unwrap(
      Effect.map(sql.listen(channel), (queue) =>
        Stream.concat(
          Stream.succeed(listening),
          Stream.map(Stream.fromQueue(queue), ({ payload }) => told(payload))
        )
      )
    ).pipe(
      Stream.tapError((error) => Effect.logWarning("notifications of runs do not come in; connecting again", error)),
      Stream.retry(reconnecting),
      Stream.orDie
    )
    // Who comes later hears at least that somebody listens.
    const heard = yield* PubSub.unbounded<RunNotification>({ replay: 1 })
    yield* Effect.forkScoped(Stream.runForEach(all, (notification) => PubSub.publish(heard, notification)))
    return RunNotifications.of({ all: Stream.fromPubSub(heard) })
  })
)

/** Where one process has the database to itself: it knows of its own appends, and nobody else has anything to tell. */
export const layerInProcess: Layer.Layer<RunNotifications> = Layer.succeed(RunNotifications, { all: Stream.never })
