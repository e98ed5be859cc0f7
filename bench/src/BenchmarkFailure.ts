/**
 * A benchmark could not be measured, or what it measured was wrong: a wrong answer has no speed.
 */
import { Schema } from "effect"

/** Why there are no figures. */
export class BenchmarkFailure extends Schema.TaggedError<BenchmarkFailure>()("BenchmarkFailure", {
  message: Schema.String
}) {}
