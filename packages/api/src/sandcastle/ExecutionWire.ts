/**
 * What runs in a sandcastle, on the wire: asking for it, and the list of what ran.
 *
 * Source: api-v2.md "Execution"; decisions.md §7 ("`POST …/{id}/execute`", "`POST …/{id}/exec`", "`POST …/{id}/query`").
 */
import { ColumnType } from "@castellan/core/connector/ResultTable"
import type { Slice } from "@castellan/core/page/Page"
import {
  duration,
  error,
  type Execution,
  ExecutionId,
  ExecutionKind,
  ExecutionSource
} from "@castellan/core/sandcastle/Execution"
import type { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import type { ExecAnswer, ExecuteAnswer } from "@castellan/core/sandcastle/SandcastleExecutions"
import type { QueryAnswer, QueryRequest as DomainQuery } from "@castellan/core/sandcastle/SandcastleQueries"
import * as Schema from "effect/Schema"
import { cursorFields, nextCursor, type SealPosition } from "../wire/PageWire.ts"
import {
  boundedText,
  connectorId,
  count,
  flag,
  integerBetween,
  oneOf,
  text,
  timestamp,
  uuid,
  wholeMilliseconds
} from "../wire/WireValue.ts"
import { DataframeWire, ofDataframe } from "./SandcastleWire.ts"

/** Characters of a program or a command at most. */
const maximumCode = 1_000_000

/** An execution. */
export const ExecutionWire = Schema.Struct({
  id: uuid(ExecutionId, "The execution's id"),
  kind: ExecutionKind.annotate({ description: "What ran" }),
  source: ExecutionSource.annotate({ description: "Who had it run" }),
  input: text("What ran, in full"),
  output_preview: text(
    "The beginning of what it put out, at most 16 KiB; a longer one ends with `…[truncated]`. Never files or dataframes"
  ),
  error: Schema.optionalKey(text("Why it failed, or that it was interrupted")),
  duration_ms: Schema.optionalKey(count("How long it took, in milliseconds; once it has ended")),
  created_at: timestamp("When it began")
}).annotate({ identifier: "Execution", description: "Something that ran in a sandcastle" })
export type ExecutionWire = typeof ExecutionWire.Type

/** A page of executions. */
export const ExecutionListWire = Schema.Struct({
  executions: Schema.Array(ExecutionWire).annotate({ description: "The executions of this page, newest first" }),
  next_cursor: nextCursor
}).annotate({ identifier: "ExecutionList", description: "A page of executions" })
export type ExecutionListWire = typeof ExecutionListWire.Type

/** Which executions to list. */
export const ListExecutionsQuery = Schema.Struct(cursorFields("executions"))
export type ListExecutionsQuery = typeof ListExecutionsQuery.Type

/** A program for the Python session. */
export const ExecuteRequest = Schema.Struct({
  code: boundedText({ minimum: 1, maximum: maximumCode }, "The Python to run; its variables stay")
}).annotate({
  identifier: "ExecuteRequest",
  description: "A program for the Python session",
  message: "must be a JSON object"
})
export type ExecuteRequest = typeof ExecuteRequest.Type

/** A file that an execution made. */
export const ExecutionFileWire = Schema.Struct({
  name: text("The file's name"),
  url: text("Where the file can be fetched, with the caller's credential"),
  mime_type: text("The file's media type")
}).annotate({ identifier: "ExecutionFile", description: "A file that an execution made" })
export type ExecutionFileWire = typeof ExecutionFileWire.Type

/** What a program came to. */
export const ExecuteResponse = Schema.Struct({
  output: Schema.Array(Schema.String).annotate({ description: "What it put out, as lines" }),
  error: Schema.optionalKey(text("The exception that nothing caught, with its traceback; or that it was interrupted")),
  execution_time_ms: count("How long it took, in milliseconds"),
  files: Schema.Array(ExecutionFileWire).annotate({ description: "Files that it made or changed" }),
  dataframes: Schema.Array(DataframeWire).annotate({ description: "Dataframes that it made or changed" }),
  execution_id: Schema.optionalKey(uuid(ExecutionId, "The execution that recorded it"))
}).annotate({ identifier: "ExecuteResponse", description: "What a program came to" })
export type ExecuteResponse = typeof ExecuteResponse.Type

const variableRule =
  "must have names of environment variables: letters, digits and underscores, at most 255, no digit first"
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/u

/** A command for a fresh process. */
export const ExecRequest = Schema.Struct({
  command: boundedText({ minimum: 1, maximum: maximumCode }, "The command, or the Python, to run"),
  kind: oneOf(["bash", "python"], "What runs it"),
  env: Schema.optionalKey(
    // The names are checked as a whole: a record leaves out, and does not refuse, what its key schema does not take.
    Schema.Record(Schema.String, boundedText({ minimum: 0, maximum: 65_536 }, "The variable's value"))
      .annotate({ message: "must be a JSON object of strings", description: "Environment variables of the process" })
      .check(
        Schema.makeFilter((variables) => Object.keys(variables).every((name) => variableName.test(name)), {
          message: variableRule
        })
      )
  )
}).annotate({
  identifier: "ExecRequest",
  description: "A command for a fresh process",
  message: "must be a JSON object"
})
export type ExecRequest = typeof ExecRequest.Type

/** What a process came to. */
export const ExecResponse = Schema.Struct({
  stdout: text("What it wrote to its standard output"),
  stderr: text("What it wrote to its standard error"),
  exit_code: Schema.Int.annotate({ description: "How it ended; 0 is well" }),
  error: Schema.optionalKey(text("Why it did not end by itself: a time limit, or an interrupt")),
  execution_id: Schema.optionalKey(uuid(ExecutionId, "The execution that recorded it"))
}).annotate({ identifier: "ExecResponse", description: "What a process came to" })
export type ExecResponse = typeof ExecResponse.Type

const queryRule = "must have either query or ontology_path"
const dataframeRule = "must be the name of a Python variable"

/** A query whose result becomes a dataframe of the Python session. */
export const QueryRequest = Schema.Struct({
  connector_id: connectorId,
  query: Schema.optionalKey(boundedText({ minimum: 1, maximum: 200_000 }, "One read-only SQL statement")),
  ontology_path: Schema.optionalKey(
    boundedText({ minimum: 1, maximum: 1_024 }, "A query of the ontology, by its path; instead of `query`")
  ),
  params: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null]).annotate({
        message: "must be a string, a number, a boolean or null"
      })
    ).annotate({
      message: "must be a JSON object",
      description: "Values for the query's parameters, by their names"
    })
  ),
  max_rows: Schema.optionalKey(integerBetween(1, 100_000, "Rows of the result at most")).annotateKey({
    default: 100_000
  }),
  dataframe_name: Schema.optionalKey(
    Schema.String.annotate({ message: dataframeRule }).check(
      Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/u, {
        message: dataframeRule,
        description: "The variable that holds the result; absent, `df`"
      })
    )
  )
})
  .annotate({
    message: "must be a JSON object",
    description: "A query, in SQL or of the ontology, whose result becomes a dataframe of the Python session"
  })
  .check(
    Schema.makeFilter(({ ontology_path, query }) => (query === undefined) !== (ontology_path === undefined), {
      message: queryRule
    })
  )
  .annotate({ identifier: "QueryRequest" })
