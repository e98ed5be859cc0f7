/**
 * What does not compile, in the terms of the ontology's port: Malloy counts lines and columns from 0, a person from 1.
 */
import { type LogMessage, MalloyError } from "@malloydata/malloy"
import type { OntologyProblem } from "@castellan/core/ontology/OntologyEngine"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Where a compilation's problems are, when Malloy does not say: a file of the model, or the query. */
export interface Scope {
  /** The path to name when a problem has no place, or one outside the model's files. */
  readonly path: string
  /** The path of a file of the model, by its URL. */
  readonly pathOf: (url: string) => string | undefined
}

/** A place in Malloy's terms. */
export const Place = Schema.Struct({
  url: Schema.String,
  range: Schema.Struct({ start: Schema.Struct({ line: Schema.Int, character: Schema.Int }) })
})
export type Place = typeof Place.Type

/** An error of Malloy's second stage, from a query to a statement, which stops at the first one. */
const Misplaced = Schema.Struct({ message: Schema.String, at: Schema.optional(Place) })
const decodeMisplaced = Schema.decodeUnknownOption(Misplaced)

/** A problem at a place. */
export const at = (scope: Scope, place: Place | undefined, message: string): OntologyProblem => ({
  path: (place === undefined ? undefined : scope.pathOf(place.url)) ?? scope.path,
  line: (place?.range.start.line ?? 0) + 1,
  column: (place?.range.start.character ?? 0) + 1,
  message
})

/** What is said of a text whose compilation fills the stack. */
export const nestedTooDeeply = "this is nested too deeply to compile"

/** A failed compilation's problems: at least one. */
export const of = (scope: Scope, failure: unknown): ReadonlyArray<OntologyProblem> => {
  const errors = failure instanceof MalloyError ? failure.problems.filter(isError) : []
  if (errors.length > 0) {
    return errors.map(({ at: place, message }) => at(scope, place, stackIsFull(message) ? nestedTooDeeply : message))
  }
  if (failure instanceof RangeError) return [at(scope, undefined, nestedTooDeeply)]
  // On some models Malloy gives up with an error of its own, which may have a place.
  const given = decodeMisplaced(failure)
  return Option.isSome(given)
    ? [at(scope, given.value.at, given.value.message)]
    : [at(scope, undefined, failure instanceof Error ? failure.message : String(failure))]
}

/** Each problem once, in the order of files, lines and columns. */
export const sorted = (problems: ReadonlyArray<OntologyProblem>): ReadonlyArray<OntologyProblem> => {
  const byPlace = new Map(
    problems.map((problem) => [JSON.stringify([problem.path, problem.line, problem.column, problem.message]), problem])
  )
  return Array.from(byPlace.values()).toSorted(
    (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line || a.column - b.column
  )
}

const stackIsFull = (message: string): boolean => message.includes("Maximum call stack size exceeded")

const isError = (problem: LogMessage): boolean => problem.severity === "error"
