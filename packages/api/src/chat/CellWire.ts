/**
 * A cell on the wire: one step of a run.
 *
 * Source: decisions.md §4 ("Cell").
 */
import { AssetId } from "@castellan/core/asset/Asset"
import { type Cell, CellId, type CellStatus, duration } from "@castellan/core/chat/Cell"
import type { QuestionFile } from "@castellan/core/chat/Upload"
import { ConnectorId } from "@castellan/core/connector/Connector"
import * as Schema from "effect/Schema"
import { count, text, timestamp, uuid, wholeMilliseconds } from "../wire/WireValue.ts"

/** The kinds of cell. */
export const CellType = Schema.Literals([
  "markdown",
  "sql",
  "python",
  "bash",
  "ontology_query",
  "web_search",
  "bi_a",
  "bi_b",
  "file_storage",
  "mcp_tool"
]).annotate({ description: "What the step does" })
export type CellType = typeof CellType.Type

/** How far a cell has come, in the wire's words. */
export const CellStatusWire = Schema.Literals(["pending", "running", "completed", "failed", "halted"]).annotate({
  description: "How far the step has come. `halted`: stopped from outside, by a cancel or by the run's limits"
})
export type CellStatusWire = typeof CellStatusWire.Type

/** A file that came with a question. */
export const QuestionFileWire = Schema.Struct({
  name: text("The file's name"),
  path: text("Where it appears in the sandbox, below `/sandbox/files`"),
  mime_type: text("The file's media type, by its name"),
  size: count("Bytes")
}).annotate({ identifier: "QuestionFile", description: "A file that came with a question" })
export type QuestionFileWire = typeof QuestionFileWire.Type

/** The files of a question as the wire shows them; nothing where none came. */
export const ofFiles = (
  files: ReadonlyArray<QuestionFile> | undefined
): { readonly files?: ReadonlyArray<QuestionFileWire> } =>
  files === undefined || files.length === 0
    ? {}
    : { files: files.map(({ mediaType, name, path, size }) => ({ name, path, mime_type: mediaType, size })) }

/** One step of a run. */
export const CellWire = Schema.Struct({
  id: uuid(CellId, "The cell's id: the same when the step starts, while it goes on and when it ends"),
  type: CellType,
  status: CellStatusWire,
  created_at: timestamp("When the step started"),
  title: Schema.optionalKey(text("What the step finds out, in a few words")),
  error: Schema.optionalKey(text("Why the step failed")),
  role: Schema.optionalKey(
    Schema.Literals(["user", "assistant"]).annotate({ description: "Whose message it is; of a `markdown` cell" })
  ),
  content: Schema.optionalKey(text("The message in Markdown; of a `markdown` cell")),
  files: Schema.optionalKey(
    Schema.Array(QuestionFileWire).annotate({ description: "The files that came with the question, where any did" })
  ),
  code: Schema.optionalKey(
    text("The code that ran: the SQL that an ontology query became, a program, or the input of a tool as JSON")
  ),
  query: Schema.optionalKey(text("The query: SQL, or a query in the ontology's language")),
  connector_id: Schema.optionalKey(ConnectorId.annotate({ description: "The connector that the query ran on" })),
  output: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "What the step put out, as lines" })),
  dataframe_preview: Schema.optionalKey(text("The first rows of the result, as a Markdown table")),
  execution_time_ms: Schema.optionalKey(count("How long the step took, in milliseconds; once it has ended")),
  tool_name: Schema.optionalKey(text("The tool that was called; of a cell that is neither a message nor a query")),
  execution_id: Schema.optionalKey(text("The execution in the sandbox that recorded it")),
  assets: Schema.optionalKey(
    Schema.Array(uuid(AssetId, "An asset's id")).annotate({ description: "The ids of the assets that the step made" })
  )
}).annotate({
  identifier: "Cell",
  description:
    "One step of a run. The same id is sent when it starts and again when it ends; in between, too, where a program takes long, with what it has put out so far"
})
export type CellWire = typeof CellWire.Type

const statusOf: { readonly [Tag in CellStatus["_tag"]]: CellStatusWire } = {
  Pending: "pending",
  Running: "running",
  Completed: "completed",
  Failed: "failed",
  Halted: "halted"
}

/** Tools that have a type of cell to themselves; every other one is an `mcp_tool`. */
const toolTypes = new Map<string, CellType>(
  (["python", "bash", "web_search", "bi_a", "bi_b", "file_storage"] as const).map((name) => [name, name])
)

/** The fields that depend on what the cell does. */
const contentOf = (
  content: Cell["content"]
): Pick<CellWire, "type" | "role" | "content" | "files" | "code" | "query" | "connector_id" | "tool_name"> => {
  switch (content._tag) {
    case "Markdown":
      return { type: "markdown", role: content.role, content: content.content, ...ofFiles(content.files) }
    case "Sql":
      return {
        type: "sql",
        query: content.query,
        ...(content.connectorId === undefined ? {} : { connector_id: content.connectorId })
      }
    case "OntologyQuery":
      return {
        type: "ontology_query",
        query: content.query,
        ...(content.code === undefined ? {} : { code: content.code }),
        ...(content.connectorId === undefined ? {} : { connector_id: content.connectorId })
      }
    case "Tool":
      return { type: toolTypes.get(content.toolName) ?? "mcp_tool", tool_name: content.toolName, code: content.input }
  }
}

/** A cell as the wire shows it. */
export const ofCell = (cell: Cell): CellWire => {
  const took = duration(cell)
  const { assets, dataframePreview, executionId, output } = cell.result
  return {
    id: cell.id,
    status: statusOf[cell.status._tag],
    created_at: cell.createdAt,
    ...contentOf(cell.content),
    ...(cell.title === undefined ? {} : { title: cell.title }),
    ...(cell.status._tag === "Failed" ? { error: cell.status.error } : {}),
    ...(output === undefined ? {} : { output }),
    ...(dataframePreview === undefined ? {} : { dataframe_preview: dataframePreview }),
    ...(took === undefined ? {} : { execution_time_ms: wholeMilliseconds(took) }),
    ...(executionId === undefined ? {} : { execution_id: executionId }),
    ...(assets === undefined ? {} : { assets })
  }
}
