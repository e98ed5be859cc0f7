import * as Page from "@castellan/core/page/Page"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"

/** A row as numbers: few moments and few ids, so that chance finds ties. */
const Row = Schema.Struct({
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
  id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
})

const rowsOf = (drawn: ReadonlyArray<typeof Row.Type>): ReadonlyArray<Page.Position> =>
  [...new Map(drawn.map((row) => [row.id, row])).values()].map(({ at, id }) => ({
    at: DateTime.makeUnsafe(at),
    id: String(id).padStart(3, "0")
  }))

const positionOf = (row: Page.Position): Page.Position => row

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))

/** Every page of some rows, and of those that are there once the first page was seen, until there is no next one. */
const pages = (rows: ReadonlyArray<Page.Position>, limit: number, later: ReadonlyArray<Page.Position> = rows) => {
  const found = [Page.slice(rows, { limit }, positionOf)]
  for (let last = found[0]; last?.next !== undefined; last = found.at(-1)) {
    assert.isAtMost(found.length, later.length, "there is an end")
    found.push(Page.slice(later, { limit, after: last.next }, positionOf))
  }
  return found
}

describe("pages by position", () => {
  it.prop(
    "together they are all rows, newest first, ties by the later id, each once",
    [Schema.Array(Row), Limit],
    ([drawn, limit]) => {
      const rows = rowsOf(drawn)
      const found = pages(rows, limit).flatMap((page) => page.items)
      assert.sameMembers(found, [...rows])
      for (const [index, row] of found.entries()) {
        const next = found[index + 1]
        if (next === undefined) continue
        const [one, other] = [DateTime.toEpochMillis(row.at), DateTime.toEpochMillis(next.at)]
        assert.isTrue(one > other || (one === other && row.id > next.id))
      }
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "each but the last is full, and none but the only one is empty",
    [Schema.Array(Row), Limit],
    ([drawn, limit]) => {
      const found = pages(rowsOf(drawn), limit)
      for (const page of found.slice(0, -1)) assert.strictEqual(page.items.length, limit)
      if (found.length > 1) assert.isAbove(found.at(-1)?.items.length ?? 0, 0)
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "rows that arrive meanwhile neither repeat nor hide those that were there",
    [Schema.Array(Row), Schema.Array(Row), Limit],
    ([drawn, more, limit]) => {
      const rows = rowsOf(drawn)
      const known = new Set(rows.map((row) => row.id))
      const arrivals = rowsOf(more).filter((row) => !known.has(row.id))
      const ids = pages(rows, limit, [...rows, ...arrivals]).flatMap((page) => page.items.map((row) => row.id))
      assert.strictEqual(new Set(ids).size, ids.length)
      if (rows.length > 0) assert.includeMembers(ids, [...known])
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("pages by offset", () => {
  const all = ["a", "b", "c", "d", "e"]
  const rows: ReadonlyArray<readonly [Page.OffsetPage, ReadonlyArray<string>]> = [
    [{ limit: 2, offset: 0 }, ["a", "b"]],
    [{ limit: 2, offset: 4 }, ["e"]],
    [{ limit: 2, offset: 5 }, []],
    [{ limit: 100, offset: 1 }, ["b", "c", "d", "e"]]
  ]
  for (const [page, items] of rows) {
    it(`${page.limit} from ${page.offset} of 5`, () => {
      assert.deepStrictEqual(Page.counted(all, page), { items, totalCount: 5 })
    })
  }
})
