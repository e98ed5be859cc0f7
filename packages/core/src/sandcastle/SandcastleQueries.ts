/**
 * Queries whose results become dataframes of a sandcastle's session. They go through the same door as everybody's: the
 * caller's connectors, the row policies, read-only, bounded.
 *
 * Source: decisions.md §7 ("`POST …/{id}/query`").
 */
import * as Effect from "effect/Effect"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import type { ConnectorId } from "../connector/Connector.ts"
import type { ConnectorError } from "../connector/ConnectorDriver.ts"
import { ConnectorQueries } from "../connector/ConnectorQueries.ts"
import { Connectors } from "../connector/Connectors.ts"
import { ConnectorStore } from "../connector/ConnectorStore.ts"
import type { Column, ResultTable, Value } from "../connector/ResultTable.ts"
import * as ResultText from "../connector/ResultText.ts"
import { ExecutionFailed, InvalidRequest, PermissionDenied, TimedOut } from "../error/Failure.ts"
import { OntologyEngine } from "../ontology/OntologyEngine.ts"
import { OntologyStore } from "../ontology/OntologyStore.ts"
import { count } from "../text/Count.ts"
import type { ExecutionId, ExecutionSource } from "./Execution.ts"
import { ExecutionEvent } from "./ExecutionState.ts"
import type { Dataframe } from "./SandboxRuntime.ts"
import type { SandcastleId } from "./Sandcastle.ts"
import * as SandcastleExecutions from "./SandcastleExecutions.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import * as SessionUse from "./SessionUse.ts"

/** What to ask: a statement in the connector's SQL, or a view of the ontology by its path, `flights.by_carrier`. */
export type QueryText =
  | { readonly _tag: "Statement"; readonly query: string }
  | { readonly _tag: "View"; readonly path: string }

/** A query whose result becomes a dataframe. */
export interface QueryRequest {
  readonly connectorId: ConnectorId
  readonly text: QueryText
  /** Values of the statement's named parameters. */
  readonly parameters?: Readonly<Record<string, Value>>
  /** Rows of the result at most. */
  readonly maxRows?: number
  /** The dataframe's name in the session; `df` where nothing is said. */
  readonly dataframeName?: string
  readonly source: ExecutionSource
}

/** What came of a query. */
export interface QueryAnswer {
  readonly executionId: ExecutionId
  /** The first rows, as a Markdown table. */
  readonly preview: string
  readonly dataframe: Dataframe
  readonly columns: ReadonlyArray<Column>
  /** Whether the source had more rows than the limits let through. */
  readonly truncated: boolean
}

/** Rows of a preview. */
const previewRows = 20

const identifier = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

// A dataframe of this name could not be named in the session.
const keywords = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" ")
)

const viewPath = /^([A-Za-z_][A-Za-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_]*)$/

// Python keeps these for itself: a session whose `__builtins__` is a dataframe can run nothing any more.
const reserved = /^__.*__$/

const isDataframeName = (name: string): boolean => identifier.test(name) && !keywords.has(name) && !reserved.test(name)

const badName = new InvalidRequest({
  message:
    "dataframe_name: must be a name that Python takes for a variable and does not keep for itself, of at most 63 characters"
})

/** What a request asks that its own fields make impossible. */
const shapeOf = (
  request: QueryRequest,
  limits: SandcastleLimits
): Effect.Effect<{ readonly name: string; readonly maxRows: number }, InvalidRequest> => {
  const invalid = (message: string) => Effect.fail(new InvalidRequest({ message }))
  const name = request.dataframeName ?? "df"
  const maxRows = request.maxRows ?? limits.maxRows
  if (!isDataframeName(name)) return Effect.fail(badName)
  if (!Number.isInteger(maxRows) || maxRows < 1 || maxRows > limits.maxRows) {
    return invalid(`max_rows: must be a whole number from 1 to ${limits.maxRows}`)
  }
  if (request.text._tag === "Statement" && request.text.query.trim() === "") {
    return invalid("query: must not be empty")
  }
  if (request.text._tag === "View" && !viewPath.test(request.text.path)) {
    return invalid("ontology_path: must be a source and one of its views, such as flights.by_carrier")
  }
  if (request.text._tag === "View" && request.parameters !== undefined) {
    return invalid("params: a view of the ontology takes none")
  }
  return Effect.succeed({ name, maxRows })
}

