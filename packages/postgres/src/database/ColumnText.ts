/**
 * Any text as one that a column holds, to be searched and sorted by: PostgreSQL's texts hold no NUL and no half of a
 * surrogate pair. What it says is in the document; where something is found by its parts, the parts stay as they are.
 */

/** A text without what a column cannot hold: a NUL becomes the sign next to it, half a pair that of a lost sign. */
export const columnText = (text: string): string => text.replaceAll("\0", "\u0001").toWellFormed()
