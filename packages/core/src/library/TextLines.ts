/**
 * Texts as lines. A line keeps its line break, so that a last line without one is another line than one with it, and
 * joining the lines gives the text again.
 */

/** The lines of a text; none of the empty text. */
export const split = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let start = 0
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    lines.push(text.slice(start, end + 1))
    start = end + 1
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/** The text of lines. */
export const join = (lines: ReadonlyArray<string>): string => lines.join("")

/** A line that ends in a line break, whether or not it did. */
export const ended = (line: string): string => (line.endsWith("\n") ? line : `${line}\n`)

/** Gives equal lines equal numbers, so that comparing two of them costs the same however long they are. */
export class LineNumbers {
  private readonly numbers = new Map<string, number>()
  private readonly lines: Array<string> = []

  /** The numbers of lines. */
  of(lines: ReadonlyArray<string>): Array<number> {
    return lines.map((line) => {
      const known = this.numbers.get(line)
      if (known !== undefined) return known
      const number = this.lines.push(line) - 1
      this.numbers.set(line, number)
      return number
    })
  }

  /** The lines of numbers that were given out here. */
  lineOf(number: number): string {
    return this.lines[number] ?? ""
  }
}
