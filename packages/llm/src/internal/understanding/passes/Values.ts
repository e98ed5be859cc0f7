/**
 * Pass: mentions of values, flags and missing values become filters on the right field.
 */
import * as Result from "effect/Result"
import { roleWords } from "../../language/Concepts.ts"
import { wordsOf } from "../../language/Words.ts"
import type { Filter } from "../../plan/Plan.ts"
import { alternativeOf } from "../Alternatives.ts"
import { type FieldFacts, nameOf } from "../Facts.ts"
import { candidates, isCategory, isMeasure, isNumber, oneField } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { doing, fieldsIn, isEntity, isGlue, isMissing, type Slot, valuesIn, type Work } from "../Work.ts"

/** Reads every value, flag and missing value. */
export const readValues = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const slot of work.unused()) {
      if (slot.used) continue
      if (valuesIn(slot).length > 0 && isMeantAsValue(work, slot)) yield* readValue(work, slot)
      else if (isMissing(slot) || doing(slot, "Negation") !== undefined) yield* readMissing(work, slot)
    }
    for (const slot of work.unused()) yield* readFlag(work, slot)
  })

/** A word that is a value and the name of a number (`rain`) is the number where a number is asked for. */
const isMeantAsValue = (work: Work, slot: Slot): boolean => {
  const numeric = fieldsIn(slot).some(
    (one) => (isNumber(one.facts) || isMeasure(one.facts)) && one.strength !== "modifier"
  )
  if (!numeric) return true
  const before = work.before(slot)
  const asksNumber = (
    ["HowMuch", "Aggregate", "Superlative", "Relationship", "Distribution", "Extent", "Change"] as const
  ).some((tag) => doing(before, tag) !== undefined)
  if (asksNumber) return false
  return work.slots.some(
    (other) =>
      other !== slot &&
      (isEntity(other) ||
        doing(other, "Count") !== undefined ||
        doing(other, "Share") !== undefined ||
        fieldsIn(other).some((one) => isMeasure(one.facts) && one.facts.kind === "count"))
  )
}

const readValue = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const { facts, value } = yield* chosen(work, slot)
    const previous = work.previous(slot)
    const beforeGlue = previous !== undefined && isGlue(previous) ? work.previous(previous) : previous
    const negation = [previous, beforeGlue].find((one) => doing(one, "Negation") !== undefined && one?.used === false)
    work.use(slot, negation)
    absorb(work, slot, facts, negation)
    const link =
      previous !== undefined &&
      (doing(previous, "And") !== undefined ||
        doing(previous, "Or") !== undefined ||
        doing(previous, "Versus") !== undefined)
    const known = work.filters.find((filter) => filter._tag === "OneOf" && filter.facts === facts)
    if (known?._tag === "OneOf") {
      const continues = link || work.versus || negation !== undefined || known.negated
      if (
        known.negated === (negation !== undefined) ||
        (known.negated && continues && negation === undefined && link)
      ) {
        replace(work, known, { ...known, values: [...new Set([...known.values, value])] })
        if (previous !== undefined && doing(previous, "And") !== undefined) work.listed.add(facts)
        return
      }
    }
    work.addFilter({ _tag: "OneOf", facts, values: [value], negated: negation !== undefined }, slot)
  })

const replace = (work: Work, old: Filter, next: Filter): void => {
  const slot = work.saidAt.get(old)
  work.filters = work.filters.map((filter) => (filter === old ? next : filter))
  if (slot !== undefined) work.saidAt.set(next, slot)
}

/** The field's own name beside its value says nothing more: "symbol MSFT", "rated R", "origin is ATL". */
const absorb = (work: Work, slot: Slot, facts: FieldFacts, negation: Slot | undefined): void => {
  const before = work.before(negation ?? slot)
  const after = work.next(slot)
  const start = (negation ?? slot).index
  for (const other of [before, after]) {
    if (other === undefined || other.used || doing(work.previous(other), "GroupBy") !== undefined) continue
    if (other === before && other.index < start - 2) continue
    if (asks(work, other)) continue
    if (fieldsIn(other).some((one) => one.facts === facts)) work.use(other)
  }
}

/** Whether a mention is what is asked for, not what describes a value: "which genre", "how many genres". */
const asks = (work: Work, slot: Slot): boolean => {
  const before = work.previous(slot)
  return (["Which", "Count", "Distinct", "Superlative", "GroupBy", "List"] as const).some(
    (tag) => doing(before, tag) !== undefined
  )
}

