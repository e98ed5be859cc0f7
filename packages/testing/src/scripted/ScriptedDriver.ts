/**
 * A data source of tables in memory: for tests of whatever stands on the `ConnectorDriver` port, without a database.
 *
 * It answers `select * from <table>`, counts `select count(*) as n from <table>`, and whatever else the test taught
 * it; any other statement fails as a source's syntax error would, and a statement that writes is refused. It keeps row
 * policies: filters narrow the tables before a statement sees them. A test can hold every statement at its start, to see what a cancel does to it.
 */
import { type Connector, ConnectorType } from "@castellan/core/connector/Connector"
import {
  ConnectorDriver,
  ConnectorError,
  type QueryLimits,
  SourceUnavailable,
  StatementFailed,
  StatementRefused,
  StatementTimedOut
} from "@castellan/core/connector/ConnectorDriver"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as TableName from "@castellan/core/connector/TableName"
import type { TableSchema } from "@castellan/core/connector/TableSchema"
import type { RowFilter } from "@castellan/core/rowpolicy/RowPolicy"
import { shows } from "@castellan/core/rowpolicy/RowPredicate"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

/** A table of a scripted source. */
export interface ScriptedTable {
  readonly name: string
  readonly columns: ResultTable["columns"]
  readonly rows: ResultTable["rows"]
}

/** A statement that was run, and what became of it. */
export interface RecordedStatement {
  readonly connector: Connector
  readonly statement: string
  readonly limits: QueryLimits
  /** The filters that it ran through; none where it ran without. */
  readonly filters: ReadonlyArray<RowFilter>
  readonly outcome: "running" | "answered" | "failed" | "interrupted"
}

/** What a source is taught beyond its tables: an answer, or nothing when it knows none. */
export type Answers = (
  statement: string,
  connector: Connector
) => Effect.Effect<ResultTable, ConnectorError> | undefined

/** The test's view of a scripted source. */
export class ScriptedDriver extends Context.Service<
  ScriptedDriver,
  {
    /** Every statement that was run so far, in order. */
    readonly recorded: Effect.Effect<ReadonlyArray<RecordedStatement>>
    /** Returns as soon as this many statements have been started, since the beginning. */
    readonly started: (count: number) => Effect.Effect<void>
    /** Statements from now on start, and wait. */
    readonly hold: Effect.Effect<void>
    /** Lets the waiting statements go on, and those to come. */
    readonly release: Effect.Effect<void>
  }
>()("@castellan/testing/scripted/ScriptedDriver") {}

/** A small table of sales: three regions, with a null and text that has to be quoted. */
export const sales: ScriptedTable = {
  name: "sales",
  columns: [
    { name: "region", type: "text" },
    { name: "amount", type: "integer" },
    { name: "note", type: "text" }
  ],
  rows: [
    ["north", 120, 'first, and "best"'],
    ["south", 80, null],
    ["west", 45, "a | b"]
  ]
}

const refused = (message: string) => new ConnectorError({ reason: new StatementRefused({ message }) })
const failed = (message: string) => new ConnectorError({ reason: new StatementFailed({ message }) })

const writes = /^\s*(?:insert|update|delete|drop|create|alter|copy|attach|truncate|merge|grant|set)\b/iu
const wholeTable = /^\s*select\s+\*\s+from\s+"?([A-Za-z_]\w*)"?\s*$/iu
const countOf = /^\s*select\s+count\(\*\)\s+as\s+n\s+from\s+"?([A-Za-z_]\w*)"?\s*$/iu

const sourceTypes = {
  text: "VARCHAR",
  integer: "BIGINT",
  number: "DOUBLE",
  decimal: "DECIMAL(38,9)",
  boolean: "BOOLEAN",
  date: "DATE",
  time: "TIME",
  timestamp: "TIMESTAMP",
  json: "JSON"
} as const

const schemaOf = (table: ScriptedTable): TableSchema => ({
  name: table.name,
  columns: table.columns.map((column) => ({ ...column, sourceType: sourceTypes[column.type] })),
  rowCount: table.rows.length
})

/** A result as far as the limits let it through. */
const bounded = (table: Pick<ResultTable, "columns" | "rows">, limits: QueryLimits): ResultTable => {
  const rows: Array<ResultTable["rows"][number]> = []
  let bytes = 0
  for (const row of table.rows) {
    bytes += JSON.stringify(row).length
    if (rows.length >= limits.maxRows || bytes > limits.maxBytes) break
    rows.push(row)
  }
  return { columns: table.columns, rows, truncated: rows.length < table.rows.length }
}

/** The rows of a table that every filter of it shows. */
const filtered = (table: ScriptedTable, filters: ReadonlyArray<RowFilter>): ScriptedTable => ({
  ...table,
  rows: table.rows.filter((row) =>
    filters
      .filter((filter) => TableName.maySame(filter.table, table.name))
      .every(({ predicate }) =>
        shows(predicate, (column) => row[table.columns.findIndex(({ name }) => name === column)] ?? null)
      )
  )
})

