/**
 * Names as SQL writes them. A connector gives the name of a table as a statement takes it: plain, or in its quotes.
 */

const inQuotes = /^"(?:[^"]|"")*"$/s

/** A name in the quotes of SQL; one that is in them already stays as it is. */
export const quoted = (name: string): string => (inQuotes.test(name) ? name : column(name))

/** A column's name in the quotes of SQL: it never comes with them. */
export const column = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A table's name without its quotes, whichever of the two kinds they are. */
export const unquoted = (name: string): string => {
  const quote = name.charAt(0)
  return name.length > 1 && (quote === '"' || quote === "'") && name.endsWith(quote)
    ? name.slice(1, -1).replaceAll(quote + quote, quote)
    : name
}
