/**
 * Names as Malloy writes them: bare where the language allows it, in back quotes everywhere else.
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

const escaped = (character: string): string =>
  character === "`" || character === "\\"
    ? `\\${character}`
    : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** A name as a model or a query writes it: `carrier`, `` `Flight Date` ``, `` `date` ``. */
export const quote = (name: string): string =>
  // Control characters end a quoted name; line and paragraph separators end a line in some readers of the file.
  isBare(name) ? name : `\`${name.replace(/[`\\\p{Cc}\u2028\u2029]/gu, escaped)}\``

/** The name of a field behind joins: `origin.city`. */
export const path = (names: ReadonlyArray<string>): string => names.map(quote).join(".")
