/**
 * Servers on a real PostgreSQL whose process is killed, by `SIGKILL`, right before or right after each statement of a use
 * case: what is left of the use case is all or nothing, its audit event with it, and another process does what was left
 * undone. Every statement of every use case has its turn; a process that is killed takes one of each with it.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, References, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Contents from "./Contents.ts"
import * as Deployments from "./Deployments.ts"
import { Life } from "./Dying.ts"
import * as DyingConnections from "./DyingConnections.ts"
import { type FaultedUseCase, useCases } from "./FaultedUseCases.ts"
import { applicationName, Said, type Stop, Stops } from "./KilledServerTalk.ts"

/** Everything of one organization that a use case leaves behind where it is. */
const contentsOf = (organizationId: OrganizationId) =>
  Effect.flatMap(SqlClient, (sql) => Contents.read(sql, organizationId))

/** What became of a stop. */
interface Outcome {
  readonly organizationId: OrganizationId
  readonly prepared: string
  readonly before: Contents.Contents
  readonly isAcknowledged: boolean
}

/** Runs a process until it is killed; answers what became of each stop of it. */
const killed = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, stops: ReadonlyArray<Stop>) {
  const child = yield* Effect.acquireRelease(
    Effect.map(Schema.encodeEffect(Stops)(stops), (text) =>
      spawn(process.execPath, [join(import.meta.dirname, "KilledServer.ts"), Redacted.value(url), text], {
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const ended = once(child, "close")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = Effect.flatMap(
    Effect.promise(() => lines.next()),
    ({ done, value }) => (done === true ? Effect.succeed(undefined) : Schema.decodeEffect(Said)(value))
  )
  const outcomes = new Map<number, Outcome>()
  while (outcomes.size < stops.length) {
    const said = yield* next
    if (said?._tag !== "Ready") return yield* Effect.die(new Error(`the process was not ready: ${said?._tag}`))
    const { index, organizationId, prepared } = said
    outcomes.set(index, {
      organizationId,
      prepared,
      before: yield* contentsOf(organizationId),
      isAcknowledged: false
    })
  }
  child.stdin.write("go\n")
  for (let said = yield* next; said !== undefined; said = yield* next) {
    if (said._tag === "Failed") return yield* Effect.die(new Error(said.cause))
    const outcome = outcomes.get(said.index)
    if (outcome !== undefined) outcomes.set(said.index, { ...outcome, isAcknowledged: true })
  }
  const [, signal] = yield* Effect.promise(() => ended)
  assert.strictEqual(signal, "SIGKILL")
  return outcomes
}, Effect.scoped)

/** Once the database has noticed that the process is gone, and has carried out what it was sent last. */
const noticed = (database: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    sql`SELECT pid FROM pg_stat_activity WHERE application_name = ${applicationName} AND datname = ${database}`.pipe(
      Effect.repeat({ until: (sessions) => sessions.length === 0, schedule: Schedule.spaced("5 millis") })
    )
  )

const faulted = Effect.fnUntraced(function* (server: TestServer) {
  const database = yield* TestDatabase.database(server)
  const url = TestDatabase.serviceUrl(server, database)
  const behind = yield* Layer.build(
    PgClient.layer({ url: Redacted.make(`${server.url}/${database}`), maxConnections: 1 })
  )
  const healthy = yield* Layer.build(Deployments.server(DyingConnections.layer(url, new Life(() => {}), "healthy")))

  /** What a use case leaves that nothing happens to. */
  const undisturbed = yield* Effect.forEach(
    useCases,
    Effect.fnUntraced(function* (useCase) {
      const tenant = yield* Effect.provideContext(Fixture.tenant(), healthy)
      const prepared = yield* Effect.provideContext(useCase.prepare(tenant), healthy)
      const before = yield* Effect.provideContext(contentsOf(tenant.organizationId), behind)
      yield* Effect.provideContext(useCase.carryOut(prepared), healthy)
      const after = yield* Effect.provideContext(contentsOf(tenant.organizationId), behind)
      return { useCase, difference: Contents.difference(before, after, useCase.afterwards) }
    })
  )
  const outcomes = new Map<FaultedUseCase, { all: number; nothing: number }>()
  for (const { useCase } of undisturbed) outcomes.set(useCase, { all: 0, nothing: 0 })

  /** Kills all that is not done before a statement; answers with what is. */
  const killedAt = Effect.fnUntraced(function* (unfinished: ReadonlyArray<number>, statement: number) {
    const stops = unfinished.flatMap((index): ReadonlyArray<Stop> => [
      { useCase: index, statement, when: "before" },
      { useCase: index, statement, when: "after" }
    ])
    const done = new Set<number>()
    const ended = yield* Effect.provideContext(
      Effect.tap(killed(url, stops), () => noticed(database)),
      behind
    )
    for (const [index, { before, isAcknowledged, organizationId, prepared }] of ended) {
      const stop = stops[index]
      const reference = undisturbed[stop?.useCase ?? -1]
      const counts = reference === undefined ? undefined : outcomes.get(reference.useCase)
      assert.isDefined(reference)
      assert.isDefined(counts)
      const { difference, useCase } = reference
      const place = `${useCase.name}: killed ${stop?.when} statement ${statement}`
      const since = Effect.map(Effect.provideContext(contentsOf(organizationId), behind), (after) =>
        Contents.difference(before, after, useCase.afterwards)
      )
      const left = yield* since
      if (Object.keys(left).length === 0) {
        counts.nothing += 1
        assert.isFalse(isAcknowledged, `${place}: nothing is there of what was acknowledged`)
        yield* Effect.provideContext(useCase.carryOut(prepared), healthy)
        assert.deepStrictEqual(yield* since, difference, `${place}: done again`)
      } else {
        counts.all += 1
        assert.deepStrictEqual(left, difference, place)
        if (isAcknowledged) done.add(stop?.useCase ?? -1)
      }
    }
    return done
  })

  // How many statements it takes is not the same each time: whoever loses a race in the database begins anew.
  let unfinished = useCases.map((_, index) => index)
  for (let statement = 1; unfinished.length > 0; statement += 2) {
    assert.isBelow(statement, 200)
    const done = yield* Effect.forEach([statement, statement + 1], (at) => killedAt(unfinished, at), {
      concurrency: 2
    })
    unfinished = unfinished.filter((index) => !done.some((of) => of.has(index)))
  }
  for (const [{ name }, { all, nothing }] of outcomes) {
    // It is killed before its commit, and after.
    assert.isAtLeast(nothing, 4, name)
    assert.isAtLeast(all, 1, name)
  }
})

for (const server of TestDatabase.servers()) {
  describe(`servers whose process is killed at a statement (${server.name})`, () => {
    it.live(
      "leave all of a use case or nothing, which another process then does",
      () => faulted(server).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
      600_000
    )
  })
}