/** A data source's failure as the caller is told of it. */
const failureOf = ({ reason }: ConnectorError) => {
  switch (reason._tag) {
    case "StatementRefused":
      return new PermissionDenied({ message: reason.message })
    case "StatementTimedOut":
      return new TimedOut({ message: reason.message })
    default:
      return new ExecutionFailed({ message: reason.message })
  }
}

/** Queries of sandcastles over the connectors, the ontology and the sessions. */
export const make = Effect.gen(function* () {
  const executions = yield* SandcastleExecutions.make
  const sessions = yield* SessionUse.make
  const connectors = yield* Connectors
  const queries = yield* ConnectorQueries
  const connectorStore = yield* ConnectorStore
  const engine = yield* OntologyEngine
  const ontologies = yield* OntologyStore
  const limits = yield* SandcastleLimits

  const connectorOf = (principal: Principal, id: ConnectorId) =>
    Effect.flatMap(connectors.usableBy(principal, [id]), ([connector]) =>
      connector === undefined
        ? Effect.fail(new PermissionDenied({ message: `permission denied: connector ${id} is not available to you` }))
        : Effect.succeed(connector)
    )

  /** The statement that a view of the ontology becomes on the connector. */
  const compiled = Effect.fnUntraced(function* (principal: Principal, id: ConnectorId, path: string) {
    const [source = "", view = ""] = path.split(".")
    const usable = yield* connectors.usableBy(principal, undefined)
    const prepared = yield* engine
      .prepare(
        {
          files: yield* ontologies.files(principal.organizationId),
          connectors: (yield* connectorStore.list(principal.organizationId)).map(({ connector }) => connector),
          visible: usable.map(({ name }) => name)
        },
        `run: ${source} -> ${view}`
      )
      .pipe(Effect.mapError((error) => new InvalidRequest({ message: `ontology_path: ${error.message}` })))
    return prepared.connector.id === id
      ? prepared.sql
      : yield* new InvalidRequest({ message: "ontology_path: is a view over another connector" })
  })

  return {
    /**
     * Makes a result that the caller has already been answered a dataframe of the session. It is no execution: what was
     * asked for it is on the record where it was asked.
     */
    bind: Effect.fn("Sandcastles.bind")(function* (id: SandcastleId, name: string, table: ResultTable) {
      if (!isDataframeName(name)) return yield* badName
      return yield* sessions.use(id, { action: "execute", needs: "execute" }, (session) =>
        session.bindDataframe(name, table)
      )
    }),

    /** Asks a connector, and makes the result a dataframe of the session. */
    query: Effect.fn("Sandcastles.query")(function* (id: SandcastleId, request: QueryRequest) {
      const { maxRows, name } = yield* shapeOf(request, limits)
      const principal = yield* CurrentPrincipal
      const { text } = request
      return yield* executions.recorded(
        id,
        {
          kind: text._tag === "View" ? "ontology" : "sql",
          source: request.source,
          input: text._tag === "View" ? text.path : text.query
        },
        Effect.fnUntraced(function* (session, execution, ended) {
          const connector = yield* connectorOf(principal, request.connectorId)
          const statement = text._tag === "View" ? yield* compiled(principal, connector.id, text.path) : text.query
          const table = yield* queries
            .query(principal, connector, statement, {
              timeout: limits.statementTimeout,
              maxRows,
              maxBytes: limits.maxBytes,
              ...(request.parameters === undefined ? {} : { parameters: request.parameters })
            })
            .pipe(Effect.mapError(failureOf))
          const dataframe = yield* session.bindDataframe(name, table)
          const preview = ResultText.markdown(table, previewRows)
          // Rows are never part of what is recorded.
          yield* ended({
            event: ExecutionEvent.cases.Complete.make({}),
            output: `${dataframe.name}: ${count(dataframe.rows, "row")}, ${count(dataframe.columns, "column")}`
          })
          const answer: QueryAnswer = {
            executionId: execution.id,
            preview,
            dataframe,
            columns: table.columns,
            truncated: table.truncated
          }
          return answer
        }),
        // A connector that the caller may not query is refused before there is an execution of it.
        (caller) => Effect.asVoid(connectorOf(caller, request.connectorId))
      )
    })
  }
})
