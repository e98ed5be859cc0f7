/**
 * A server that is killed between any two statements of a use case leaves all of it or nothing, its audit event with it;
 * and what was left undone can be done again.
 *
 * What PostgreSQL sees of a process that is killed is that its connections close, with what it had sent; so the server
 * is cut off at each statement in turn: not a byte of it arrives afterwards, whatever it goes on to do.
 * `KilledServers.test.ts` and `KilledProcesses.test.ts` hold processes that are really killed to the same.
 */
import { AuditStore } from "@castellan/core/audit/AuditStore"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, References, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import type { TestServer } from "../support/PostgresServer.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Contents from "./Contents.ts"
import * as Deployments from "./Deployments.ts"
import { type Death, Life } from "./Dying.ts"
import * as DyingConnections from "./DyingConnections.ts"
import { type FaultedUseCase, useCases } from "./FaultedUseCases.ts"

/** How much each undisturbed use case leaves. */
interface Reference {
  readonly difference: ReturnType<typeof Contents.difference>
  readonly events: number
}

const faulted = Effect.fnUntraced(function* (server: TestServer, useCase: FaultedUseCase) {
  const database = yield* TestDatabase.database(server)
  const url = TestDatabase.serviceUrl(server, database)
  const behind = yield* Layer.build(
    PgClient.layer({ url: Redacted.make(`${server.url}/${database}`), maxConnections: 1 })
  )
  /** Once the database has noticed that the server is gone, and has carried out what it was sent last. */
  const contents = Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`SELECT pid FROM pg_stat_activity WHERE application_name = 'dying' AND datname = ${database}`.pipe(
      Effect.repeat({ until: (sessions) => sessions.length === 0, schedule: Schedule.spaced("5 millis") })
    )
    return yield* Contents.read(sql)
  }).pipe(Effect.provideContext(behind))
  const healthy = yield* Layer.build(Deployments.server(DyingConnections.layer(url, new Life(() => {}), "healthy")))

  /** Once, with a death or without; answers what came of it. */
  const once = Effect.fnUntraced(function* (death: Death | undefined) {
    const tenant = yield* Effect.provideContext(Fixture.tenant(), healthy)
    const ready = useCase.carryOut(yield* Effect.provideContext(useCase.prepare(tenant), healthy))
    const events = Effect.provideContext(
      AuditStore.use((store) => store.list(tenant.organizationId, { limit: 100, action: useCase.action })),
      healthy
    ).pipe(Effect.map(({ items }) => items.length))
    const eventsBefore = yield* events
    const before = yield* contents
    const life = new Life(() => {})
    const scope = yield* Scope.make()
    const dying = yield* Layer.buildWithScope(Deployments.server(DyingConnections.layer(url, life, "dying")), scope)
    life.arm(death)
    const exit = yield* Effect.exit(Effect.provideContext(ready, dying))
    // Who is dead closes nothing; whatever it may try to do goes nowhere.
    const died = life.isOver
    life.kill()
    yield* Effect.forkDetach(Scope.close(scope, Exit.void))
    const result: Reference = {
      difference: Contents.difference(before, yield* contents, useCase.afterwards),
      events: (yield* events) - eventsBefore
    }
    return { exit, died, result, ready, events: Effect.map(events, (now) => now - eventsBefore) }
  })

  const reference = yield* once(undefined)
  if (Exit.isFailure(reference.exit)) assert.fail(Cause.pretty(reference.exit.cause))
  assert.isAtLeast(reference.result.events, 1, "the audit log has it")
  const outcomes = { all: 0, nothing: 0 }
  for (const when of ["before", "after"] as const) {
    for (let statement = 1; ; statement++) {
      const { died, events, exit, ready, result } = yield* once({ statement, when })
      const place = `${useCase.name}: killed ${when} statement ${statement}`
      if (!died) {
        assert.isTrue(Exit.isSuccess(exit), place)
        assert.isAtLeast(statement, 5, "it is several statements")
        break
      }
      if (Object.keys(result.difference).length === 0) {
        outcomes.nothing += 1
        assert.isFalse(Exit.isSuccess(exit), `${place}: nothing is there of what was acknowledged`)
        yield* Effect.provideContext(ready, healthy)
        assert.strictEqual(yield* events, reference.result.events, `${place}: done again`)
      } else {
        outcomes.all += 1
        assert.deepStrictEqual(result, reference.result, place)
      }
    }
  }
  // It dies before its commit, and after.
  assert.isAtLeast(outcomes.nothing, 4)
  assert.isAtLeast(outcomes.all, 1)
})

for (const server of TestDatabase.servers()) {
  describe(`a server that is cut off at a statement (${server.name})`, () => {
    for (const useCase of useCases) {
      it.live(
        `leaves all or nothing: ${useCase.name}`,
        () => faulted(server, useCase).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")),
        180_000
      )
    }
  })
}
