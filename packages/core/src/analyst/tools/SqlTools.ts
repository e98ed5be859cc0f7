/**
 * The tools over connectors: their tables, and read-only statements.
 */
import * as Effect from "effect/Effect"
import { CellContent } from "../../chat/Cell.ts"
import type { Connector } from "../../connector/Connector.ts"
import type { ConnectorDriver } from "../../connector/ConnectorDriver.ts"
import type { ConnectorQueries } from "../../connector/ConnectorQueries.ts"
import type { TableColumn, TableSchema } from "../../connector/TableSchema.ts"
import type { RunContext } from "../RunContext.ts"
import { step } from "../Step.ts"
import { DescribeTables, RunSql } from "../Tool.ts"
import { bind, type BoundTool } from "../Toolbox.ts"
import { ToolFailure } from "../ToolFailure.ts"
import { bounded, type Kind, matching } from "./Bounded.ts"
import { queryOutcome } from "./QueryOutcome.ts"

/** What the tools ask. */
export interface SqlToolPorts {
  readonly driver: ConnectorDriver["Service"]
  readonly queries: ConnectorQueries["Service"]
}

const asToolFailure = (error: { readonly message: string }) => new ToolFailure({ message: error.message })

/** The connector of a name, among those that the run may use; an unknown one and a forbidden one read the same. */
const connectorNamed = (context: RunContext, name: string): Effect.Effect<Connector, ToolFailure> => {
  const found = context.connectors.find((connector) => connector.name === name)
  if (found !== undefined) return Effect.succeed(found)
  const names = context.connectors.map((connector) => connector.name).join(", ") || "none"
  return Effect.fail(
    new ToolFailure({ message: `the connector ${JSON.stringify(name)} is not available; available are: ${names}` })
  )
}

const kind: Kind<TableSchema, TableColumn> = {
  noun: "table",
  partNoun: "column",
  nameOf: ({ name }) => name,
  partNameOf: ({ name }) => name,
  partsOf: ({ columns }) => columns,
  withParts: (table, columns) => ({ ...table, columns })
}

/** `describe_tables`: the tables of one connector, as far as a model is to read them. */
const describeTables = (context: RunContext, { driver }: SqlToolPorts): BoundTool =>
  bind(
    DescribeTables,
    Effect.fnUntraced(function* ({ connector: name, search, table }) {
      const connector = yield* connectorNamed(context, name)
      const tables = yield* Effect.mapError(driver.tables(connector), asToolFailure)
      const asked = table === undefined ? tables : tables.filter((candidate) => candidate.name === table)
      const found = search === undefined ? asked : matching(asked, search, kind)
      const { described, notes } = bounded(found, context.limits.descriptionCharacters, kind)
      return { tables: described, ...(notes.length === 0 ? {} : { more: notes }) }
    })
  )

/** `run_sql`: one read-only statement on one connector. */
const runSql = (context: RunContext, { queries }: SqlToolPorts): BoundTool =>
  bind(
    RunSql,
    Effect.fnUntraced(function* ({ connector: name, sql, title }) {
      const connector = yield* connectorNamed(context, name)
      const content = CellContent.cases.Sql.make({ connectorId: connector.id, query: sql })
      return yield* step(context, { title, content }, () =>
        queries
          .query(context.run.principal, connector, sql, {
            timeout: context.limits.statementTimeout,
            maxRows: context.limits.maxRows,
            maxBytes: context.limits.maxBytes
          })
          .pipe(
            Effect.mapError(asToolFailure),
            Effect.flatMap((table) => queryOutcome(context, table))
          )
      )
    })
  )

/** The tools over connectors. */
export const sqlTools = (context: RunContext, ports: SqlToolPorts): ReadonlyArray<BoundTool> => [
  describeTables(context, ports),
  runSql(context, ports)
]
