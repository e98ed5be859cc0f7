/**
 * The beginning of a text that may be long.
 */

/**
 * The first characters of a text, at most `length` of them, the last an ellipsis where there are more. A character
 * that takes two code units is never broken.
 */
export const excerpt = (text: string, length: number): string => {
  if (text.length <= length) return text
  // A character takes two code units at most: what lies beyond cannot be among the first.
  const points = Array.from(text.slice(0, 2 * length + 2))
  return points.length <= length ? text : `${points.slice(0, length - 1).join("")}…`
}
