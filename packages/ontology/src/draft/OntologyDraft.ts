/**
 * Drafts models for a source that has none, from its schema and its data: a file for each table, with better names
 * for columns that would need quotes, times (also those written as text, and years), joins where a column holds the
 * keys of another table, measures that make sense, and units that are sure. A draft compiles as it is, and is meant to
 * be read, kept and changed.
 *
 * Source: the first milestone ("otherwise drafts them from the schema and the data … writes nothing into the folder").
 */
import type { Connector } from "@castellan/core/connector/Connector"
import { ConnectorDriver, type ConnectorError } from "@castellan/core/connector/ConnectorDriver"
import type { OntologyFile } from "@castellan/core/ontology/Ontology"
import * as MalloyName from "../malloy/MalloyName.ts"
import * as Effect from "effect/Effect"
import { write } from "./internal/MalloyText.ts"
import { contentOf, identifier, Names } from "./internal/Naming.ts"
import * as Profiling from "./internal/Profiling.ts"
import * as References from "./internal/References.ts"
import { plan, type SourcePlan } from "./internal/SourcePlan.ts"
import type { KeyReference, TableProfile } from "./TableProfile.ts"

/**
 * Drafts the models of a source: looks at its tables with a few bounded statements each, and writes nothing anywhere.
 * Fails when the source does not tell its tables; a table whose values cannot be read is drafted from its columns.
 */
export const draft: (
  connector: Connector
) => Effect.Effect<ReadonlyArray<OntologyFile>, ConnectorError, ConnectorDriver> = Effect.fn("OntologyDraft.draft")(
  function* (connector) {
    const driver = yield* ConnectorDriver
    const tables = yield* driver.tables(connector)
    const profiles = yield* Effect.forEach(tables, (table) => Profiling.profile(connector, table), { concurrency: 2 })
    const references = yield* References.check(connector, References.propose(profiles))
    return compose(connector.name, profiles, references)
  }
)

/**
 * The files of a draft, from what is known of the tables and of the references between them. Pure: the same knowledge
 * gives the same files.
 *
 * @param connector the name by which the files refer to the source
 */
export const compose = (
  connector: string,
  tables: ReadonlyArray<TableProfile>,
  references: ReadonlyArray<KeyReference>
): ReadonlyArray<OntologyFile> => {
  const places = placesOf(tables)
  const plans = tables.map((table) => plan(table, places.get(table.name)?.source ?? table.name, references))
  const byTable = new Map(plans.map((one) => [one.table.name, one]))
  const order = importOrder(plans)
  return plans
    .map((one) => {
      const mayImport = (table: string): boolean => (order.get(table) ?? 0) < (order.get(one.table.name) ?? 0)
      const imported = new Set(one.joins.map(({ reference }) => reference.toTable).filter(mayImport))
      const path = places.get(one.table.name)?.path ?? ""
      return {
        path,
        content: write(one, {
          connector,
          imports: Array.from(imported, (table) => places.get(table)?.path ?? "").toSorted(),
          targetOf: ({ reference: { toColumn, toTable } }) => {
            const target = byTable.get(toTable)
            const planned = target?.columns.find(({ column }) => column.name === toColumn)
            return imported.has(toTable) && target !== undefined && planned !== undefined
              ? { source: target.name, table: toTable, key: planned.name }
              : { source: undefined, table: toTable, key: toColumn }
          }
        })
      }
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The name of each table's source and the path of its file: plain, and different in more than case. */
const placesOf = (tables: ReadonlyArray<TableProfile>): ReadonlyMap<string, { source: string; path: string }> => {
  const contents = Map.groupBy(tables, ({ name }) => contentOf(name))
  const sources = new Names()
  const files = new Names()
  return new Map(
    tables.map(({ name }) => {
      const content = contentOf(name)
      const plain = identifier(name)
      // `flights_3m` is `flights`, unless there are other flights.
      const own = MalloyName.isBare(name) ? name : (plain ?? name)
      const wish = content !== undefined && contents.get(content)?.length === 1 ? content : own
      const source = sources.claimAny(wish === content && own.toLowerCase() === content ? own : wish)
      const path = `${files.claim(plain === undefined ? "table" : source)}.malloy`
      return [name, { source, path }]
    })
  )
}

/**
 * A number for each table, so that a file only imports files of lower numbers: sources cannot join each other in a
 * circle. Where keys do lead in a circle, one of the joins is to the bare table.
 */
const importOrder = (plans: ReadonlyArray<SourcePlan>): ReadonlyMap<string, number> => {
  const order = new Map<string, number>()
  const byTable = new Map(plans.map((one) => [one.table.name, one]))
  const entered = new Set<string>()
  const visit = (one: SourcePlan): void => {
    if (entered.has(one.table.name)) return
    entered.add(one.table.name)
    for (const { reference } of one.joins) {
      const target = byTable.get(reference.toTable)
      if (target !== undefined) visit(target)
    }
    order.set(one.table.name, order.size)
  }
  for (const one of plans) visit(one)
  return order
}
