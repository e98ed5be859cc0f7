/**
 * What every store of executions keeps to.
 */
import { Execution, ExecutionStatus } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import type { Position } from "@castellan/core/page/Page"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import * as SandcastleSample from "../fixture/SandcastleSample.ts"
import { assertSame } from "./Same.ts"

const at = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

const { Completed, Failed, Interrupted } = ExecutionStatus.cases
const endedAt = at("2030-05-05T12:00:00.345Z")

const kept = (one: Execution) =>
  Effect.as(
    ExecutionStore.use((store) => store.save(one)),
    one
  )

const newSandcastle = Effect.flatMap(Sample.organizationId, (organization) =>
  Effect.flatMap(Sample.principal(organization), (maker) => SandcastleSample.sandcastle(maker))
)

/** Runs the contract of `ExecutionStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ExecutionStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ExecutionStore (${name})`, (it) => {
    it.effect("keeps an execution in each state in full, and replaces it", () =>
      Effect.gen(function* () {
        const store = yield* ExecutionStore
        const castle = yield* newSandcastle
        const input = `print(${JSON.stringify("ünï 🚀 \u0000 ' \\ \r\n".repeat(20_000))})`
        const begun = yield* kept(yield* SandcastleSample.execution(castle, { input, createdAt: endedAt }))
        const list = Effect.map(store.list(castle.organizationId, castle.id, { limit: 10 }), ({ items }) => items)
        assertSame(yield* list, [begun])
        for (const status of [
          Completed.make({ endedAt }),
          Failed.make({ endedAt, error: "NameError: no\n\u0000" }),
          Interrupted.make({ endedAt })
        ]) {
          const ended = yield* kept(new Execution({ ...begun, status, outputPreview: "42\n" }))
          assertSame(yield* list, [ended])
        }
      })
    )

    it.effect("keeps the first end of an execution, of whoever ends it at once, and no other", () =>
      Effect.gen(function* () {
        const store = yield* ExecutionStore
        const castle = yield* newSandcastle
        const begun = yield* SandcastleSample.execution(castle)
        const ended = (status: Execution["status"], outputPreview = "") =>
          new Execution({ ...begun, status, outputPreview })
        const recorded = Effect.map(store.get(castle.organizationId, begun.id), Option.getOrUndefined)
        assert.isFalse(yield* store.end(ended(Completed.make({ endedAt }))), "it is not there")
        assertSame(yield* recorded, undefined)
        yield* kept(begun)
        const elsewhere = (yield* newSandcastle).organizationId
        const foreign = new Execution({ ...ended(Completed.make({ endedAt })), organizationId: elsewhere })
        assert.isFalse(yield* store.end(foreign), "it is another organization's")
        assertSame(yield* recorded, begun)
        const ends = Array.from({ length: 8 }, (_, index) =>
          index % 2 === 0
            ? ended(Completed.make({ endedAt }), `${index}`)
            : ended(Failed.make({ endedAt, error: `${index}` }))
        )
        const won = yield* Effect.forEach(ends, (one) => store.end(one), { concurrency: "unbounded" })
        const winners = ends.filter((_, index) => won[index] === true)
        assert.strictEqual(winners.length, 1)
        assertSame(yield* recorded, winners[0])
        assert.isFalse(yield* store.end(ended(Interrupted.make({ endedAt }))))
        assertSame(yield* recorded, winners[0])
        const running = yield* store.unfinished(at("2200-01-01T00:00:00.000Z"), 100_000)
        assert.isFalse(running.some(({ id }) => id === begun.id))
      })
    )

    it.effect("lists those of one sandcastle of one organization, newest first, page by page", () =>
      Effect.gen(function* () {
        const store = yield* ExecutionStore
        const castle = yield* newSandcastle
        const other = yield* newSandcastle
        const made = yield* Effect.forEach(Array.from({ length: 8 }), (_, index) =>
          Effect.flatMap(
            SandcastleSample.execution(castle, { createdAt: at(`2030-01-0${1 + (index % 3)}T00:00:00.000Z`) }),
            kept
          )
        )
        yield* kept(yield* SandcastleSample.execution(other))
        const expected = made
          .toSorted(
            (a, b) =>
              DateTime.toEpochMillis(b.createdAt) - DateTime.toEpochMillis(a.createdAt) || (a.id < b.id ? 1 : -1)
          )
          .map(({ id }) => id)
        for (const limit of [1, 3, 8, 200]) {
          const seen: Array<string> = []
          let after: Position | undefined
          do {
            const page = yield* store.list(castle.organizationId, castle.id, {
              limit,
              ...(after === undefined ? {} : { after })
            })
            seen.push(...page.items.map(({ id }) => id))
            after = page.next
          } while (after !== undefined)
          assert.deepStrictEqual(seen, expected, `by ${limit}`)
        }
        assertSame((yield* store.list(other.organizationId, castle.id, { limit: 10 })).items, [])
      })
    )

    it.effect(
      "purges what was recorded before a moment, of every organization, some at a time, and says how many",
      () =>
        Effect.gen(function* () {
          const store = yield* ExecutionStore
          const [one, other] = [yield* newSandcastle, yield* newSandcastle]
          // Older than anything that another test of a shared adapter keeps.
          const moment = at("1960-01-01T00:00:00.000Z")
          const [old, older, young] = yield* Effect.all([
            SandcastleSample.execution(one, { createdAt: at("1959-12-31T23:59:59.999Z") }),
            SandcastleSample.execution(other, { createdAt: at("1950-01-01T00:00:00.000Z") }),
            SandcastleSample.execution(one, { createdAt: moment })
          ])
          yield* Effect.forEach([old, older, young], kept)
          const [third, fourth] = yield* Effect.all([
            SandcastleSample.execution(one, { createdAt: at("1951-01-01T00:00:00.000Z") }),
            SandcastleSample.execution(other, { createdAt: at("1952-01-01T00:00:00.000Z") })
          ])
          yield* Effect.forEach([third, fourth], kept)
          assert.strictEqual(yield* store.purge(moment, 3), 3)
          assert.strictEqual(yield* store.purge(moment, 3), 1)
          assert.strictEqual(yield* store.purge(moment, 3), 0)
          assertSame((yield* store.list(one.organizationId, one.id, { limit: 10 })).items, [young])
          assertSame((yield* store.list(other.organizationId, other.id, { limit: 10 })).items, [])
        })
    )

    it.effect("finds one by its id, and tells which were begun before a moment and have no end", () =>
      Effect.gen(function* () {
        const store = yield* ExecutionStore
        const [castle, other] = [yield* newSandcastle, yield* newSandcastle]
        const moment = at("1970-01-02T00:00:00.000Z")
        const began = (iso: string) => ({ createdAt: at(iso), input: "'\u0000'" })
        const [second, first, ended, young] = yield* Effect.all([
          SandcastleSample.execution(castle, began("1970-01-01T23:59:59.999Z")),
          SandcastleSample.execution(other, began("1970-01-01T00:00:00.000Z")),
          SandcastleSample.execution(castle, began("1970-01-01T12:00:00.000Z")),
          SandcastleSample.execution(castle, { createdAt: moment })
        ])
        yield* Effect.forEach([second, first, ended, young], kept)
        const ours = new Set<string>([castle.organizationId, other.organizationId])
        const unfinished = Effect.map(store.unfinished(moment, 100_000), (found) =>
          found.filter(({ organizationId }) => ours.has(organizationId))
        )
        assertSame(yield* unfinished, [first, ended, second])
        assertSame(yield* store.unfinished(moment, 1), (yield* store.unfinished(moment, 100_000)).slice(0, 1))
        yield* kept(new Execution({ ...ended, status: Failed.make({ endedAt, error: "no" }) }))
        assertSame(yield* unfinished, [first, second])
        assertSame(yield* store.get(first.organizationId, first.id), Option.some(first))
        assertSame(yield* store.get(castle.organizationId, first.id), Option.none())
        yield* kept(new Execution({ ...first, status: Completed.make({ endedAt }) }))
        yield* kept(new Execution({ ...second, status: Interrupted.make({ endedAt }) }))
        assertSame(yield* unfinished, [])
      })
    )
  })
}
