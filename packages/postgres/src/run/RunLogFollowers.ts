/**
 * Everybody in this process who follows a run. Followers of one run share what is read of it; a follower holds its place
 * and nothing else, neither a connection nor entries, between two pages that it takes.
 *
 * What this server appends is handed on from memory. What others append is told by a notification; and in case that one
 * was lost, all logs that are followed are looked at from time to time, in one statement.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import type { RunId } from "@castellan/core/run/Run"
import { RunEvent, RunLogEntry } from "@castellan/core/run/RunEvent"
import type { LoggedRun } from "@castellan/core/run/RunLog"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { SqlClient } from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import * as Document from "../database/Document.ts"
import * as Query from "../database/Query.ts"
import { acrossOrganizations, within } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"
import { type LogState, pageLength, RunLogFeed } from "./RunLogFeed.ts"
import { keyOf, type RunNotification, RunNotifications } from "./RunNotifications.ts"

/** How an event is kept. */
export const event = Document.make(RunEvent)

/** An event as a row. */
export interface EventRow {
  readonly sequence: number
  readonly event: unknown
}

/** An entry of a row. */
export const entryOf = (row: EventRow): Effect.Effect<RunLogEntry> =>
  Effect.map(event.decode(row.event), (decoded) => new RunLogEntry({ sequence: row.sequence, event: decoded }))

/** How much is at hand; for whoever runs the service, and for tests. */
export interface FollowersState {
  readonly runs: number
  readonly followers: number
  /** Entries in memory. */
  readonly entries: number
}

/** Everybody in this process who follows a run. */
export interface RunLogFollowers {
  readonly follow: (run: LoggedRun, after: number) => Stream.Stream<RunLogEntry>
  /** This server has appended events after a sequence number. */
  readonly appended: (run: LoggedRun, after: number, events: ReadonlyArray<RunEvent>) => void
  readonly state: FollowersState
}

interface LogRow extends LogState {
  /** Null where nothing came after the cursor. */
  readonly sequence: number | null
  readonly event: unknown
}

interface FollowedRow extends LogState {
  readonly organizationId: OrganizationId
  readonly runId: RunId
}

const keyOfRun = ({ id, organizationId }: LoggedRun): string => keyOf(organizationId, id)

