/**
 * Names and texts as Malloy writes them: names bare where the language allows it, in back quotes everywhere else.
 */

/** Words that mean something to Malloy's grammar, in any case. */
const reserved = new Set(
  `accept aggregate all and as asc avg boolean by calculate calculation case cast compose connection count date day days
   declare desc dimension distinct drill else end except exclude export extend false filter for from full given
   grouped_by group_by has having hour hours import in include index inner internal is join_cross join_many join_one
   json left like limit max measure min minute minutes month months nest not now null number on or order_by
   partition_by pick primary_key private public quarter quarters query rename right run sample second seconds select
   source sql string sum table then this timestamp timestamptz timezone to top true type view virtual week weeks when
   where with year years`.split(/\s+/)
)

const bare = /^[A-Za-z_][A-Za-z0-9_]*$/

/** True when a name needs no quotes. */
export const isBare = (name: string): boolean => bare.test(name) && !reserved.has(name.toLowerCase())

/** Quotes, back slashes, and what would end a line, in the language itself or in some readers of the file. */
const escaped = (text: string, quotes: string): string =>
  text.replace(/[\\`'"\p{Cc}\u2028\u2029]/gu, (character) =>
    character === "\\" || character === quotes
      ? `\\${character}`
      : /[`'"]/.test(character)
        ? character
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** A name as a model or a query writes it: `carrier`, `` `Flight Date` ``, `` `date` ``. */
export const quote = (name: string): string => (isBare(name) ? name : `\`${escaped(name, "`")}\``)

/** A text as a model or a query writes it: `'AA'`. */
export const literal = (text: string): string => `'${escaped(text, "'")}'`

/** The name of a field behind joins: `origin.city`. */
export const path = (names: ReadonlyArray<string>): string => names.map(quote).join(".")
