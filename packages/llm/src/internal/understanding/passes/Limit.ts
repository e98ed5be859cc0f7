/**
 * A number that limits something, and the units that it can be in.
 */
import type { Relation } from "../../language/Operator.ts"
import { type Unit, convert, unitNamed } from "../../language/Units.ts"
import { type FieldFacts, nameOf } from "../Facts.ts"
import { candidates, isNumber } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { type Slot, doing } from "../Work.ts"
import * as Result from "effect/Result"

export interface Limit {
  readonly slot: Slot
  readonly relation: Relation
  readonly comparator: Slot | undefined
  readonly concept: string | undefined
  readonly unit: Unit | undefined
  readonly value: number
  /** The upper end of a range. */
  readonly to: number | undefined
  /** The last mention that belongs to the limit itself. */
  readonly last: Slot
}

export const unitFor = (currency: string | undefined, percent: boolean, slot: Slot | undefined): Unit | undefined => {
  if (currency !== undefined) return unitNamed(currency)
  if (percent) return unitNamed("%")
  const unit = slot?.used === true ? undefined : doing(slot, "Unit")
  // "100,000 votes" limits the votes; "2 hours" is a length of time even where some field is called hour.
  const counts = ["votes", "people", "deaths", "points", "power", "mpg"].includes(
    unitNamed(unit?.unit ?? "")?.quantity ?? ""
  )
  if (counts && slot !== undefined && candidates(slot, isNumber).length > 0) return undefined
  return unit === undefined ? undefined : unitNamed(unit.unit)
}

/** A number in the unit of a field; a problem where the units do not fit or the field's is not known. */
export const inUnitOf = (facts: FieldFacts, limit: Limit, value: number): Result.Result<number, Problem> => {
  const incomplete = (message: string) => Result.fail<Problem>({ _tag: "Incomplete", message, alternatives: [] })
  if (limit.unit === undefined) return Result.succeed(value)
  const own = facts.unit === undefined ? undefined : unitNamed(facts.unit)
  if (own === undefined) {
    if (facts.unit === undefined && ["money", "people", "points", "votes", "deaths"].includes(limit.unit.quantity))
      return Result.succeed(value)
    const known = facts.unit === undefined ? "has no unit in the ontology" : `is in ${facts.unit}`
    return incomplete(`${nameOf(facts)} ${known}, so I cannot compare it with ${limit.unit.name}.`)
  }
  const converted = convert(value, limit.unit, own)
  return converted === undefined
    ? incomplete(`${nameOf(facts)} is in ${own.name}, so it cannot be compared with ${limit.unit.name}.`)
    : Result.succeed(converted)
}

export const fits = (facts: FieldFacts, unit: Unit | undefined): boolean => {
  if (unit === undefined) return true
  const own = facts.unit === undefined ? undefined : unitNamed(facts.unit)
  return own !== undefined && convert(1, unit, own) !== undefined
}
