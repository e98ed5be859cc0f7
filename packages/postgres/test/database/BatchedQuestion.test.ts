import { StorageUnavailable } from "@castellan/core/error/StorageUnavailable"
import { assert, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as BatchedQuestion from "../../src/database/BatchedQuestion.ts"

const transactionService = SqlClient.TransactionConnection(1)

interface Row {
  readonly key: string
  readonly value: string
}

/** A question over a table in memory, with the statements that were sent for it. */
const scene = (
  table: Readonly<Record<string, string>>,
  answer: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Row>, SqlError> = Effect.succeed
) => {
  const sent: Array<readonly [place: string, keys: ReadonlyArray<string>]> = []
  const ask = BatchedQuestion.make(
    { transactionService },
    BatchedQuestion.rows({
      statement: (place: string, keys: ReadonlyArray<string>) =>
        Effect.suspend(() => {
          sent.push([place, keys])
          return answer(
            keys.flatMap((key) => {
              const value = table[`${place}/${key}`]
              return value === undefined ? [] : [{ key, value }]
            })
          )
        }),
      keyOf: ({ key }: Row) => key,
      decode: ({ value }) => (value === "unreadable" ? Effect.die("unreadable") : Effect.succeed(value))
    })
  )
  return { ask, sent }
}

const all = <A>(questions: ReadonlyArray<Effect.Effect<A>>) => Effect.all(questions, { concurrency: "unbounded" })

it.effect("puts the questions of one turn in one statement, and gives each its own answer", () =>
  Effect.gen(function* () {
    const { ask, sent } = scene({ "a/1": "one", "a/2": "two" })
    const answers = yield* all([ask("a", "1"), ask("a", "2"), ask("a", "3"), ask("a", "1")])
    assert.deepStrictEqual(answers, [Option.some("one"), Option.some("two"), Option.none(), Option.some("one")])
    assert.deepStrictEqual(sent, [["a", ["1", "2", "3"]]])
  })
)

it.effect("keeps nothing: who asks later hears how it is then", () =>
  Effect.gen(function* () {
    const table: Record<string, string> = { "a/1": "before" }
    const { ask, sent } = scene(table)
    assert.deepStrictEqual(yield* ask("a", "1"), Option.some("before"))
    table["a/1"] = "after"
    assert.deepStrictEqual(yield* ask("a", "1"), Option.some("after"))
    assert.strictEqual(sent.length, 2)
  })
)

it.effect("asks anew for who comes while a statement is under way", () =>
  Effect.gen(function* () {
    const table: Record<string, string> = { "a/1": "before" }
    const underway = yield* Deferred.make<void>()
    const answered = yield* Deferred.make<void>()
    const { ask, sent } = scene(table, (rows) =>
      Effect.andThen(Deferred.succeed(underway, undefined), Effect.as(Deferred.await(answered), rows))
    )
    const early = yield* Effect.forkChild(ask("a", "1"))
    yield* Deferred.await(underway)
    table["a/1"] = "after"
    const late = yield* Effect.forkChild(ask("a", "1"))
    yield* Deferred.succeed(answered, undefined)
    assert.deepStrictEqual(yield* Fiber.join(early), Option.some("before"))
    assert.deepStrictEqual(yield* Fiber.join(late), Option.some("after"))
    assert.strictEqual(sent.length, 2)
  })
)

it.effect("mixes no places: a statement is of one of them", () =>
  Effect.gen(function* () {
    const { ask, sent } = scene({ "a/1": "of a", "b/1": "of b" })
    assert.deepStrictEqual(yield* all([ask("a", "1"), ask("b", "1"), ask("b", "2")]), [
      Option.some("of a"),
      Option.some("of b"),
      Option.none()
    ])
    assert.deepStrictEqual(sent, [
      ["a", ["1"]],
      ["b", ["1", "2"]]
    ])
  })
)

it.effect("does not ask for who has left, and answers the others", () =>
  Effect.gen(function* () {
    const { ask, sent } = scene({ "a/1": "one", "a/2": "two" })
    const leaving = yield* Effect.forkChild(ask("a", "1"), { startImmediately: true })
    const staying = yield* Effect.forkChild(ask("a", "2"), { startImmediately: true })
    yield* Fiber.interrupt(leaving)
    assert.deepStrictEqual(yield* Fiber.join(staying), Option.some("two"))
    assert.deepStrictEqual(sent, [["a", ["2"]]])
  })
)

it.effect("goes on for the others when one leaves while the statement is under way", () =>
  Effect.gen(function* () {
    const underway = yield* Deferred.make<void>()
    const answered = yield* Deferred.make<void>()
    const { ask } = scene({ "a/1": "one", "a/2": "two" }, (rows) =>
      Effect.andThen(Deferred.succeed(underway, undefined), Effect.as(Deferred.await(answered), rows))
    )
    // The first one: the statement is sent in its context.
    const leaving = yield* Effect.forkChild(ask("a", "1"), { startImmediately: true })
    const staying = yield* Effect.forkChild(ask("a", "2"), { startImmediately: true })
    yield* Deferred.await(underway)
    yield* Fiber.interrupt(leaving)
    yield* Deferred.succeed(answered, undefined)
    assert.deepStrictEqual(yield* Fiber.join(staying), Option.some("two"))
  })
)

it.effect("keeps a row that cannot be read from the others", () =>
  Effect.gen(function* () {
    const { ask } = scene({ "a/1": "unreadable", "a/2": "two" })
    const [broken, whole] = yield* all([Effect.exit(ask("a", "1")), Effect.exit(ask("a", "2"))])
    assert.deepStrictEqual(broken, Exit.die("unreadable"))
    assert.deepStrictEqual(whole, Exit.succeed(Option.some("two")))
  })
)

it.effect("fails for all whose statement failed, and asks again for the next", () =>
  Effect.gen(function* () {
    let isUp = false
    const down = new SqlError({ reason: new ConnectionError({ cause: "down", message: "down", operation: "query" }) })
    const { ask } = scene({ "a/1": "one" }, (rows) => (isUp ? Effect.succeed(rows) : Effect.fail(down)))
    for (const exit of yield* all([Effect.exit(ask("a", "1")), Effect.exit(ask("a", "2"))])) {
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof StorageUnavailable)
    }
    isUp = true
    assert.deepStrictEqual(yield* ask("a", "1"), Option.some("one"))
  })
)