/** A source of these tables for every connector, and the test's view of it. */
export const layer = (
  options: {
    readonly tables?: ReadonlyArray<ScriptedTable>
    readonly answers?: Answers
    /** Whether the source keeps row policies; it does, unless said otherwise. */
    readonly keepsRowPolicies?: boolean
    /** Why no source can be reached, where none can. */
    readonly unreachable?: string
  } = {}
): Layer.Layer<ScriptedDriver | ConnectorDriver> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const tables = (options.tables ?? [sales]).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      const recorded = yield* SubscriptionRef.make<ReadonlyArray<RecordedStatement>>([])
      const gate = yield* Latch.make(true)

      const tableNamed = (name: string | undefined): Effect.Effect<ScriptedTable, ConnectorError> => {
        const found = tables.find((table) => table.name === name)
        return found === undefined ? Effect.fail(failed(`table ${name} does not exist`)) : Effect.succeed(found)
      }

      const answer = (
        connector: Connector,
        statement: string,
        filters: ReadonlyArray<RowFilter> = []
      ): Effect.Effect<Pick<ResultTable, "columns" | "rows">, ConnectorError> => {
        const taught = options.answers?.(statement, connector)
        if (taught !== undefined) return taught
        if (writes.test(statement)) return Effect.fail(refused("only statements that read are allowed"))
        if (statement.replace(/;\s*$/u, "").includes(";")) return Effect.fail(refused("only one statement is allowed"))
        const whole = wholeTable.exec(statement)
        const seen = (name: string | undefined) => Effect.map(tableNamed(name), (table) => filtered(table, filters))
        if (whole !== null) return seen(whole[1])
        const counted = countOf.exec(statement)
        if (counted === null)
          return Effect.fail(failed(`syntax error at or near ${JSON.stringify(statement.slice(0, 40))}`))
        return Effect.map(seen(counted[1]), (table) => ({
          columns: [{ name: "n", type: "integer" }],
          rows: [[table.rows.length]]
        }))
      }

      const settle = (index: number, exit: Exit.Exit<unknown, unknown>) => {
        const outcome = Exit.isSuccess(exit) ? "answered" : Cause.hasInterrupts(exit.cause) ? "interrupted" : "failed"
        return SubscriptionRef.update(recorded, (all) =>
          all.map((one, position) => (position === index ? { ...one, outcome } : one))
        )
      }

      const run = (
        connector: Connector,
        statement: string,
        limits: QueryLimits,
        filters: ReadonlyArray<RowFilter>
      ): Effect.Effect<ResultTable, ConnectorError> =>
        Effect.acquireUseRelease(
          SubscriptionRef.modify(recorded, (all) => [
            all.length,
            [...all, { connector, statement, limits, filters, outcome: "running" } satisfies RecordedStatement]
          ]),
          () =>
            Effect.andThen(gate.await, answer(connector, statement, filters)).pipe(
              Effect.map((table) => bounded(table, limits)),
              Effect.timeoutOrElse({
                duration: limits.timeout,
                orElse: () =>
                  Effect.fail(
                    new ConnectorError({
                      reason: new StatementTimedOut({ message: "the statement ran past its time limit" })
                    })
                  )
              })
            ),
          settle
        )

      /** A statement that only the test knows may read every table. */
      const tablesOf = (statement: string): ReadonlyArray<string> => {
        const name = (wholeTable.exec(statement) ?? countOf.exec(statement))?.[1]
        return name === undefined ? tables.map((table) => table.name) : [name]
      }

      const driver = ConnectorDriver.of({
        types: ConnectorType.literals,
        bindsParameters: true,
        probe: () =>
          options.unreachable === undefined
            ? Effect.void
            : Effect.fail(new ConnectorError({ reason: new SourceUnavailable({ message: options.unreachable }) })),
        ...(options.keepsRowPolicies === false
          ? {}
          : {
              rowFiltering: {
                tablesOf: (_connector: Connector, statement: string) =>
                  writes.test(statement)
                    ? Effect.fail(refused("only statements that read are allowed"))
                    : Effect.succeed(tablesOf(statement)),
                query: run
              }
            }),
        query: Effect.fn("ScriptedDriver.query")((connector, statement, limits) =>
          run(connector, statement, limits, [])
        ),
        tables: () => Effect.succeed(tables.map(schemaOf)),
        describe: Effect.fn("ScriptedDriver.describe")(function* (connector, statement) {
          const { columns } = yield* answer(connector, statement)
          return columns.map((column) => ({ ...column, sourceType: sourceTypes[column.type] }))
        })
      })

      return Context.make(ConnectorDriver, driver).pipe(
        Context.add(ScriptedDriver, {
          recorded: SubscriptionRef.get(recorded),
          started: (count) =>
            SubscriptionRef.changes(recorded).pipe(
              Stream.takeUntil((all) => all.length >= count),
              Stream.runDrain
            ),
          hold: Effect.asVoid(gate.close),
          release: Effect.asVoid(gate.open)
        })
      )
    })
  )
