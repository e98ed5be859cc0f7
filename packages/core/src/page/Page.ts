/**
 * Pages of lists: by offset, with a total; or by position, so that rows that arrive meanwhile neither repeat nor hide
 * others.
 *
 * Source: decisions.md §1 ("List endpoints"). Cursors and tokens of the wire are made from positions by the adapter
 * that speaks the wire.
 */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"

/** A page by offset. */
export interface OffsetPage {
  readonly limit: number
  readonly offset: number
}

/** A page of a list with the number of all that match. */
export interface Counted<A> {
  readonly items: ReadonlyArray<A>
  readonly totalCount: number
}

/** Where a row stands in a list that is sorted by time, newest first; ties break by id. */
export const Position = Schema.Struct({ at: Schema.DateTimeUtc, id: Schema.String })
export type Position = typeof Position.Type

/** A page of a list by position. */
export interface PositionPage {
  readonly limit: number
  /** The last row of the page before; absent: the newest rows. */
  readonly after?: Position
}

/** A page of a list with where the next one begins; absent: there is none. */
export interface Slice<A> {
  readonly items: ReadonlyArray<A>
  readonly next?: Position
}

/** Sorts positions newest first, ties by id, the later id first. */
export const newestFirst = (a: Position, b: Position): number => {
  const byTime = DateTime.toEpochMillis(b.at) - DateTime.toEpochMillis(a.at)
  return byTime !== 0 ? byTime : a.id < b.id ? 1 : a.id > b.id ? -1 : 0
}

/** One page by offset of all that match, as a store in memory cuts it. */
export const counted = <A>(all: ReadonlyArray<A>, page: OffsetPage): Counted<A> => ({
  items: all.slice(page.offset, page.offset + page.limit),
  totalCount: all.length
})

/** One page by position of all that match, as a store in memory cuts it. */
export const slice = <A>(all: ReadonlyArray<A>, page: PositionPage, positionOf: (item: A) => Position): Slice<A> => {
  const after = page.after
  const rest = all
    .filter((item) => after === undefined || newestFirst(after, positionOf(item)) < 0)
    .toSorted((a, b) => newestFirst(positionOf(a), positionOf(b)))
  const items = rest.slice(0, page.limit)
  const last = items.at(-1)
  return rest.length > items.length && last !== undefined ? { items, next: positionOf(last) } : { items }
}
