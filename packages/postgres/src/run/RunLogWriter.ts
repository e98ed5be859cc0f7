/**
 * Appends to the logs of runs. What is to be appended while a statement is under way waits for it, and is then kept
 * together, in one statement and one commit, whichever runs it is of: many runs that speak at once cost the database
 * little more than one. Nothing waits for a clock.
 */
import type { RunEvent } from "@castellan/core/run/RunEvent"
import type { LoggedRun, WrittenRun } from "@castellan/core/run/RunLog"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { SqlClient } from "effect/sql/SqlClient"
import * as DatabaseFailure from "../database/DatabaseFailure.ts"
import { acrossOrganizations } from "../database/Tenancy.ts"
import { uuidArray } from "../database/UuidArray.ts"
import { event, type RunLogFollowers } from "./RunLogFollowers.ts"
import { channel, keyOf, runsPerNotification } from "./RunNotifications.ts"

/** One append, as it waits. */
interface Append {
  readonly run: WrittenRun
  readonly events: ReadonlyArray<RunEvent>
  readonly texts: ReadonlyArray<string>
  readonly kept: Deferred.Deferred<void>
}

/** All that is appended to one run by one statement: what is of an earlier epoch is none of it. */
interface Addition {
  readonly run: LoggedRun
  readonly epoch: number
  readonly events: Array<RunEvent>
  readonly texts: Array<string>
}

interface LengthRow {
  /** The place of the addition in the statement, from 1. */
  readonly number: number
  /** The length of the log with it. */
  readonly length: number
}

/** Appends to the logs of runs. */
export interface RunLogWriter {
  /** Appends events; they are kept when this is done. */
  readonly append: (run: WrittenRun, events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
}

const isDone = (one: RunEvent): boolean => one._tag === "Done"

/** What appends come to, run by run, each in the order in which it came, up to its `Done`. */
const additionsOf = (appends: ReadonlyArray<Append>): ReadonlyArray<Addition> => {
  const additions = new Map<string, Addition>()
  for (const { events, run, texts } of appends) {
    const key = keyOf(run.organizationId, run.id)
    const { epoch = 0 } = run
    const before = additions.get(key)
    if (before !== undefined && epoch < before.epoch) continue
    const addition = before?.epoch === epoch ? before : { run, epoch, events: [], texts: [] }
    additions.set(key, addition)
    if (addition.events.some(isDone)) continue
    const end = events.findIndex(isDone)
    addition.events.push(...events.slice(0, end === -1 ? undefined : end + 1))
    addition.texts.push(...texts.slice(0, end === -1 ? undefined : end + 1))
  }
  // In one order everywhere: two servers that append to the same runs must not wait for each other.
  return [...additions.values()].toSorted((a, b) => (a.run.id < b.run.id ? -1 : 1))
}

const textArray = (texts: ReadonlyArray<string>) => Result.getOrThrow(PgTypes.array(texts, PgTypes.OID.text))
const intArray = (numbers: ReadonlyArray<number>) => Result.getOrThrow(PgTypes.array(numbers, PgTypes.OID.int4))
const boolArray = (values: ReadonlyArray<boolean>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bool))

