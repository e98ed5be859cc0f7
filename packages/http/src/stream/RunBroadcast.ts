/**
 * Sends runs to their followers: one fiber a run reads the run log and encodes each event once, however many follow.
 *
 * Frames are kept for a while after the last follower left, so that a crowd that comes to replay a run finds them
 * made. One timer of the process keeps connections open, renews signed addresses and forgets what nobody follows.
 *
 * Source: architecture.md §3; decisions.md §4 ("The stream").
 */
import { InvalidRequest } from "@castellan/core/error/Failure"
import type { RunId } from "@castellan/core/run/Run"
import type { RunLogEntry } from "@castellan/core/run/RunEvent"
import { type LoggedRun, RunLog } from "@castellan/core/run/RunLog"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { AssetSignature } from "../asset/AssetSignature.ts"
import { HttpLimits } from "../HttpLimits.ts"
import { isStorageUnavailable } from "../request/FailureResponse.ts"
import * as EventFrame from "./EventFrame.ts"
import { type Follower, RunFeed } from "./RunFeed.ts"

/** A run to follow. */
export interface FollowedRun extends LoggedRun {
  /** Its place among the runs of its chat, from 0. */
  readonly number: number
}

/** What is kept of a run here. */
interface Broadcast {
  readonly feed: RunFeed
  /** Done when the events that were there have been read. */
  readonly ready: Deferred.Deferred<void>
}

/** How much is going on; for whoever runs the service, and for tests. */
export interface BroadcastState {
  /** Runs whose frames are here. */
  readonly runs: number
  readonly followers: number
  /** Bytes of memory that the frames take. */
  readonly bytes: number
}

/** Sends runs to their followers. */
export class RunBroadcast extends Context.Service<
  RunBroadcast,
  {
    /**
     * Follows a run after so many of its events. Fails when the run has had fewer: whoever says that it has received
     * them has the id from somewhere else.
     */
    readonly follow: (run: FollowedRun, received: number) => Effect.Effect<Follower, InvalidRequest>
    /** Ends every stream, and every one that is asked for later, so that clients resume elsewhere. */
    readonly close: Effect.Effect<void>
    readonly state: Effect.Effect<BroadcastState>
  }
>()("@castellan/http/stream/RunBroadcast") {}

/** Sends runs to their followers, from the run log. */
export const layer: Layer.Layer<RunBroadcast, never, AssetSignature | RunLog> = Layer.effect(
  RunBroadcast,
  Effect.gen(function* () {
    const log = yield* RunLog
    const signature = yield* AssetSignature
    const limits = yield* HttpLimits
    const fibers = yield* FiberMap.make<RunId>()
    const broadcasts = new Map<RunId, Broadcast>()
    const keepFor = Duration.toMillis(limits.keepFrames)
    let closing = false

    /** Addresses that were made before this have lived a third of their life. */
    const staleBefore = (now: number): number => now - signature.life / 3

    const readInto = (feed: RunFeed, entries: ReadonlyArray<RunLogEntry>) =>
      Effect.map(Clock.currentTimeMillis, (now) => feed.append(entries, now))

    const broadcastOf = Effect.fnUntraced(function* (run: FollowedRun) {
      const now = yield* Clock.currentTimeMillis
      const found = broadcasts.get(run.id)
      if (found !== undefined) return found
      const feed = new RunFeed(EventFrame.encoder(run.number, signature.signer), now)
      const ready = Deferred.makeUnsafe<void>()
      const broadcast: Broadcast = { feed, ready }
      broadcasts.set(run.id, broadcast)
      const reading = Effect.gen(function* () {
        yield* readInto(feed, yield* log.read(run, 0))
        yield* Deferred.succeed(ready, undefined)
        if (feed.isClosed) return
        yield* Stream.runForEachArray(log.follow(run, feed.count), (entries) => readInto(feed, entries))
        if (!feed.isClosed) return yield* Effect.die(new Error("the run log ended before the run did"))
      }).pipe(
        Effect.onExit((exit) => {
          if (Exit.isSuccess(exit)) return Effect.void
          broadcasts.delete(run.id)
          const failed = !Cause.hasInterruptsOnly(exit.cause)
          // A storage that is away comes back: the streams end as they do when a server stops, and clients resume.
          feed.close(failed && !isStorageUnavailable(exit.cause) ? EventFrame.broken : undefined)
          return Effect.andThen(
            Deferred.failCause(ready, exit.cause),
            failed ? Effect.logError("a run cannot be followed", exit.cause) : Effect.void
          )
        }),
        Effect.annotateLogs({ run: run.id }),
        Effect.ignoreCause
      )
      yield* FiberMap.run(fibers, run.id, reading)
      return broadcast
      // A broadcast that others find must be read by somebody, whoever has asked for it first.
    }, Effect.uninterruptible)

    const follow = Effect.fn("RunBroadcast.follow")(function* (run: FollowedRun, received: number) {
      const { feed, ready } = yield* broadcastOf(run)
      yield* Effect.uninterruptibleMask((restore) => {
        feed.arriving += 1
        return Effect.ensuring(
          restore(Deferred.await(ready)),
          Effect.sync(() => {
            feed.arriving -= 1
          })
        )
      })
      if (received > feed.count) {
        return yield* new InvalidRequest({ message: "last-event-id: must be the id of an event of this chat" })
      }
      const now = yield* Clock.currentTimeMillis
      feed.refresh(staleBefore(now), now)
      if (closing) feed.close()
      return feed.follower(received, now)
    })

    const forget = (id: RunId) => {
      broadcasts.delete(id)
      return FiberMap.remove(fibers, id)
    }

    const tend = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const idle: Array<readonly [RunId, RunFeed]> = []
      for (const [id, { feed }] of broadcasts) {
        if (feed.isIdle) {
          idle.push([id, feed])
        } else {
          feed.leftAt = now
          feed.refresh(staleBefore(now), now)
          feed.heartbeat()
        }
      }
      let kept = 0
      for (const [id, feed] of idle.toSorted(([, a], [, b]) => b.leftAt - a.leftAt)) {
        kept += feed.size
        if (now - feed.leftAt > keepFor || kept > limits.maxKeptBytes) yield* forget(id)
      }
    })

    const close = Effect.sync(() => {
      closing = true
      for (const { feed } of broadcasts.values()) feed.close()
    })

    yield* Effect.addFinalizer(() => close)
    yield* Effect.forkScoped(Effect.repeat(tend, Schedule.spaced(limits.heartbeat)))

    return RunBroadcast.of({
      follow,
      close,
      state: Effect.sync(() => {
        const feeds = [...broadcasts.values()].map((broadcast) => broadcast.feed)
        return {
          runs: feeds.length,
          followers: feeds.reduce((sum, feed) => sum + feed.followerCount, 0),
          bytes: feeds.reduce((sum, feed) => sum + feed.size, 0)
        }
      })
    })
  })
)
