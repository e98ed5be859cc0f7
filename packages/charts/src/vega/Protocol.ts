/**
 * What the renderer and its worker thread say to each other.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import type { JsonObject } from "../specification/Json.ts"

/** What a worker is started with. The mark tells this thread from any other that loads the module. */
export interface Start {
  readonly castellan: "charts"
  /** Font files beside the house's own, for scripts that it does not cover. */
  readonly fontFiles: ReadonlyArray<string>
}

/** One chart to draw. */
export interface Request {
  readonly specification: JsonObject
  readonly data: ResultTable
}

/** What became of it. */
export type Reply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Drawn"; readonly specification: string; readonly svg: string; readonly png: Uint8Array }
  /** The specification is at fault; the message says how. */
  | { readonly _tag: "Refused"; readonly message: string }
  /** The renderer is at fault. */
  | { readonly _tag: "Failed"; readonly message: string }