it.effect("sends the first of many keys ahead, and no more than 32 in a statement", () =>
  Effect.gen(function* () {
    const keys = Array.from({ length: 100 }, (_, index) => String(index))
    const answered = yield* Deferred.make<void>()
    const { ask, sent } = scene(Object.fromEntries(keys.map((key) => [`a/${key}`, `value ${key}`])), (rows) =>
      Effect.as(Deferred.await(answered), rows)
    )
    const lengths = () => sent.map(([, asked]) => asked.length)
    const asking = yield* Effect.forkChild(all(keys.map((key) => ask("a", key))))
    // All of them ask within one turn, at the end of which the last ones are sent.
    while (sent.flatMap(([, asked]) => asked).length < keys.length) {
      yield* Effect.callback<void>((resume) => {
        setImmediate(() => resume(Effect.void))
      })
    }
    assert.deepStrictEqual(lengths(), [8, 32, 32, 28])
    yield* Deferred.succeed(answered, undefined)
    assert.deepStrictEqual(
      yield* Fiber.join(asking),
      keys.map((key) => Option.some(`value ${key}`))
    )
    // What has its answer is no longer under way.
    yield* all(keys.slice(0, 20).map((key) => ask("a", key)))
    assert.deepStrictEqual(lengths(), [8, 32, 32, 28, 8, 8, 4])
  })
)

it.effect("sends ahead again after a statement that failed", () =>
  Effect.gen(function* () {
    const keys = Array.from({ length: 10 }, (_, index) => String(index))
    const down = new SqlError({ reason: new ConnectionError({ cause: "down", message: "down", operation: "query" }) })
    const { ask, sent } = scene({}, () => Effect.fail(down))
    for (let time = 0; time < 2; time++) yield* all(keys.map((key) => Effect.exit(ask("a", key))))
    assert.deepStrictEqual(
      sent.map(([, asked]) => asked.length),
      [8, 2, 8, 2]
    )
  })
)

it.effect("asks at once and alone within a transaction", () =>
  Effect.gen(function* () {
    const { ask, sent } = scene({ "a/1": "one", "a/2": "two" })
    const within = <A>(effect: Effect.Effect<A>) =>
      Effect.provideContext(effect, Context.makeUnsafe<never>(new Map([[transactionService.key, "a connection"]])))
    assert.deepStrictEqual(yield* all([within(ask("a", "1")), ask("a", "2"), within(ask("a", "3"))]), [
      Option.some("one"),
      Option.some("two"),
      Option.none()
    ])
    assert.deepStrictEqual(sent, [
      ["a", ["1"]],
      ["a", ["3"]],
      ["a", ["2"]]
    ])
  })
)
