/**
 * Any text as one that a column holds and an index finds: PostgreSQL's texts hold no NUL and no half of a surrogate
 * pair. Two texts are the same as keys only where they are the same.
 */

/** A text with what a column cannot hold written as an escape, as JSON has it. */
export const keyText = (text: string): string => JSON.stringify(text).slice(1, -1)
