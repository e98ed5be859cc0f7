/**
 * Looks at the data that a question needs before it can be read: whether a name is a value of some field, and whether
 * each row has a name of its own. They are queries like any other; what they found is read from their results.
 */
import type { QueryResult } from "@castellan/core/analyst/Tool"
import { fold, phraseKey, wordsOf } from "../language/Words.ts"
import { identifier, path, text } from "../plan/Malloy.ts"
import { numeric, type Query } from "../plan/Statement.ts"
import type { Need } from "../understanding/Interpret.ts"
import type { FoundValue } from "../understanding/Lexicon.ts"

/** Values that one look-up answers with. */
const limit = 10

/** Names on at least this part of the rows of a source: then each row has a name of its own. */
const namedPart = 0.9

/** What a finished look at the data told. */
export type Discovery =
  | {
      readonly _tag: "Value"
      readonly field: string
      readonly source: string
      readonly words: string
      readonly values: ReadonlyArray<string>
      readonly exact: boolean
    }
  | { readonly _tag: "Census"; readonly source: string; readonly rowsAreNamed: boolean }

/** A query with how to read its result. */
export interface Inquiry {
  readonly query: Query
  readonly read: (result: QueryResult) => Discovery
  /** What is assumed where the query fails. */
  readonly otherwise: Discovery
}

const lookUp = (source: string, words: string, field: string): Inquiry => {
  const wanted = wordsOf(words).join(" ")
  const column = path(field)
  const value: Discovery = { _tag: "Value", source, field, words, values: [], exact: false }
  return {
    query: {
      title: `Look for “${words}” in ${field}`.slice(0, 200),
      text: `run: ${identifier(source)} -> {\n  where: strpos(lower(${column}), ${text(fold(words))}) > 0\n  group_by: \`value\` is ${column}, \`same\` is lower(${column}) = ${text(fold(words))}\n  aggregate: \`rows_\` is count()\n  order_by: \`same\` desc, \`rows_\` desc\n  limit: ${limit}\n}`
    },
    read: (result) => {
      const values = result.rows.flatMap((row) => (typeof row[0] === "string" ? [row[0]] : []))
      const same = values.filter((one) => phraseKey(wordsOf(one)) === phraseKey(wordsOf(wanted)))
      return { ...value, values: same.length > 0 ? same : values, exact: same.length > 0 }
    },
    otherwise: value
  }
}

const census = (source: string, field: string): Inquiry => ({
  query: {
    title: `Whether each row of ${source} has a name of its own`.slice(0, 200),
    text: `run: ${identifier(source)} -> {\n  aggregate: \`rows_\` is count(), \`names_\` is count(${path(field)})\n}`
  },
  read: (result) => {
    const [row = []] = result.rows
    const rows = numeric(row[0]) ?? 0
    const names = numeric(row[1]) ?? 0
    return { _tag: "Census", source, rowsAreNamed: rows > 0 && names / rows >= namedPart }
  },
  otherwise: { _tag: "Census", source, rowsAreNamed: false }
})

/** The looks that a need asks for. */
export const inquiries = (need: Need): ReadonlyArray<Inquiry> =>
  need._tag === "Census"
    ? [census(need.source, need.field)]
    : need.fields.map((field) => lookUp(need.source, need.words, field))

/** Whether words are whole words of a value, and at least half of them: Spielberg is, of Steven Spielberg. */
const isMostOf = (words: string, value: string): boolean => {
  const some = wordsOf(words)
  const all = wordsOf(value)
  return ` ${phraseKey(all)} `.includes(` ${phraseKey(some)} `) && some.length * 2 >= all.length
}

/**
 * Values from what the look-ups told: where a name is a value, only that counts; where it is part of exactly one
 * value, that one; where it is part of several, they are offered.
 */
export const foundValues = (discoveries: ReadonlyArray<Discovery>): ReadonlyArray<FoundValue> => {
  const told = discoveries.flatMap((one) => (one._tag === "Value" ? [one] : []))
  return told.map((one) => {
    const together = told.filter((other) => other.source === one.source && other.words === one.words)
    const exact = together.some((other) => other.exact)
    const parts = new Set(together.flatMap((other) => other.values))
    // A plain word is only believed to be a name where it is all of one.
    const written = /[\p{Lu}\p{N}]/u.test(one.words)
    const single = written && !exact && parts.size === 1 && [...parts].every((value) => isMostOf(one.words, value))
    return {
      source: one.source,
      field: one.field,
      words: one.words,
      values: exact ? (one.exact ? one.values : []) : single ? one.values : [],
      near: exact || single || !written ? [] : one.values
    }
  })
}
