/**
 * The mutants that may live, each with the reason why it is harmless: `survivors.json`, beside this file. They are
 * known by their text and not by their line, so that a file may move around them.
 */
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Mutant } from "./instrument.ts"

/** A mutant that may live. */
export const Explanation = Schema.Struct({
  file: Schema.String,
  /** The declaration at the top of the file. */
  within: Schema.String,
  original: Schema.String,
  replacement: Schema.String,
  /** Which one of equal changes within the declaration, where it is not the first. */
  occurrence: Schema.optionalKey(Schema.Int),
  reason: Schema.NonEmptyString
})
export type Explanation = typeof Explanation.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Explanation)))

const path = join(import.meta.dirname, "survivors.json")

/** Every explanation. */
export const read = (): ReadonlyArray<Explanation> => decode(readFileSync(path, "utf8"))

const words = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** Whether an explanation is about a mutant; white space is no matter. */
export const isExplainedBy = (mutant: Mutant, explanation: Explanation): boolean =>
  explanation.file === mutant.file &&
  explanation.within === mutant.within &&
  (explanation.occurrence ?? 1) === mutant.occurrence &&
  words(explanation.original) === words(mutant.original) &&
  words(explanation.replacement) === words(mutant.replacement)
