/**
 * Numbers of things in sentences.
 */

/** A number with the name of what it counts: `1 member`, `3 members`. */
export const count = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number} ${number === 1 ? singular : plural}`
