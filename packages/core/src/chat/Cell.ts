/**
 * A cell: one step of a run, shown when it starts and again, under the same id, when it ends.
 *
 * Source: decisions.md §4 ("Cell").
 */
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { AssetId } from "../asset/Asset.ts"
import { ConnectorId } from "../connector/Connector.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { QuestionFile } from "./Upload.ts"
import { ExecutionId } from "../sandcastle/Execution.ts"

/** A cell's id. */
export const CellId = Uuid.pipe(Schema.brand("CellId"))
export type CellId = typeof CellId.Type

/** What a cell does. */
export const CellContent = Schema.TaggedUnion({
  /** A message: the question, or a part of the answer. */
  Markdown: {
    role: Schema.Literals(["user", "assistant"]),
    content: Schema.String,
    /** The files that came with the question; absent where none did. */
    files: Schema.optionalKey(Schema.Array(QuestionFile))
  },
  /** A statement on a connector. */
  Sql: { connectorId: Schema.optionalKey(ConnectorId), query: Schema.String },
  /** A query in the ontology's language; `code` is the statement that it became, once it compiled. */
  OntologyQuery: {
    connectorId: Schema.optionalKey(ConnectorId),
    query: Schema.String,
    code: Schema.optionalKey(Schema.String)
  },
  /** Any other tool. */
  Tool: { toolName: Schema.String, input: Schema.String }
})
export type CellContent = typeof CellContent.Type

/** How far a cell has come. */
export const CellStatus = Schema.TaggedUnion({
  /** Its turn has not come. */
  Pending: {},
  Running: {},
  Completed: { endedAt: Schema.DateTimeUtc },
  Failed: { endedAt: Schema.DateTimeUtc, error: Schema.String },
  /** Stopped from outside before it ended: by a cancel, or by the run's limits. */
  Halted: { endedAt: Schema.DateTimeUtc }
})
export type CellStatus = typeof CellStatus.Type

/** What a cell put out. */
export const CellOutput = Schema.Struct({
  /** Lines of text. */
  output: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The first rows of a result, as a Markdown table. */
  dataframePreview: Schema.optionalKey(Schema.String),
  assets: Schema.optionalKey(Schema.Array(AssetId)),
  /** The execution in the sandbox that recorded it. */
  executionId: Schema.optionalKey(ExecutionId)
})
export type CellOutput = typeof CellOutput.Type

/** A step of a run. */
export class Cell extends Schema.Class<Cell>("@castellan/core/chat/Cell")({
  id: CellId,
  /** What the step finds out, in a few words. */
  title: Schema.optionalKey(Schema.String),
  content: CellContent,
  status: CellStatus,
  result: CellOutput,
  createdAt: Schema.DateTimeUtc
}) {}

/** Whether a cell has ended, one way or another. */
export const isEnded = (cell: Cell): boolean => cell.status._tag !== "Pending" && cell.status._tag !== "Running"

/** How long an ended cell took; nothing before it has ended. */
export const duration = (cell: Cell): Duration.Duration | undefined =>
  cell.status._tag === "Pending" || cell.status._tag === "Running"
    ? undefined
    : DateTime.distance(cell.createdAt, cell.status.endedAt)
