/**
 * Which columns hold the keys of other tables. Names propose, values decide: a reference is only drafted where the
 * values of the one column are found in the other, which has each value once.
 */
import type { Connector } from "@castellan/core/connector/Connector"
import { ConnectorDriver, type QueryLimits } from "@castellan/core/connector/ConnectorDriver"
import { values } from "@castellan/core/connector/ResultTable"
import { words } from "../../internal/Label.ts"
import * as SqlName from "../../internal/SqlName.ts"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ColumnProfile, KeyReference, TableProfile } from "../TableProfile.ts"
import { identifier, thingOf } from "./Naming.ts"

const limits: QueryLimits = { timeout: Duration.seconds(60), maxRows: 1, maxBytes: 100_000 }

/** Pairs of columns whose values are compared, the likeliest first. */
const maximumChecks = 60

/** Different values of a column that are looked for in the other. */
const comparedValues = 10_000

/** The share of values that must be found where the names agree: a few orphans are normal. */
const enoughByName = 0.9

/** Different values that a column must have before its values alone say what it refers to. */
const tellingValues = 20

/** Names that say nothing about what they are the key of. */
const generic = new Set(
  "id key code name number no nr uuid guid type title label value index position rank order".split(" ")
)

/** What a row calls another row of its own table. */
const selfReferring =
  /^(?:parent|manager|supervisor|boss|mentor|superior|reports_to|referrer|referred_by|previous|next|original|root)(?:_|$)/

/** Numbers that are names: only these are the same thing wherever they are called the same. */
const keyLike = /(?:^|_)(?:id|key|code|no|nr|num|number|fips|zip|zipcode|sku|uuid|pk|fk|ref)$/

/** A column with what its names say, worked out once: every column is held against every key. */
interface Named {
  readonly table: TableProfile
  readonly column: ColumnProfile
  readonly name: string | undefined
  readonly words: number
  /** What a row of its table is. */
  readonly thing: string
}

/** Proposes the references between tables, without a look at the values beyond their figures. */
export const propose = (tables: ReadonlyArray<TableProfile>): ReadonlyArray<KeyReference> => {
  const columns = tables.flatMap((table) => {
    const thing = thingOf(table.name)
    return table.columns.map((column): Named => ({
      table,
      column,
      name: identifier(column.name),
      words: words(column.name).length,
      thing
    }))
  })
  const keys = columns.filter(({ column }) => column.unique)
  const proposals = columns.flatMap((from) =>
    keys.flatMap((key): ReadonlyArray<KeyReference> => {
      if (from === key || !comparable(from.column, key.column)) return []
      const reference = {
        table: from.table.name,
        column: from.column.name,
        toTable: key.table.name,
        toColumn: key.column.name
      }
      if (namesAgree(from, key)) return [{ ...reference, toldBy: "name" }]
      return key.table !== from.table && valuesMayTell(from.column, key.column)
        ? [{ ...reference, toldBy: "values" }]
        : []
    })
  )
  return proposals.toSorted((a, b) => Number(b.toldBy === "name") - Number(a.toldBy === "name")).slice(0, maximumChecks)
}

/** The references among these that the values bear out; of several from one column, the first. */
export const check: (
  connector: Connector,
  proposals: ReadonlyArray<KeyReference>
) => Effect.Effect<ReadonlyArray<KeyReference>, never, ConnectorDriver> = Effect.fnUntraced(
  function* (connector, proposals) {
    const driver = yield* ConnectorDriver
    const found: Array<KeyReference> = []
    for (const proposal of proposals) {
      const settled = found.some((one) => one.table === proposal.table && one.column === proposal.column)
      // Two tables with one key each for the same things: one of the two directions is enough.
      const opposite = found.some(
        (one) =>
          one.table === proposal.toTable &&
          one.column === proposal.toColumn &&
          one.toTable === proposal.table &&
          one.toColumn === proposal.column
      )
      if (settled || opposite) continue
      const share = yield* Effect.orElseSucceed(
        Effect.map(driver.query(connector, comparison(proposal), limits), (table) => {
          const [compared = 0] = values(table, "compared")
          const [present = 0] = values(table, "present")
          return typeof compared === "number" && typeof present === "number" && compared > 0 ? present / compared : 0
        }),
        () => 0
      )
      if (share >= (proposal.toldBy === "name" ? enoughByName : 1)) found.push(proposal)
    }
    return found
  }
)

const comparison = ({ column, table, toColumn, toTable }: KeyReference): string => {
  const from = SqlName.column(column)
  const to = SqlName.column(toColumn)
  return (
    `SELECT count(*) AS compared, count(found.k) AS present FROM ` +
    `(SELECT DISTINCT ${from} AS v FROM ${SqlName.quoted(table)} WHERE ${from} IS NOT NULL LIMIT ${comparedValues}) AS wanted ` +
    `LEFT JOIN (SELECT ${to} AS k FROM ${SqlName.quoted(toTable)}) AS found ON wanted.v = found.k`
  )
}

const isNumber = (column: ColumnProfile) => column.type === "integer" || column.type === "decimal"

/** Columns whose figures do not rule out that the values of the one are among those of the other. */
const comparable = (column: ColumnProfile, key: ColumnProfile): boolean => {
  if (column.present === 0 || column.temporal !== undefined || key.temporal !== undefined) return false
  if (isNumber(column) && isNumber(key)) {
    const [own, other] = [column.range, key.range]
    return own !== undefined && other !== undefined && own.least <= other.greatest && own.greatest >= other.least
  }
  return column.type === "text" && key.type === "text"
}

/**
 * Whether the names say that a column holds a key: `customer_id`, or `billing_customer_id`, of `customers.id` or
 * `customers.customer_id`; `iata` of `airports.iata`; `country` of `countries.name`.
 */
const namesAgree = (from: Named, key: Named): boolean => {
  const [own, other] = [from.name, key.name]
  if (own === undefined || other === undefined) return false
  const ends = (full: string, end: string) => full === end || full.endsWith(`_${end}`)
  const isGeneric = generic.has(other)
  // Two tables that both have years, or prices, do not refer to each other by them.
  if (isNumber(from.column) && own === other && !keyLike.test(own)) return false
  // A row's own id (`customer_id` in customers) is not a reference to another table that also has it.
  if (own === other) {
    return from.table !== key.table && !isGeneric && !(from.column.unique && own.startsWith(`${from.thing}_`))
  }
  if (from.table === key.table && selfReferring.test(own)) return true
  if (isGeneric)
    return ends(own, `${key.thing}_${other}`) || own === key.thing || (other === "id" && ends(own, key.thing))
  return key.words > 1 && ends(own, other) && generic.has(other.slice(other.lastIndexOf("_") + 1))
}

/** Whether all that the figures know of a text column's values may be found among those of a key. */
const valuesMayTell = (column: ColumnProfile, key: ColumnProfile): boolean => {
  const [own, other] = [column.texts, key.texts]
  return (
    own !== undefined &&
    other !== undefined &&
    !column.unique &&
    column.distinct >= tellingValues &&
    key.distinct >= column.distinct * 0.8 &&
    own.longest <= 40 &&
    own.shortest >= other.shortest &&
    own.longest <= other.longest &&
    own.first >= other.first &&
    own.last <= other.last
  )
}