/** Followers that look after what they may have missed every so often, as long as the scope lasts. */
export const make: (
  pollInterval: Duration.Input
) => Effect.Effect<RunLogFollowers, never, RunNotifications | Scope.Scope | SqlClient> = Effect.fnUntraced(
  function* (pollInterval) {
    const sql = yield* SqlClient
    const notifications = yield* RunNotifications
    const feeds = new Map<string, RunLogFeed>()

    /** A log with a page of what comes after a cursor. */
    const look = Effect.fnUntraced(function* (feed: RunLogFeed, cursor: number) {
      const { id, organizationId } = feed.run
      const wasFound = feed.isFound
      const rows = yield* Query.rows(sql<LogRow>`
        SELECT log.length, log.is_ended AS "isEnded", entry.sequence, entry.event
        FROM castellan.run_logs log LEFT JOIN LATERAL (
          SELECT sequence, event FROM castellan.run_events
          WHERE organization_id = log.organization_id AND run_id = log.run_id AND sequence > ${cursor}
          ORDER BY sequence LIMIT ${pageLength}
        ) entry ON true
        WHERE ${within(sql, organizationId, "log")} AND log.run_id = ${id}
        ORDER BY entry.sequence`)
      const entries = yield* Effect.forEach(rows, (row) =>
        row.sequence === null
          ? Effect.succeed([])
          : Effect.map(entryOf({ sequence: row.sequence, event: row.event }), (entry) => [entry])
      )
      // What is no longer there was removed, and would be looked for in vain again and again.
      if (rows[0] === undefined && wasFound) feed.remove()
      else feed.found(rows[0], cursor, entries.flat())
    })

    /** A page of what is no longer at hand. */
    const older = (feed: RunLogFeed, cursor: number) =>
      Effect.flatMap(
        Query.rows(sql<EventRow>`
          SELECT sequence, event FROM castellan.run_events
          WHERE ${within(sql, feed.run.organizationId)} AND run_id = ${feed.run.id}
            AND sequence > ${cursor} AND sequence <= ${feed.beginning}
          ORDER BY sequence LIMIT ${pageLength}`),
        (rows) => Effect.forEach(rows, entryOf)
      )

    type Page = readonly [entries: ReadonlyArray<RunLogEntry>, next: Option.Option<number>]

    /** The next entries for a follower; waits until there are any. */
    const page = (feed: RunLogFeed, cursor: number): Effect.Effect<Page> =>
      Effect.suspend((): Effect.Effect<Page> => {
        if (feed.isBefore(cursor)) {
          return Effect.map(older(feed, cursor), (entries) => [
            entries,
            // Nothing there: the log was removed.
            Option.map(Option.fromUndefinedOr(entries.at(-1)), ({ sequence }) => sequence)
          ])
        }
        const entries = feed.after(cursor)
        const last = entries.at(-1)
        if (last !== undefined) {
          return Effect.succeed([entries, last.event._tag === "Done" ? Option.none() : Option.some(last.sequence)])
        }
        if (feed.isOver(cursor)) return Effect.succeed([[], Option.none()])
        const progress = feed.isBehind
          ? feed.reading.withPermit(
              Effect.suspend(() => (feed.isBehind ? look(feed, feed.tail ?? cursor) : Effect.void))
            )
          : feed.changed
        return Effect.andThen(progress, page(feed, cursor))
      })

    const join = (run: LoggedRun) =>
      Effect.sync(() => {
        const key = keyOfRun(run)
        const feed = feeds.get(key) ?? new RunLogFeed(run)
        feeds.set(key, feed)
        feed.followers += 1
        return feed
      })

    const leave = (feed: RunLogFeed) =>
      Effect.sync(() => {
        feed.followers -= 1
        if (feed.followers === 0) feeds.delete(keyOfRun(feed.run))
      })

    /** Asks how long the logs are that are followed. */
    const poll = Effect.gen(function* () {
      const open = [...feeds.values()].filter((feed) => feed.isOpen)
      if (open.length === 0) return
      const known = open.filter((feed) => feed.isFound)
      const rows = yield* Query.rows(sql<FollowedRow>`
        SELECT organization_id AS "organizationId", run_id AS "runId", length, is_ended AS "isEnded"
        FROM castellan.run_logs
        JOIN unnest(
          ${uuidArray(open.map(({ run }) => run.organizationId))}::uuid[],
          ${uuidArray(open.map(({ run }) => run.id))}::uuid[]
        ) AS followed (organization_id, run_id) USING (organization_id, run_id)
        WHERE ${acrossOrganizations(sql)}`)
      const found = new Set<string>()
      for (const { length, organizationId, runId } of rows) {
        const key = keyOf(organizationId, runId)
        found.add(key)
        feeds.get(key)?.grow(length)
      }
      for (const feed of known) if (!found.has(keyOfRun(feed.run))) feed.remove()
    }).pipe(Effect.catchCause((cause) => Effect.logWarning("logs of runs could not be looked at", cause)))

    const receive = (notification: RunNotification): Effect.Effect<void> => {
      if (notification._tag === "Listening") return poll
      if (notification._tag === "Cancelled") return Effect.void
      for (const { key, length } of notification.logs) feeds.get(key)?.grow(length)
      return Effect.void
    }

    yield* Effect.forkScoped(Stream.runForEach(notifications.all, receive))
    yield* Effect.forkScoped(Effect.repeat(poll, Schedule.spaced(pollInterval)))

    return {
      follow: (run, after) =>
        Stream.unwrap(
          Effect.map(Effect.acquireRelease(join(run), leave), (feed) =>
            Stream.paginate(after, (cursor) => page(feed, cursor))
          )
        ),
      appended: (run, after, events) => feeds.get(keyOfRun(run))?.appended(after, events),
      get state() {
        const all = [...feeds.values()]
        return {
          runs: all.length,
          followers: all.reduce((sum, feed) => sum + feed.followers, 0),
          entries: all.reduce((sum, feed) => sum + feed.size, 0)
        }
      }
    }
  }
)
