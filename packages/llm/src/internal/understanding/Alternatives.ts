/**
 * Fields as things to ask back with.
 */
import { type FieldFacts, nameOf } from "./Facts.ts"
import type { Alternative } from "./Problem.ts"

/** A field as something to ask back with. */
export const alternativeOf = (facts: FieldFacts): Alternative => {
  const [phrase = [facts.field.name]] = facts.phrases
  const path = facts.path.join(" ")
  const label = nameOf(facts)
  const shown = path === "" || label.toLowerCase().includes(path) ? label : `${label} (${path})`
  return {
    label: shown,
    words: facts.path.length === 0 ? phrase.join(" ") : [...facts.path, ...(facts.shortPhrases[0] ?? [])].join(" ")
  }
}
