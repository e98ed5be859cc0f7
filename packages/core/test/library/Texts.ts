/** Random texts in several versions, with lines that repeat, no line break at the end, and names of prototypes. */
import type { Random } from "./Random.ts"

const strange = ["__proto__", "constructor", "<<<<<<< head", "=======", "", "\t", "hasOwnProperty"]

/** A way of making lines: few kinds that repeat, or many. */
const alphabet = (random: Random): (() => string) => {
  const kinds = random.of([2, 3, 5, 8, 30, 1000])
  const withStrange = random.chance(0.2)
  return () => {
    const kind = random.below(kinds)
    return (withStrange ? strange[kind] : undefined) ?? `L${kind}`
  }
}

const edited = (random: Random, lines: ReadonlyArray<string>, line: () => string): Array<string> => {
  const result = [...lines]
  for (let count = random.of([1, 1, 2, 2, 3, 5]); count > 0; count--) {
    const at = random.below(result.length + 1)
    const length = 1 + random.below(3)
    const fresh = Array.from({ length }, line)
    switch (random.below(5)) {
      case 0:
        result.splice(at, 0, ...fresh)
        break
      case 1:
        result.splice(at, length)
        break
      case 2:
        result.splice(at, length, ...fresh)
        break
      case 3:
        result.splice(at, 0, ...result.slice(at, at + length))
        break
      default:
        result.splice(random.below(result.length + 1), 0, ...result.splice(at, length))
    }
  }
  return result
}

const text = (random: Random, lines: ReadonlyArray<string>): string =>
  lines.length === 0 ? "" : lines.join("\n") + (random.chance(0.85) ? "\n" : "")

/** Three versions of a text: what two sides started from, and what each made of it. */
export interface Versions {
  readonly base: string
  readonly head: string
  readonly change: string
}

/** Lines as documents have them: nearly all of them distinct, with blank ones and closing ones between. */
const prose =
  (random: Random): (() => string) =>
  () =>
    random.chance(0.2) ? random.of(["", "", "}", "---"]) : `Sentence ${random.below(100_000)}`

/** Random versions, of a document or of lines that may all be alike. */
export const versions = (random: Random, isDocument = false): Versions => {
  const line = isDocument ? prose(random) : alphabet(random)
  const base = Array.from({ length: random.of([0, 1, 3, 5, 8, 12, 20, 40, 60]) }, line)
  return {
    base: text(random, base),
    head: text(random, edited(random, base, line)),
    change: text(random, edited(random, base, line))
  }
}
