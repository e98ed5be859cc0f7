/**
 * A tool could not do what the model asked. The model reads the message and may try something else.
 */
import * as Schema from "effect/Schema"

/** A tool could not do what the model asked. */
export class ToolFailure extends Schema.TaggedError<ToolFailure>()("ToolFailure", {
  /** What the model reads. It is fit for the reader of the cell, too. */
  message: Schema.String,
  /** What the reader of the cell reads, where that is less: the cell shows the rest in its own place. */
  shown: Schema.optionalKey(Schema.String)
}) {}
