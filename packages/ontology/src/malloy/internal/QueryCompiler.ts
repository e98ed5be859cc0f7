/**
 * Compiles one query against a compiled model. A query comes from a language model or a person who may not be the
 * author of the model, so it is compiled in Malloy's restricted mode: it can use what the model offers, and nothing
 * that reaches past it (imports, compiler flags, tables and SQL of its own).
 */
import { Malloy } from "@malloydata/malloy"
import { OntologyError, type OntologyProblem, type PreparedQuery } from "@castellan/core/ontology/OntologyEngine"
import * as Effect from "effect/Effect"
import type { CompiledModel } from "./ModelCompiler.ts"
import * as Problems from "./Problems.ts"
import { nearest } from "./Suggestion.ts"

/** Far more than a person or a language model writes, and less than what keeps the parser busy for long. */
const maximumLength = 20_000

/**
 * The one `run:` statement of a text as a statement in the dialect of its connector. Definitions for that statement
 * alone (`source:`, `query:`) may stand before it; they are gone afterwards.
 */
export const prepare: (compiled: CompiledModel, query: string) => Effect.Effect<PreparedQuery, OntologyError> =
  Effect.fnUntraced(function* ({ connectors, model, pathOf, sources }, query) {
    const scope: Problems.Scope = { path: "query", pathOf }
    const refuse = (place: Problems.Place | undefined, message: string) =>
      new OntologyError({ problems: [Problems.at(scope, place, message)] })
    const asError = (failure: unknown) =>
      new OntologyError({
        problems: Problems.sorted(Problems.of(scope, failure).map((problem) => explained(problem, sources)))
      })

    if (query.length > maximumLength) {
      return yield* refuse(undefined, `a query has at most ${maximumLength} characters; this one has ${query.length}`)
    }
    const withQuery = yield* Effect.tryPromise({
      try: () =>
        Malloy.compile({ source: query, model, restrictedMode: true, method: "query", urlReader, connections }),
      catch: asError
    })
    const {
      _modelDef: { queryList }
    } = withQuery
    const [first, second] = queryList
    if (first === undefined) {
      return yield* refuse(undefined, "there is no `run:` statement; write `run: source -> { … }`")
    }
    if (second !== undefined) return yield* refuse(second.location, "only one `run:` statement at a time")
    const prepared = yield* Effect.try({
      try: () => withQuery.preparedQuery.getPreparedResult(),
      catch: asError
    })
    const connector = connectors.find((candidate) => candidate.name === prepared.connectionName)
    if (connector === undefined) {
      return yield* refuse(undefined, `there is no connector ${JSON.stringify(prepared.connectionName)}`)
    }
    return { connector, sql: prepared.sql.trim() }
  })

/** A query needs nothing from outside: the model has the schemas of all its tables. */
const urlReader = {
  readURL: () => Promise.reject(new Error("a query cannot import files")),
  getInvalidationKey: () => Promise.resolve(null)
}
const connections = {
  lookupConnection: () => Promise.reject(new Error("a query uses the sources of the model"))
}

/** What Malloy says of a name that is not there. */
const unknownName = /^(?:Reference to undefined object )?'([^']+)'(?: is not defined)?$/

/** Says what to do about the most common mistakes: SQL of one's own, and a name that is nearly right. */
const explained = (problem: OntologyProblem, sources: CompiledModel["sources"]): OntologyProblem => {
  if (/raw SQL|user-supplied SQL|direct SQL/.test(problem.message)) {
    return { ...problem, message: `${problem.message} SQL goes to the SQL tool.` }
  }
  const [, name] = unknownName.exec(problem.message) ?? []
  if (name === undefined) return problem
  const names = problem.message.startsWith("Reference")
    ? sources.map(({ source }) => source.name)
    : sources.flatMap(({ fields, source }) => [
        ...fields.map(({ field }) => field.name),
        ...source.views.map((view) => view.name)
      ])
  const meant = nearest(name, names)
  return meant.length === 0 ? problem : { ...problem, message: `${problem.message}; did you mean ${meant.join(", ")}?` }
}
