/**
 * A tool could not do what the model asked. The model reads the message and may try something else.
 */
import * as Schema from "effect/Schema"

/** A tool could not do what the model asked. */
export class ToolFailure extends Schema.TaggedError<ToolFailure>()("ToolFailure", {
  /** A sentence that is fit for the model and for the reader of the cell. */
  message: Schema.String
}) {}