/** A writer that tells the followers in this process of what it has kept, and servers elsewhere by a notification. */
export const make: (followers: RunLogFollowers) => Effect.Effect<RunLogWriter, never, Scope.Scope | SqlClient> =
  Effect.fnUntraced(function* (followers) {
    const sql = yield* SqlClient
    const waiting = yield* Queue.unbounded<Append>()

    /**
     * Keeps additions. The head of a log gives out its numbers, one statement after the other, none once the log has
     * ended, and none in an epoch that is over. The statement is about several organizations, each of whose rows says whose it is.
     */
    const keep = Effect.fnUntraced(function* (additions: ReadonlyArray<Addition>) {
      const rows = yield* sql<LengthRow>`
        WITH addition AS MATERIALIZED (
          SELECT * FROM unnest(
            ${uuidArray(additions.map(({ run }) => run.organizationId))}::uuid[],
            ${uuidArray(additions.map(({ run }) => run.id))}::uuid[],
            ${intArray(additions.map(({ epoch }) => epoch))}::int[],
            ${intArray(additions.map(({ events }) => events.length))}::int[],
            ${boolArray(additions.map(({ events }) => events.some(isDone)))}::boolean[]
          ) WITH ORDINALITY AS addition (organization_id, run_id, epoch, events, is_end, number)
          WHERE ${acrossOrganizations(sql)}
        ), head AS (
          INSERT INTO castellan.run_logs AS log (organization_id, run_id, epoch, length, is_ended)
          SELECT organization_id, run_id, epoch, events, is_end FROM addition ORDER BY number
          ON CONFLICT (organization_id, run_id) DO UPDATE
            SET epoch = excluded.epoch, length = log.length + excluded.length, is_ended = excluded.is_ended
            WHERE NOT log.is_ended AND log.epoch <= excluded.epoch
          RETURNING organization_id, run_id, length
        ), grown AS (
          SELECT addition.*, head.length FROM head JOIN addition USING (organization_id, run_id)
        ), entry AS (
          INSERT INTO castellan.run_events (organization_id, run_id, sequence, event)
          SELECT organization_id, run_id, length - events + place, text::json
          FROM grown JOIN unnest(
            ${intArray(additions.flatMap(({ texts }, index) => texts.map(() => index + 1)))}::int[],
            ${intArray(additions.flatMap(({ texts }) => texts.map((_, index) => index + 1)))}::int[],
            ${textArray(additions.flatMap(({ texts }) => texts))}::text[]
          ) AS event (number, place, text) USING (number)
        ), told AS (
          SELECT pg_notify(${channel}, string_agg(organization_id || '/' || run_id || ':' || length, ',')) FROM grown
          HAVING count(*) > 0
        )
        SELECT number::int AS number, length FROM grown CROSS JOIN told`
      for (const { length, number } of rows) {
        const addition = additions[number - 1]
        if (addition !== undefined) {
          followers.appended(addition.run, length - addition.events.length, addition.events)
        }
      }
    })

    /** Keeps what can be kept: what the database cannot take of one run is no matter of the others. */
    const keepAll = (appends: ReadonlyArray<Append>, additions: ReadonlyArray<Addition>): Effect.Effect<void> =>
      Effect.flatMap(
        Effect.exit(Effect.retry(keep(additions), { times: 5, while: DatabaseFailure.isLostRace })),
        (exit) => {
          const failure = Exit.isFailure(exit) ? DatabaseFailure.statementFailure(exit.cause) : undefined
          if (failure === undefined || additions.length === 1 || DatabaseFailure.isUnavailable(failure)) {
            return Effect.flatMap(Effect.exit(DatabaseFailure.orDefect(exit)), (end) =>
              Effect.forEach(appends, ({ kept }) => Deferred.done(kept, end), { discard: true })
            )
          }
          return Effect.forEach(
            additions,
            (addition) =>
              keepAll(
                appends.filter(({ run }) => isSame(run, addition.run)),
                [addition]
              ),
            { discard: true }
          )
        }
      )

    const isSame = (a: LoggedRun, b: LoggedRun) => a.id === b.id && a.organizationId === b.organizationId

    const end = Effect.gen(function* () {
      const left = yield* Queue.clear(waiting)
      yield* Queue.shutdown(waiting)
      yield* Effect.forEach(left, ({ kept }) => Deferred.interrupt(kept), { discard: true })
    })

    yield* Effect.addFinalizer(() => end)
    yield* Queue.takeBetween(waiting, 1, runsPerNotification).pipe(
      // Once it is on its way, it is kept, or known not to be.
      Effect.flatMap((appends) => Effect.uninterruptible(keepAll(appends, additionsOf(appends)))),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      append: (run, events) =>
        Effect.gen(function* () {
          // Nothing, in a later epoch, is something: it keeps the earlier ones out.
          if (events.length === 0 && (run.epoch ?? 0) === 0) return
          const outer = yield* Effect.serviceOption(sql.transactionService)
          if (outer._tag === "Some") {
            return yield* Effect.die(new Error("events of runs are not appended within a transaction"))
          }
          const kept = Deferred.makeUnsafe<void>()
          const texts = events.map(event.encode)
          if (!(yield* Queue.offer(waiting, { run, events, texts, kept }))) return yield* Effect.interrupt
          yield* Deferred.await(kept)
        })
    }
  })
