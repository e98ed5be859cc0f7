/**
 * Specifications that are nearly right: one of a collection, with a few of its values replaced, dropped or moved.
 *
 * A random value is hardly ever close to a specification. Those a model gets wrong are.
 */
import type { Json, JsonObject } from "../src/internal/specification/Json.ts"
import * as Schema from "effect/Schema"

const Choice = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })))

/** What decides a change: which specification, and for each step where and what. */
export const Seed = Schema.Struct({
  base: Choice,
  steps: Schema.Array(Schema.Struct({ place: Choice, what: Choice })).pipe(
    Schema.check(Schema.isMinLength(1), Schema.isMaxLength(4))
  )
})
export type Seed = typeof Seed.Type

/** Values that stand somewhere in a specification, or might. */
const values: ReadonlyArray<Json> = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  3,
  1e9,
  -1e300,
  "",
  "x",
  "bar",
  "line",
  "point",
  "arc",
  "rect",
  "text",
  "area",
  "boxplot",
  "errorband",
  "trail",
  "tick",
  "quantitative",
  "nominal",
  "temporal",
  "ordinal",
  "mean",
  "count",
  "sum",
  "median",
  "distinct",
  "month",
  "utcyearmonth",
  "yearweek",
  "region",
  "container",
  "independent",
  "log",
  "pow",
  "band",
  "normalize",
  "center",
  "-y",
  "datum.x",
  "year(datum.x) > 3",
  "%Y",
  ".2f",
  "__proto__",
  "constructor",
  [],
  [1, 2],
  ["a", null],
  {},
  { field: "region" },
  { field: "x", type: "quantitative" },
  { aggregate: "count" },
  { value: 3 },
  { datum: 3 },
  { expr: "1 + 1" },
  { type: "bar", point: true },
  { type: "line", interpolate: "monotone" },
  { domain: [0, 10], zero: false },
  { type: "log" },
  { scheme: "viridis" },
  { year: 2020, month: 1 },
  { maxbins: 10 },
  { step: 20 },
  { condition: { test: "datum.x > 3", value: "red" }, value: "blue" },
  { unit: "month", step: 3 },
  { op: "mean", field: "x", order: "descending" },
  { title: null, labels: false }
]

const keys = (
  "mark encoding x y color size shape opacity theta row column facet text tooltip order detail xOffset x2 y2 field type aggregate bin " +
  "timeUnit scale axis legend sort stack title format value datum condition transform filter calculate as layer width height resolve spec"
).split(" ")

/** One of the collection, changed as the seed says. */
export const apply = (specifications: ReadonlyArray<JsonObject>, { base, steps }: Seed): JsonObject => {
  const changed = steps.reduce<Json>(change, specifications[base % specifications.length] ?? {})
  return typeof changed === "object" && changed !== null && !isList(changed) ? changed : {}
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const pick = <A>(list: ReadonlyArray<A>, choice: number): A | undefined => list[choice % list.length]

/** How many places there are in a value: itself, and those inside. */
const placesIn = (value: Json): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + placesIn(inner), 1)
    : 1

const change = (value: Json, { place, what }: { readonly place: number; readonly what: number }): Json =>
  changeAt(value, 1 + (place % Math.max(1, placesIn(value) - 1)), what)

/** Changes the place of a number, counted from the outside in. */
const changeAt = (value: Json, place: number, what: number): Json => {
  if (place === 0) return changedValue(value, what)
  if (typeof value !== "object" || value === null) return value
  let left = place - 1
  const entries = Object.entries(value).flatMap(([key, inner]): ReadonlyArray<readonly [string, Json]> => {
    const size = placesIn(inner)
    const here = left
    left -= size
    if (here < 0 || here >= size) return [[key, inner]]
    if (here === 0 && what % 7 === 0) return []
    if (here === 0 && what % 7 === 1 && !isList(value)) return [[pick(keys, what) ?? key, inner]]
    return [[key, changeAt(inner, here, what)]]
  })
  return isList(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

const changedValue = (value: Json, what: number): Json => {
  const other = pick(values, Math.floor(what / 7)) ?? null
  // Half of the time an object gets one more key instead of becoming something else.
  if (what % 2 === 0 && typeof value === "object" && value !== null && !isList(value)) {
    return { ...value, [pick(keys, what) ?? "x"]: other }
  }
  return other
}
