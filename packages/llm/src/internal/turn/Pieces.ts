/**
 * Text in the pieces in which it is streamed, and how much a turn counts.
 */

/** Words that one piece of text has at most. */
const wordsPerPiece = 4

/** Text in pieces of a few words each, with the spaces that follow them. Joined they are the text again. */
export const pieces = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`(?:\\s*\\S+){1,${wordsPerPiece}}\\s*|\\s+`, "g"))].map((match) => match[0])

/** Tokens are counted as a quarter of the characters, rounded up: the usual rule of thumb for English. */
export const tokens = (characters: number): number => Math.ceil(characters / 4)