const chosen = (
  work: Work,
  slot: Slot
): Result.Result<{ readonly facts: FieldFacts; readonly value: string }, Problem> => {
  const all = valuesIn(slot)
  const exact = all.filter((one) => !one.partial)
  let left = exact.length > 0 ? exact : all
  const narrow = (keep: (one: (typeof left)[number]) => boolean): void => {
    const kept = left.filter(keep)
    if (kept.length > 0) left = kept
  }
  const beside = [work.before(slot), work.next(slot)].filter(
    (other) => other !== undefined && Math.abs(other.index - slot.index) <= 2 && !other.used
  )
  const named = new Set(beside.flatMap((other) => fieldsIn(other).map((one) => one.facts)))
  narrow((one) => named.has(one.facts))
  const role = roleBefore(work, slot)
  if (role !== undefined) narrow((one) => playsRole(one.facts, role))
  const previous = work.previous(slot)
  if (previous !== undefined && (doing(previous, "Or") !== undefined || doing(previous, "And") !== undefined)) {
    const last = work.filters.at(-1)
    if (last?._tag === "OneOf") narrow((one) => one.facts === last.facts)
  }
  if (new Set(left.map((one) => one.facts)).size > 1) narrow((one) => one.facts.path.length === 0)
  const fields = [...new Set(left.map((one) => one.facts))]
  const [first] = left
  if (first !== undefined && left.length === 1) return Result.succeed(first)
  return Result.fail({
    _tag: "Ambiguous",
    words: slot.mention.text,
    alternatives:
      fields.length > 1
        ? fields.map((facts) => {
            const { label, words } = alternativeOf(facts)
            return {
              label: `${label} ${left.find((one) => one.facts === facts)?.value ?? ""}`,
              words: `${words} ${slot.mention.text}`
            }
          })
        : left.map((one) => ({ label: one.value, words: `"${one.value.replaceAll('"', " ")}"` }))
  })
}

/** Whether the question says that something comes from a value, or goes to it. */
const roleBefore = (work: Work, slot: Slot): "origin" | "destination" | undefined => {
  for (let index = slot.index - 1; index >= Math.max(0, slot.index - 4); index--) {
    const other = work.slots[index]
    const role = doing(other, "Role")
    if (role !== undefined) return role.role
    const isList =
      other !== undefined &&
      (valuesIn(other).length > 0 || doing(other, "Or") !== undefined || doing(other, "And") !== undefined)
    if (!isList) return undefined
  }
  return undefined
}

const playsRole = (facts: FieldFacts, role: "origin" | "destination"): boolean => {
  const words = [
    ...facts.path,
    ...wordsOf(facts.field.name),
    ...wordsOf(nameOf(facts)),
    ...facts.field.synonyms.flatMap(wordsOf)
  ]
  return words.some((word) => roleWords[role].includes(word))
}

/** "without a director", "unknown genre", "genre is missing". */
const readMissing = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const missing = isMissing(slot)
    const next = work.after(slot)
    const before = missing ? work.before(slot) : undefined
    for (const other of [next, before]) {
      if (other === undefined || Math.abs(other.index - slot.index) > 2) continue
      const wanted = candidates(other, (facts) => facts.field.kind === "dimension" && facts.field.type !== "boolean")
      if (wanted.length === 0 || valuesIn(other).length > 0) continue
      const negations = missing ? work.previous(other === before ? other : slot) : undefined
      const facts = yield* oneField(other, (one) => wanted.includes(one))
      if (facts === undefined) continue
      const doubly = doing(negations, "Negation") !== undefined && negations?.used === false
      if (doubly) work.use(negations)
      work.use(slot, other)
      work.addFilter({ _tag: "Known", facts, known: doubly }, slot)
      return
    }
  })

/** A yes-or-no field that nothing else asks for filters: "delayed flights", "not cancelled". */
const readFlag = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    if (slot.used || asks(work, slot) || valuesIn(slot).length > 0) return
    const found = candidates(slot, (facts) => facts.field.kind === "dimension" && facts.field.type === "boolean")
    if (found.length === 0 || candidates(slot, (facts) => !found.includes(facts)).length > 0) return
    const facts = yield* oneField(slot, isCategory)
    if (facts === undefined) return
    const before = work.before(slot)
    const negated = doing(before, "Negation") !== undefined && (before?.index ?? -9) >= slot.index - 2
    if (negated) work.use(before)
    work.use(slot)
    work.addFilter({ _tag: "Flag", facts, value: !negated }, slot)
  })
