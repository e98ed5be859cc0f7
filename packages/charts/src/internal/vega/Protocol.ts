/**
 * What the renderer and the process that draws say to each other.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../specification/Json.ts"

/** One chart to draw. */
export interface Request {
  readonly specification: JsonObject
  readonly data: ResultTable
  /** Font files beside the house's own, for scripts that it does not cover. */
  readonly fontFiles: ReadonlyArray<string>
}

/** What the process answers: once when it is ready, and then once for each request. */
export const Reply = Schema.Union([
  Schema.TaggedStruct("Ready", {}),
  Schema.TaggedStruct("Drawn", { specification: Schema.String, svg: Schema.String, png: Schema.Uint8Array }),
  /** The specification is at fault; the message says how. */
  Schema.TaggedStruct("Refused", { message: Schema.String }),
  /** The renderer is at fault. */
  Schema.TaggedStruct("Failed", { message: Schema.String })
])
export type Reply = typeof Reply.Type
