/**
 * Text in SQL that this package writes itself.
 */

/** A text as a literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A name as a quoted identifier. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`