export type QueryRequest = typeof QueryRequest.Type

/** A column of a result. */
export const ColumnWire = Schema.Struct({
  name: text("The column's name"),
  type: ColumnType.annotate({ description: "What the column holds" })
}).annotate({ identifier: "ResultColumn", description: "A column of a result" })
export type ColumnWire = typeof ColumnWire.Type

/** What a query came to. */
export const QueryResponse = Schema.Struct({
  preview: text("The first rows, as a Markdown table"),
  dataframe_name: text("The variable of the Python session that holds the result"),
  num_rows: count("How many rows the result has"),
  num_cols: count("How many columns the result has"),
  columns: Schema.Array(ColumnWire).annotate({ description: "The columns of the result" }),
  truncated: flag("Whether there were more rows than `max_rows`"),
  execution_id: Schema.optionalKey(uuid(ExecutionId, "The execution that recorded it"))
}).annotate({ identifier: "QueryResponse", description: "What a query came to" })
export type QueryResponse = typeof QueryResponse.Type

/** The query of a request, in the domain's terms. */
export const toQuery = (request: QueryRequest): DomainQuery => ({
  connectorId: request.connector_id,
  text:
    request.ontology_path === undefined
      ? { _tag: "Statement", query: request.query ?? "" }
      : { _tag: "View", path: request.ontology_path },
  ...(request.params === undefined ? {} : { parameters: request.params }),
  ...(request.max_rows === undefined ? {} : { maxRows: request.max_rows }),
  ...(request.dataframe_name === undefined ? {} : { dataframeName: request.dataframe_name }),
  source: "platform_api"
})

/** What a program came to, as the wire shows it, given where its files can be fetched. */
export const ofExecuteAnswer = (answer: ExecuteAnswer, urlOf: (path: SandboxPath) => string): ExecuteResponse => ({
  output: answer.output,
  ...(answer.error === undefined ? {} : { error: answer.error }),
  execution_time_ms: wholeMilliseconds(answer.took),
  files: answer.files.map(({ mediaType, name, path }) => ({ name, url: urlOf(path), mime_type: mediaType })),
  dataframes: answer.dataframes.map(ofDataframe),
  execution_id: answer.executionId
})

/** What a process came to, as the wire shows it. */
export const ofExecAnswer = (answer: ExecAnswer): ExecResponse => ({
  stdout: answer.stdout,
  stderr: answer.stderr,
  exit_code: answer.exitCode,
  ...(answer.error === undefined ? {} : { error: answer.error }),
  execution_id: answer.executionId
})

/** What a query came to, as the wire shows it. */
export const ofQueryAnswer = (answer: QueryAnswer): QueryResponse => ({
  preview: answer.preview,
  dataframe_name: answer.dataframe.name,
  num_rows: answer.dataframe.rows,
  num_cols: answer.dataframe.columns,
  columns: answer.columns,
  truncated: answer.truncated,
  execution_id: answer.executionId
})

/** An execution as the wire shows it. */
export const ofExecution = (execution: Execution): ExecutionWire => {
  const failed = error(execution)
  const took = duration(execution)
  return {
    id: execution.id,
    kind: execution.kind,
    source: execution.source,
    input: execution.input,
    output_preview: execution.outputPreview,
    ...(failed === undefined ? {} : { error: failed }),
    ...(took === undefined ? {} : { duration_ms: wholeMilliseconds(took) }),
    created_at: execution.createdAt
  }
}

/** A page of executions as the wire shows it. */
export const ofExecutions = (slice: Slice<Execution>, seal: SealPosition): ExecutionListWire => ({
  executions: slice.items.map(ofExecution),
  ...(slice.next === undefined ? {} : { next_cursor: seal(slice.next) })
})
