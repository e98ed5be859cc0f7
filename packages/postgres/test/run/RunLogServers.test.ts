/**
 * Several servers on one database: what one appends, the followers of the others see, whatever becomes of a connection.
 */
import { RunEvent, type RunLogEntry } from "@castellan/core/run/RunEvent"
import { RunId } from "@castellan/core/run/Run"
import { type LoggedRun, RunLog } from "@castellan/core/run/RunLog"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, type Duration, Effect, Exit, Fiber, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresTransaction from "../../src/database/PostgresTransaction.ts"
import * as PostgresRunLog from "../../src/run/PostgresRunLog.ts"
import { windowLength } from "../../src/run/RunLogFeed.ts"
import * as RunLogFollowers from "../../src/run/RunLogFollowers.ts"
import * as RunLogWriter from "../../src/run/RunLogWriter.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"
import { asSuperuser, type TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const text = (words: string): RunEvent => RunEvent.cases.Text.make({ text: words })
const done: RunEvent = RunEvent.cases.Done.make({ status: "completed" })

const wordsOf = (entries: ReadonlyArray<RunLogEntry>): ReadonlyArray<string> =>
  entries.map(({ event }) => (event._tag === "Text" ? event.text : event._tag))

const counting = (to: number): ReadonlyArray<number> => Array.from({ length: to }, (_, index) => index + 1)

const at = <A>(all: ReadonlyArray<A>, index: number): A => {
  const found = all[index]
  if (found === undefined) throw new RangeError(`there is no ${index}`)
  return found
}

const someRun = Effect.provide(Effect.all({ id: Sample.runId, organizationId: Sample.organizationId }), layerCrypto)

interface ServerOptions {
  readonly pollInterval?: Duration.Input
  readonly notifications?: Layer.Layer<RunNotifications.RunNotifications, never, never>
}

/** The connections of a server to a database. */
const connections = (server: TestServer, database: string, maxConnections = 4) =>
  PostgresDatabase.layer({ url: TestDatabase.serviceUrl(server, database), maxConnections })

/** A server's own run log, for as long as the test. */
const logOf = (server: TestServer, database: string, { notifications, ...options }: ServerOptions = {}) =>
  Effect.map(
    Layer.build(
      PostgresRunLog.layer({ pollInterval: "1 hour", ...options }).pipe(
        Layer.provide(notifications ?? RunNotifications.layer),
        Layer.provide(connections(server, database))
      )
    ),
    Context.get(RunLog)
  )

/** Follows a run; each entry is there to be taken when it has come. */
const following = Effect.fnUntraced(function* (log: RunLog["Service"], run: LoggedRun) {
  const entries = yield* Queue.unbounded<string>()
  yield* Effect.forkScoped(
    Stream.runForEach(log.follow(run, 0), (entry) => Effect.asVoid(Queue.offerAll(entries, wordsOf([entry]))))
  )
  return entries
})

/** The backends of a database that listen. */
const listeners = (server: TestServer, database: string) =>
  asSuperuser(
    server,
    database,
    Effect.flatMap(
      SqlClient,
      (sql) => sql<{ readonly pid: number }>`
        SELECT pid FROM pg_stat_activity WHERE datname = ${database} AND query LIKE 'LISTEN %'`
    )
  )

/** Lets the clock of the test go on until something is so. */
const until = <A, E>(check: Effect.Effect<A, E>, isSo: (answer: A) => boolean): Effect.Effect<A, E> =>
  Effect.flatMap(check, (answer) =>
    isSo(answer) ? Effect.succeed(answer) : Effect.andThen(TestClock.adjust("100 millis"), until(check, isSo))
  )

for (const server of TestDatabase.servers()) {
  describe(`several servers (${server.name})`, () => {
    it.effect("a follower on another server sees each entry, told by a notification and not by a look", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const [a, b] = [yield* logOf(server, database), yield* logOf(server, database)]
        const run = yield* someRun
        const seen = yield* following(b, run)
        // The clock stands still, so nobody looks; and an entry that is not told of is waited for in vain.
        for (const index of counting(50)) {
          yield* a.append(run, [text(`${index}`)])
          assert.strictEqual(yield* Queue.take(seen), `${index}`)
        }
        yield* b.append(run, [text("from b"), done])
        assert.deepStrictEqual([yield* Queue.take(seen), yield* Queue.take(seen)], ["from b", "Done"])
        assert.strictEqual((yield* Stream.runCollect(a.follow(run, 0))).length, 52)
      })
    )

    it.effect("a notification that was lost costs one interval", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const a = yield* logOf(server, database)
        const b = yield* logOf(server, database, {
          pollInterval: "1 second",
          notifications: RunNotifications.layerInProcess
        })
        const run = yield* someRun
        yield* a.append(run, [text("1")])
        const seen = yield* following(b, run)
        assert.strictEqual(yield* Queue.take(seen), "1")
        yield* a.append(run, [text("2")])
        yield* TestClock.adjust("900 millis")
        // Time for whatever might be on its way.
        yield* Effect.forEach(counting(20), () => b.read(run, 0), { discard: true })
        assert.strictEqual(yield* Queue.size(seen), 0)
        yield* TestClock.adjust("100 millis")
        assert.strictEqual(yield* Queue.take(seen), "2")
        yield* a.append(run, [done])
        yield* until(Queue.size(seen), (size) => size === 1)
        assert.strictEqual(yield* Queue.take(seen), "Done")
      })
    )

    it.effect("a listener whose connection is cut listens again, and has missed nothing", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const a = yield* logOf(server, database, { notifications: RunNotifications.layerInProcess })
        const b = yield* logOf(server, database)
        const run = yield* someRun
        const seen = yield* following(b, run)
        const [first] = yield* until(listeners(server, database), (found) => found.length === 1)
        yield* a.append(run, [text("before")])
        assert.strictEqual(yield* Queue.take(seen), "before")
        yield* asSuperuser(
          server,
          database,
          Effect.flatMap(SqlClient, (sql) => sql`SELECT pg_terminate_backend(${first?.pid ?? 0})`)
        )
        yield* a.append(run, [text("meanwhile")])
        yield* until(listeners(server, database), ([found]) => found !== undefined && found.pid !== first?.pid)
        assert.strictEqual(yield* Queue.take(seen), "meanwhile")
        yield* a.append(run, [text("after"), done])
        assert.deepStrictEqual([yield* Queue.take(seen), yield* Queue.take(seen)], ["after", "Done"])
      })
    )

    it.effect("fifty writers on two servers lose nothing and repeat nothing", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const logs = [yield* logOf(server, database), yield* logOf(server, database)]
        const runs = yield* Effect.all(counting(5).map(() => someRun))
        const followers = yield* Effect.forEach(runs, (run, index) =>
          Effect.forkChild(Stream.runCollect(at(logs, index % 2).follow(run, 0)))
        )
        yield* Effect.forEach(
          counting(50),
          (writer) =>
            Effect.forEach(
              counting(20),
              (index) => at(logs, writer % 2).append(at(runs, writer % 5), [text(`${writer}/${index}`), text("|")]),
              { discard: true }
            ),
          { concurrency: "unbounded", discard: true }
        )
        yield* Effect.forEach(runs, (run) => at(logs, 0).append(run, [done]), { concurrency: "unbounded" })
        for (const [index, run] of runs.entries()) {
          const entries = yield* at(logs, 1).read(run, 0)
          assert.deepStrictEqual(
            entries.map((entry) => entry.sequence),
            counting(401)
          )
          const words = wordsOf(entries)
          // What was appended in one step stands together.
          words.forEach((word, place) => assert.strictEqual(place % 2 === 1, word === "|"))
          for (const writer of counting(50).filter((one) => one % 5 === index)) {
            assert.deepStrictEqual(
              words.filter((word) => word.startsWith(`${writer}/`)),
              counting(20).map((one) => `${writer}/${one}`)
            )
          }
          assert.deepStrictEqual(wordsOf(yield* Fiber.join(at(followers, index))), words)
        }
      })
    )

    it.effect("what the database cannot take of one run is no matter of the others", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const log = yield* logOf(server, database)
        const runs = yield* Effect.all(counting(4).map(() => someRun))
        const broken = { ...(yield* someRun), id: RunId.make("no id at all", { disableChecks: true }) }
        const exits = yield* Effect.forEach(
          [...runs.slice(0, 2), broken, ...runs.slice(2)],
          (run) => Effect.exit(log.append(run, [text("kept")])),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, false, true, true])
        for (const run of runs) assert.deepStrictEqual(wordsOf(yield* log.read(run, 0)), ["kept"])
      })
    )

    it.effect("an append within a transaction is refused, rather than kept when the transaction is not", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        const run = yield* someRun
        const services = yield* Layer.build(
          Layer.merge(PostgresRunLog.layer(), PostgresTransaction.layer).pipe(
            Layer.provide(RunNotifications.layer),
            Layer.provide(connections(server, database))
          )
        )
        const log = Context.get(services, RunLog)
        const exit = yield* Effect.exit(Context.get(services, Transaction).run(log.append(run, [text("a")])))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.deepStrictEqual(yield* log.read(run, 0), [])
      })
    )

    it.effect("followers that do not read hold neither a connection nor the entries that they have not had", () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.database(server)
        // One connection listens; were any follower to hold one, there would be none to append with.
        const services = yield* Layer.build(
          RunNotifications.layer.pipe(Layer.provideMerge(connections(server, database, 2)))
        )
        const followers = yield* Effect.provide(RunLogFollowers.make("1 hour"), services)
        const writer = yield* Effect.provide(RunLogWriter.make(followers), services)
        const run = yield* someRun
        yield* writer.append(run, [text("first")])
        const go = yield* Queue.unbounded<void>()
        const stuck = yield* Effect.forEach(counting(20), () =>
          followers.follow(run, 0).pipe(
            Stream.mapEffect((entry) =>
              entry.sequence === 1 ? Effect.as(Queue.take(go), entry) : Effect.succeed(entry)
            ),
            Stream.runFold(
              () => 0,
              (last, entry) => {
                assert.strictEqual(entry.sequence, last + 1)
                return entry.sequence
              }
            ),
            Effect.forkChild
          )
        )
        const batch = counting(500).map((index) => text(`${index}`))
        yield* Effect.forEach(counting(10), () => writer.append(run, batch), { discard: true })
        assert.deepInclude(followers.state, { runs: 1, followers: 20 })
        assert.isAtMost(followers.state.entries, 2 * windowLength)
        const states = yield* asSuperuser(
          server,
          database,
          Effect.flatMap(
            SqlClient,
            (sql) => sql<{ readonly state: string }>`
              SELECT DISTINCT state FROM pg_stat_activity WHERE datname = ${database} AND application_name = 'castellan'`
          )
        )
        assert.deepStrictEqual(states, [{ state: "idle" }])
        yield* writer.append(run, [done])
        yield* Effect.forEach(stuck, () => Queue.offer(go, undefined), { discard: true })
        for (const fiber of stuck) assert.strictEqual(yield* Fiber.join(fiber), 5002)
        assert.deepStrictEqual(followers.state, { runs: 0, followers: 0, entries: 0 })
      })
    )
  })
}
