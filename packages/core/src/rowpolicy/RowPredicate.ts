/**
 * What the predicates of row policies mean: the reference that every adapter's own way to apply them is held to.
 *
 * It is SQL's logic of three values: a comparison with a null is unknown, and a row is shown only where the whole
 * predicate is true. Values of different types are never equal, and stand in no order: that is unknown as well.
 */
import type { Value } from "../connector/ResultTable.ts"
import type { BoundPredicate, BoundValue, Comparison, Predicate } from "./RowPolicy.ts"

/** True, false, or unknown. */
type Truth = boolean | undefined

const compared: { readonly [C in Comparison]: (order: number) => boolean } = {
  "=": (order) => order === 0,
  "<>": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0
}

const compare = (cell: Value, comparison: Comparison, bound: BoundValue): Truth => {
  const { value } = bound
  if (cell === null || value === null || typeof cell !== typeof value) return undefined
  return compared[comparison](cell < value ? -1 : cell > value ? 1 : 0)
}

const not = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)

const any = (truths: ReadonlyArray<Truth>): Truth =>
  truths.includes(true) ? true : truths.includes(undefined) ? undefined : false

const evaluate = (predicate: BoundPredicate, cellOf: (column: string) => Value): Truth => {
  switch (predicate._tag) {
    case "Compare":
      return compare(cellOf(predicate.column), predicate.comparison, predicate.with)
    case "OneOf": {
      const cell = cellOf(predicate.column)
      return any(predicate.values.map((value) => compare(cell, "=", value)))
    }
    case "IsNull":
      return cellOf(predicate.column) === null
    case "Not":
      return not(evaluate(predicate.predicate, cellOf))
    case "All":
      return not(any(predicate.predicates.map((one) => not(evaluate(one, cellOf)))))
    case "Any":
      return any(predicate.predicates.map((one) => evaluate(one, cellOf)))
  }
}

/** Whether a row is shown. A column that the row does not have is null. */
export const shows = (predicate: BoundPredicate, cellOf: (column: string) => Value): boolean =>
  evaluate(predicate, cellOf) === true

/** Every operand of a predicate, in the order in which they stand. */
export const operands = <A>(predicate: Predicate<A>): ReadonlyArray<A> => {
  switch (predicate._tag) {
    case "Compare":
      return [predicate.with]
    case "OneOf":
      return predicate.values
    case "IsNull":
      return []
    case "Not":
      return operands(predicate.predicate)
    case "All":
    case "Any":
      return predicate.predicates.flatMap(operands)
  }
}

/** The predicate with each operand replaced. */
export const mapOperands = <A, B>(predicate: Predicate<A>, f: (operand: A) => B): Predicate<B> => {
  switch (predicate._tag) {
    case "Compare":
      return { ...predicate, with: f(predicate.with) }
    case "OneOf":
      return { ...predicate, values: predicate.values.map(f) }
    case "IsNull":
      return predicate
    case "Not":
      return { ...predicate, predicate: mapOperands(predicate.predicate, f) }
    case "All":
    case "Any":
      return { ...predicate, predicates: predicate.predicates.map((one) => mapOperands(one, f)) }
  }
}

/** How deep a predicate is nested, and how many parts it has. */
export const sizeOf = <A>(predicate: Predicate<A>): { readonly depth: number; readonly parts: number } => {
  switch (predicate._tag) {
    case "Compare":
    case "IsNull":
      return { depth: 1, parts: 1 }
    case "OneOf":
      return { depth: 1, parts: 1 + predicate.values.length }
    case "Not": {
      const inner = sizeOf(predicate.predicate)
      return { depth: inner.depth + 1, parts: inner.parts + 1 }
    }
    case "All":
    case "Any": {
      const inner = predicate.predicates.map(sizeOf)
      return {
        depth: 1 + inner.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
        parts: inner.reduce((sum, { parts }) => sum + parts, 1)
      }
    }
  }
}
