import * as MemoryTable from "@castellan/core/memory/MemoryTable"
import { CurrentMemoryTransaction, layerMemory } from "@castellan/core/memory/MemoryTransaction"
import { Transaction } from "@castellan/core/transaction/Transaction"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, Ref } from "effect"

const all = () => true

layer(layerMemory)("a table in memory", (it) => {
  it.effect("keeps the order of insertion, whatever is replaced, and forgets what is removed", () =>
    Effect.gen(function* () {
      const table = yield* MemoryTable.make<string, number>()
      yield* table.set("a", 1)
      yield* table.set("b", 2)
      yield* table.set("a", 3)
      assert.deepStrictEqual(yield* table.where(all), [3, 2])
      yield* table.remove("a")
      yield* table.remove("c")
      assert.deepStrictEqual(yield* table.where(all), [2])
      assert.deepStrictEqual(yield* table.get("a"), Option.none())
    })
  )

  it.effect("a transaction sees what it wrote and removed, in the order of the table", () =>
    Effect.gen(function* () {
      const table = yield* MemoryTable.make<string, number>()
      const transaction = yield* Transaction
      yield* table.set("a", 1)
      yield* table.set("b", 2)
      const seen = transaction.run(
        Effect.gen(function* () {
          yield* table.set("c", 3)
          yield* table.remove("a")
          yield* table.set("b", 20)
          assert.deepStrictEqual(yield* table.get("a"), Option.none())
          assert.deepStrictEqual(yield* table.get("b"), Option.some(20))
          return yield* table.where(all)
        })
      )
      assert.deepStrictEqual(yield* seen, [20, 3])
      assert.deepStrictEqual(yield* table.where(all), [20, 3])
    })
  )

  it.effect("a fiber that outlives its transaction writes to the table itself", () =>
    Effect.gen(function* () {
      const table = yield* MemoryTable.make<string, number>()
      const transaction = yield* Transaction
      const over = yield* Deferred.make<void>()
      const fiber = yield* transaction.run(
        Effect.forkDetach(Effect.andThen(Deferred.await(over), table.set("late", 1)), { startImmediately: true })
      )
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* table.get("late"), Option.some(1))
    })
  )

  /** Reads in each of the ways that a table has; each answers with the sum of the rows that matter. */
  const reads: ReadonlyArray<
    readonly [string, (table: MemoryTable.MemoryTable<string, number>) => Effect.Effect<number>]
  > = [
    [
      "get",
      (table) =>
        Effect.map(
          table.get("a"),
          Option.getOrElse(() => 0)
        )
    ],
    ["where", (table) => Effect.map(table.where(all), (rows) => rows.reduce((sum, row) => sum + row, 0))],
    ["modify", (table) => table.modify((rows) => [rows.get("a") ?? 0, []])]
  ]
  for (const [name, read] of reads) {
    for (const start of [undefined, 1]) {
      it.effect(
        `what was read with ${name} of a row that is ${start === undefined ? "not there" : "there"} is so at the commit`,
        () =>
          Effect.gen(function* () {
            const table = yield* MemoryTable.make<string, number>()
            const transaction = yield* Transaction
            if (start !== undefined) yield* table.set("a", start)
            const hasRead = yield* Deferred.make<void>()
            const goOn = yield* Deferred.make<void>()
            const runs = yield* Ref.make(0)
            const running = yield* Effect.forkChild(
              transaction.run(
                Effect.gen(function* () {
                  yield* Ref.update(runs, (count) => count + 1)
                  const before = yield* read(table)
                  yield* Deferred.succeed(hasRead, undefined)
                  yield* Deferred.await(goOn)
                  yield* table.set("a", before + 100)
                })
              )
            )
            yield* Deferred.await(hasRead)
            yield* table.set("a", 10)
            yield* Deferred.succeed(goOn, undefined)
            yield* Fiber.join(running)
            assert.deepStrictEqual(yield* table.get("a"), Option.some(110))
            assert.strictEqual(yield* Ref.get(runs), 2)
          })
      )
    }
  }

  it.effect("neither its own writes nor somebody else's to rows that it has not read make it run again", () =>
    Effect.gen(function* () {
      const table = yield* MemoryTable.make<string, number>()
      const transaction = yield* Transaction
      const runs = yield* Ref.make(0)
      yield* transaction.run(
        Effect.gen(function* () {
          yield* Ref.update(runs, (count) => count + 1)
          yield* table.get("a")
          yield* Effect.provideService(table.set("z", 1), CurrentMemoryTransaction, undefined)
          yield* table.set("b", 1)
          yield* table.set("a", 1)
        })
      )
      assert.strictEqual(yield* Ref.get(runs), 1)
    })
  )

  it.effect("a failure that came of what is no longer so is tried again", () =>
    Effect.gen(function* () {
      const table = yield* MemoryTable.make<string, number>()
      const transaction = yield* Transaction
      const hasRead = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const running = yield* Effect.forkChild(
        transaction.run(
          Effect.gen(function* () {
            const found = yield* table.get("a")
            yield* Deferred.succeed(hasRead, undefined)
            yield* Deferred.await(goOn)
            return yield* Effect.fromOption(found)
          })
        )
      )
      yield* Deferred.await(hasRead)
      yield* table.set("a", 7)
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual(yield* Fiber.join(running), 7)
    })
  )
})
