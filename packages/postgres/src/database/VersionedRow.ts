/**
 * Rows that are read over and over, request by request, and seldom change, which are long: what a row was made into is
 * remembered by its key, with the version of all that it was made of. Nothing is assumed of the database: each time it
 * is asked for the versions, and for the rows that have another one than what is remembered. Most of what such a row
 * costs, on either side, is to carry texts that were there before.
 *
 * Versions are the database's (`0018_versions`): no two states of a row have the same.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Answer, Ask } from "./BatchedQuestion.ts"
import * as Query from "./Query.ts"

/** Keys that are remembered, at most: of those used lately, and as many again of those used before. */
const capacity = 2_000

/** The version of the row that a key has. */
export interface Version<Key> {
  readonly key: Key
  readonly version: string
}

/** How rows are asked for, and what becomes of one. */
export interface VersionedRowOptions<Place, Key, Row extends Version<Key>, A> {
  /** The statement for the versions of the rows of several keys. */
  readonly versions: (place: Place, keys: ReadonlyArray<Key>) => Query.Statement<Version<Key>>
  /** The statement for the rows of several keys, each with the version that it has by then. */
  readonly rows: (place: Place, keys: ReadonlyArray<Key>) => Query.Statement<Row>
  /** What is made of a row. */
  readonly decode: (row: Row) => Effect.Effect<A>
}

/** Asks for rows, each of which is made into its value once for as long as it is used and stays as it is. */
export const make = <Place, Key, Row extends Version<Key>, A>({
  decode,
  rows,
  versions
}: VersionedRowOptions<Place, Key, Row, A>): Ask<Place, Key, A> => {
  interface Remembered {
    readonly version: string
    readonly answer: Answer<A>
  }

  // What was not used while as many others were is let go, without a list of who was used when.
  let recent = new Map<Key, Remembered>()
  let before = new Map<Key, Remembered>()

  const remember = (key: Key, remembered: Remembered): void => {
    if (recent.size >= capacity) {
      before = recent
      recent = new Map()
    }
    recent.set(key, remembered)
  }

  /** What is remembered of a key at this version. */
  const recall = ({ key, version }: Version<Key>): Answer<A> | undefined => {
    const known = recent.get(key)
    if (known !== undefined) return known.version === version ? known.answer : undefined
    const older = before.get(key)
    if (older?.version !== version) return undefined
    remember(key, older)
    return older.answer
  }

  const answerOf = (row: Row): Answer<A> =>
    Effect.map(decode(row), (value) => {
      const found = Option.some(value)
      remember(row.key, { version: row.version, answer: Effect.succeed(found) })
      return found
    })

  return (place, keys) =>
    Effect.flatMap(Query.rows(versions(place, keys)), (found) => {
      const answers = new Map<Key, Answer<A>>()
      const unknown: Array<Key> = []
      for (const version of found) {
        const answer = recall(version)
        if (answer === undefined) unknown.push(version.key)
        else answers.set(version.key, answer)
      }
      return unknown.length === 0
        ? Effect.succeed(answers)
        : Effect.map(Query.rows(rows(place, unknown)), (read) => {
            for (const row of read) answers.set(row.key, answerOf(row))
            return answers
          })
    })
}
