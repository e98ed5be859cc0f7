/**
 * SQL that programs of the machine's own Python ask for: their tables go to the executor, and its result comes back.
 */
import { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import type { SqlTable } from "@castellan/sandbox/sql/SqlExecutor"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as PlainPython from "../support/PlainPython.ts"
import { errorOf, finished, opened, run, text } from "../support/PlainSession.ts"

const answering = (
  answer: (statement: string, tables: ReadonlyArray<SqlTable>) => Effect.Effect<Uint8Array, SandboxError>
) => ({
  open: Effect.succeed({ query: answer })
})

describe.skipIf(!PlainPython.isAvailable)("SQL of a session", { timeout: 300_000 }, () => {
  it.live("carries its tables and files to the executor and its result back", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [string, ReadonlyArray<SqlTable>]> = []
      const session = yield* opened(
        answering((statement, tables) => {
          asked.push([statement, tables])
          const [first] = tables
          return first === undefined
            ? Effect.fail(new SandboxError({ reason: "invalid", message: "no \u001btable" }))
            : Effect.succeed(first.content)
        })
      )
      const events = yield* run(
        session,
        [
          "import castellan",
          "open('uploads/sales.csv', 'w').write('a,b')",
          "sales = castellan.Table({'region': ['north', None] * 50_000, 'amount': list(range(100_000))})",
          "found = castellan.sql(\"select * from sales join 'uploads/sales.csv' using (a)\")",
          "print(len(found), list(found['amount'])[-1], list(found['region'])[:2])"
        ].join("\n")
      )
      assert.strictEqual(text(events), "100000 99999 ['north', None]\n")
      assert.deepStrictEqual(asked[0]?.[0], "select * from sales join 'uploads/sales.csv' using (a)")
      assert.deepStrictEqual(
        asked[0]?.[1].map(({ name }) => name),
        ["sales", "uploads/sales.csv"]
      )
      assert.deepStrictEqual(Buffer.from(asked[0]?.[1][1]?.content ?? []).toString(), "a,b")
      const failed = yield* run(session, "castellan.sql('select 1')")
      assert.deepInclude(errorOf(failed), { name: "QueryFailed", message: "no \\x1btable" })
      assert.strictEqual(text(yield* run(session, "print(1)")), "1\n")
    }).pipe(Effect.scoped)
  )

  it.live("is answered after an executor that broke down, which is told without its cause", () =>
    Effect.gen(function* () {
      let asked = 0
      const session = yield* opened(
        answering(() => {
          asked += 1
          return asked === 1 ? Effect.die(new Error("the password is secret")) : Effect.die("again")
        })
      )
      const events = yield* run(session, "import castellan\ncastellan.sql('select 1')")
      assert.deepInclude(errorOf(events), { name: "QueryFailed", message: "the query failed unexpectedly" })
      const next = yield* run(session, "castellan.sql('select 2')")
      assert.deepInclude(errorOf(next), { name: "QueryFailed", message: "the query failed unexpectedly" })
      assert.strictEqual(asked, 2)
    }).pipe(Effect.scoped)
  )

  it.live("is stopped with the execution that waits for it", () =>
    Effect.gen(function* () {
      const waits = yield* Latch.make()
      const stopped = yield* Deferred.make<void>()
      const session = yield* opened(
        answering(() =>
          Effect.andThen(waits.open, Effect.never).pipe(Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)))
        )
      )
      const fiber = yield* Effect.forkChild(run(session, "x = 1\nimport castellan\ncastellan.sql('select 1')"), {
        startImmediately: true
      })
      yield* waits.await
      assert.isTrue(yield* session.interrupt)
      assert.strictEqual(finished(yield* Fiber.join(fiber)).outcome, "interrupted")
      yield* Deferred.await(stopped)
      assert.strictEqual(text(yield* run(session, "print(x)")), "1\n")
    }).pipe(Effect.scoped)
  )

  it.live("says so where there is none", () =>
    Effect.gen(function* () {
      const events = yield* run(yield* opened(), "import castellan\ncastellan.sql('select 1')")
      assert.deepInclude(errorOf(events), { name: "QueryFailed" })
    }).pipe(Effect.scoped)
  )
})
