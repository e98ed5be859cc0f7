/**
 * The answer of an operation that has nothing to say but that it did what was asked.
 */
import * as Schema from "effect/Schema"
import { flag } from "./WireValue.ts"

/** It was done. */
export const SuccessWire = Schema.Struct({ success: flag("Always true") }).annotate({
  identifier: "Success",
  description: "What was asked has been done"
})
export type SuccessWire = typeof SuccessWire.Type

/** It was done, as the wire shows it. */
export const success: SuccessWire = { success: true }
