/**
 * Descriptions of data as far as a model is to read them: a source with thousands of tables, or a table with thousands of
 * columns, does not flood it. What is left out is said, with how to have it.
 */
import { count } from "../../text/Count.ts"
import { excerpt } from "../../text/Excerpt.ts"

/** How things that have parts are described: tables with columns, sources with fields. */
export interface Kind<Whole, Part> {
  /** What one is called: `table`. */
  readonly noun: string
  /** What one of its parts is called: `column`. */
  readonly partNoun: string
  readonly nameOf: (whole: Whole) => string
  readonly partNameOf: (part: Part) => string
  readonly partsOf: (whole: Whole) => ReadonlyArray<Part>
  readonly withParts: (whole: Whole, parts: ReadonlyArray<Part>) => Whole
}

/** What a model reads, and what it is told of the rest: a sentence each. */
export interface Bounded<Whole> {
  readonly described: ReadonlyArray<Whole>
  readonly notes: ReadonlyArray<string>
}

/** Characters that one thing may have with its parts, however many there are. */
const least = 2_000

/** Characters of the names of what is left out. */
const namesLength = 2_000

/** Tables, or others, that are named for parts that are left out of them. */
const cutNamed = 20

const lengthOf = (value: unknown): number => JSON.stringify(value).length + 1

/**
 * Those whose name holds a text, whole; of the others those with a part whose name does, with these parts alone. Whether
 * letters are capital is no matter.
 */
export const matching = <Whole, Part>(
  all: ReadonlyArray<Whole>,
  text: string,
  kind: Kind<Whole, Part>
): ReadonlyArray<Whole> => {
  const term = text.toLowerCase()
  return all.flatMap((whole) => {
    if (kind.nameOf(whole).toLowerCase().includes(term)) return [whole]
    const parts = kind.partsOf(whole).filter((part) => kind.partNameOf(part).toLowerCase().includes(term))
    return parts.length === 0 ? [] : [kind.withParts(whole, parts)]
  })
}

/** The names of some, as many as fit. */
const namesOf = (names: ReadonlyArray<string>): string => {
  const told: Array<string> = []
  let length = 0
  for (const name of names) {
    length += name.length + 2
    if (length > namesLength) break
    told.push(name)
  }
  return told.length === 0 ? "" : `, among them ${told.join(", ")}`
}

/**
 * As many as fit into so many characters of JSON, each with as many of its parts: in their order, where room is shared
 * fairly among those that are still to come.
 */
export const bounded = <Whole, Part>(
  all: ReadonlyArray<Whole>,
  maxCharacters: number,
  kind: Kind<Whole, Part>
): Bounded<Whole> => {
  if (lengthOf(all) <= maxCharacters) return { described: all, notes: [] }
  const described: Array<Whole> = []
  const cut: Array<string> = []
  let left = maxCharacters
  for (const [index, whole] of all.entries()) {
    let room =
      Math.min(left, Math.max(least, Math.floor(left / (all.length - index)))) - lengthOf(kind.withParts(whole, []))
    if (room < 0) break
    const before = room
    const parts: Array<Part> = []
    for (const part of kind.partsOf(whole)) {
      const length = lengthOf(part)
      if (length > room) break
      room -= length
      parts.push(part)
    }
    described.push(kind.withParts(whole, parts))
    left -= before - room + lengthOf(kind.withParts(whole, []))
    const missing = kind.partsOf(whole).length - parts.length
    if (missing > 0) {
      cut.push(`${excerpt(kind.nameOf(whole), 200)} has ${count(missing, `more ${kind.partNoun}`)}`)
    }
  }
  const rest = all.slice(described.length)
  if (rest.length === 0 && cut.length === 0) return { described, notes: [] }
  const notes: Array<string> = []
  if (rest.length > 0) {
    notes.push(`and ${count(rest.length, `more ${kind.noun}`)}${namesOf(rest.map(kind.nameOf))}`)
  }
  notes.push(...cut.slice(0, cutNamed))
  if (cut.length > cutNamed) notes.push(`and so have ${cut.length - cutNamed} others`)
  notes.push(`narrow by ${kind.noun}, or by search: a part of the name of a ${kind.noun} or of a ${kind.partNoun}`)
  return { described, notes }
}
