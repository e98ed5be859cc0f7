/**
 * A semantic model of fixed sources: for tests of whatever stands on the `OntologyEngine` port, without a compiler.
 *
 * Its language has one statement, `run: <source>`, or `run: <source> -> <view>`, which becomes
 * `select * from <source>` on the source's connector.
 */
import type { OntologySource } from "@castellan/core/ontology/Ontology"
import {
  OntologyEngine,
  OntologyError,
  type OntologyInput,
  type PreparedQuery
} from "@castellan/core/ontology/OntologyEngine"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The source over the scripted table `sales`, on the connector `warehouse`. */
export const salesSource: OntologySource = {
  name: "sales",
  connector: "warehouse",
  label: "Sales",
  synonyms: ["revenue"],
  fields: [
    { name: "region", kind: "dimension", type: "text", label: "Region", synonyms: [] },
    { name: "total", kind: "measure", type: "number", label: "Total", synonyms: [], unit: "USD" }
  ],
  views: []
}

const problem = (column: number, message: string) =>
  new OntologyError({ problems: [{ path: "query", line: 1, column, message }] })

/** The connector of a source, if whoever asks may use it. */
const connectorOf = ({ connectors, visible }: OntologyInput, source: OntologySource) =>
  connectors.find(
    ({ name }) => name === source.connector && (visible === undefined || visible.some((seen) => seen === name))
  )

/** A model of these sources. Whoever may not use a source's connector does not see the source. */
export const layer = (sources: ReadonlyArray<OntologySource> = [salesSource]): Layer.Layer<OntologyEngine> =>
  Layer.succeed(OntologyEngine, {
    describe: (input) => Effect.succeed(sources.filter((source) => connectorOf(input, source) !== undefined)),
    prepare: Effect.fn("ScriptedOntology.prepare")(function* (input: OntologyInput, query: string) {
      const [, name, view] = /^\s*run:\s*([A-Za-z_]\w*)\s*(?:->\s*([A-Za-z_]\w*)\s*)?$/u.exec(query) ?? []
      if (name === undefined) return yield* problem(1, "expected `run: <source>`")
      const source = sources.find((candidate) => candidate.name === name)
      const connector = source === undefined ? undefined : connectorOf(input, source)
      if (source === undefined || connector === undefined) {
        return yield* problem(6, `reference to undefined source ${name}`)
      }
      if (view !== undefined && !source.views.some((one) => one.name === view)) {
        return yield* problem(query.indexOf("->") + 4, `${view} is not defined`)
      }
      const prepared: PreparedQuery = { connector, sql: `select * from ${source.name}` }
      return prepared
    })
  })
