/**
 * A decision as a sentence for people: what was decided, why, and what that rested on.
 *
 * Source: architecture.md §2 ("Decisions are data": "explained to a user").
 */
import type { Decision, FactValue } from "./Decision.ts"

const list = (items: ReadonlyArray<string>): string => {
  const last = items.at(-1)
  if (last === undefined) return "nothing"
  return items.length === 1 ? last : `${items.slice(0, -1).join(", ")} and ${last}`
}

const valueOf = (value: FactValue): string => {
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "string") return value === "" ? "nothing" : value
  return typeof value === "number" ? String(value) : list(value)
}

/** The name of a fact as words: `missingCount` is "missing count". */
const nameOf = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)

const opening = "permission denied: "

/** The same in the middle of a sentence: a refusal has said already that it is one. */
const within = (message: string): string =>
  (message.startsWith(opening) ? message.slice(opening.length) : message).replace(/\.$/u, "")

/** A decision as a sentence: "Denied: docs has 1 of the 2 approvals that it asks for (folder docs, approvals 1, …)." */
export const explain = (decision: Decision): string => {
  const verdict = decision._tag === "Allow" ? "Allowed" : "Denied"
  // Sorted by name, so that equal decisions read the same (law L4).
  const facts = Object.entries(decision.facts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${nameOf(name)}: ${valueOf(value)}`)
  return `${verdict}: ${within(decision.message)}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}.`
}
