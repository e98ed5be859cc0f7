/**
 * Questions that the ontology can answer, made from its own words. Each of them is understood: a test asks them all.
 */
import { type FieldFacts, nameOf, type SourceFacts } from "../understanding/Facts.ts"
import { isCategory, isMeasure, lowerFirst, rowsOf } from "../understanding/Measuring.ts"

const own = (facts: SourceFacts, wanted: (one: FieldFacts) => boolean): ReadonlyArray<FieldFacts> =>
  facts.fields.filter((one) => one.path.length === 0 && wanted(one))

const label = (facts: FieldFacts): string => lowerFirst(nameOf(facts))

/** Example questions of a source. */
export const examples = (facts: SourceFacts): ReadonlyArray<string> => {
  const averages = own(facts, (one) => isMeasure(one) && one.kind === "average")
  const measures =
    averages.length > 0
      ? averages
      : own(facts, (one) => isMeasure(one) && one.kind !== "count" && one.field.type === "number")
  const [measure] = measures
  const categories = own(facts, isCategory)
  const small = categories.filter(
    (one) => one.field.values !== undefined && one.field.values.length > 1 && one.field.values.length <= 30
  )
  const [category] = small.length > 0 ? small : categories
  const count = facts.rowCount ?? own(facts, (one) => isMeasure(one) && one.kind === "count")[0]
  const found: Array<string> = [
    count === undefined ? `How many ${rowsOf(facts)} are there?` : `What is the ${label(count)}?`
  ]
  if (measure !== undefined && category !== undefined)
    found.push(`What is the ${label(measure)} by ${label(category)}?`)
  if (facts.time !== undefined && measure !== undefined) found.push(`How did the ${label(measure)} develop over time?`)
  if (facts.time === undefined && category !== undefined)
    found.push(
      count === undefined
        ? `How many ${rowsOf(facts)} are there by ${label(category)}?`
        : `What is the ${label(count)} by ${label(category)}?`
    )
  return found
}
