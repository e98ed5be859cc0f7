/**
 * The tools over the ontology: what it has, and queries in its language.
 */
import * as Effect from "effect/Effect"
import { CellContent } from "../../chat/Cell.ts"
import type { ConnectorQueries } from "../../connector/ConnectorQueries.ts"
import type { OntologyField, OntologySource } from "../../ontology/Ontology.ts"
import type { OntologyEngine } from "../../ontology/OntologyEngine.ts"
import { excerpt } from "../../text/Excerpt.ts"
import type { RunContext } from "../RunContext.ts"
import { step } from "../Step.ts"
import { DescribeOntology, QueryOntology } from "../Tool.ts"
import { bind, type BoundTool } from "../Toolbox.ts"
import { ToolFailure } from "../ToolFailure.ts"
import { bounded, type Kind, matching } from "./Bounded.ts"
import { queryOutcome } from "./QueryOutcome.ts"

/** What the tools ask. */
export interface OntologyToolPorts {
  readonly queries: ConnectorQueries["Service"]
  readonly engine: OntologyEngine["Service"]
}

const asToolFailure = (error: { readonly message: string }) => new ToolFailure({ message: error.message })

/** Characters of the names that a model may choose from. */
const namesLength = 4_000

/** The source of a name. The engine knows only those that the run may use. */
const sourceNamed = (
  sources: ReadonlyArray<OntologySource>,
  name: string
): Effect.Effect<OntologySource, ToolFailure> => {
  const found = sources.find((candidate) => candidate.name === name)
  if (found !== undefined) return Effect.succeed(found)
  const names = excerpt(sources.map((candidate) => candidate.name).join(", ") || "none", namesLength)
  return Effect.fail(new ToolFailure({ message: `there is no source ${JSON.stringify(name)}; there are: ${names}` }))
}

const kind: Kind<OntologySource, OntologyField> = {
  noun: "source",
  partNoun: "field",
  nameOf: ({ name }) => name,
  partNameOf: ({ name }) => name,
  partsOf: ({ fields }) => fields,
  withParts: (source, fields) => ({ ...source, fields })
}

/** `describe_ontology`: the sources of the model that the run may use, as far as a model is to read them. */
const describeOntology = (context: RunContext, { engine }: OntologyToolPorts): BoundTool =>
  bind(
    DescribeOntology,
    Effect.fnUntraced(function* ({ search, source }) {
      const sources = yield* Effect.mapError(engine.describe(context.ontology), asToolFailure)
      const asked = source === undefined ? sources : [yield* sourceNamed(sources, source)]
      const found = search === undefined ? asked : matching(asked, search, kind)
      const { described, notes } = bounded(found, context.limits.descriptionCharacters, kind)
      return { sources: described, ...(notes.length === 0 ? {} : { more: notes }) }
    })
  )

/** `query_ontology`: compiles a query, shows the statement that it became, and runs it. */
const queryOntology = (context: RunContext, { engine, queries }: OntologyToolPorts): BoundTool =>
  bind(QueryOntology, ({ query, title }) =>
    step(context, { title, content: CellContent.cases.OntologyQuery.make({ query }) }, (cell) =>
      Effect.gen(function* () {
        const prepared = yield* Effect.mapError(engine.prepare(context.ontology, query), asToolFailure)
        // The engine promises it; what a run may query does not rest on one promise.
        if (!context.connectors.some((usable) => usable.id === prepared.connector.id)) {
          return yield* new ToolFailure({ message: "the connector of this source is not available to you" })
        }
        yield* cell.reveal(
          CellContent.cases.OntologyQuery.make({ connectorId: prepared.connector.id, query, code: prepared.sql })
        )
        const table = yield* Effect.mapError(
          queries.query(context.run.principal, prepared.connector, prepared.sql, {
            timeout: context.limits.statementTimeout,
            maxRows: context.limits.maxRows,
            maxBytes: context.limits.maxBytes
          }),
          asToolFailure
        )
        return yield* queryOutcome(context, table)
      })
    )
  )

/** The tools over the ontology. */
export const ontologyTools = (context: RunContext, ports: OntologyToolPorts): ReadonlyArray<BoundTool> => [
  describeOntology(context, ports),
  queryOntology(context, ports)
]
