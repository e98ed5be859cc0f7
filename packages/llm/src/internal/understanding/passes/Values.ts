/**
 * Pass: mentions of values, flags and missing values become filters on the right field.
 */
import * as Result from "effect/Result"
import type { Filter } from "../../plan/Plan.ts"
import { alternativeOf } from "../Alternatives.ts"
import { type FieldFacts, playsRole } from "../Facts.ts"
import { candidates, isCategory, isMeasure, isNumber, oneField } from "../Measuring.ts"
import type { Problem } from "../Problem.ts"
import { doing, fieldsIn, isEntity, isGlue, isMissing, type Slot, valuesIn, type Work } from "../Work.ts"

/** Reads every value, flag and missing value. */
export const readValues = (work: Work): Result.Result<void, Problem> =>
  Result.gen(function* () {
    for (const slot of work.unused()) {
      if (slot.used) continue
      if (valuesIn(slot).length > 0 && isMeantAsValue(work, slot)) yield* readValue(work, slot)
      else if (isMissing(slot) || isWithout(slot)) yield* readMissing(work, slot)
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
    const negation = negationBefore(work, slot, facts)
    work.use(slot, negation)
    absorb(work, slot, facts, negation)
    const link =
      previous !== undefined &&
      (doing(previous, "And") !== undefined ||
        doing(previous, "Or") !== undefined ||
        doing(previous, "Versus") !== undefined)
    const known = work.filters.find((filter) => filter._tag === "OneOf" && filter.facts === facts)
    if (known?._tag === "OneOf" && !link && !work.versus && known.negated === (negation !== undefined)) {
      // "in New York than in Seattle": two values that nothing joins are not one list.
      return yield* Result.fail<Problem>({ _tag: "Leftover", words: [slot.mention.text] })
    }
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

/** "not", past words that hold others together and past the value's own field: "not rated R", "not from Japan". */
const negationBefore = (work: Work, slot: Slot, facts: FieldFacts): Slot | undefined => {
  for (
    let other = work.previous(slot);
    other !== undefined && other.index >= slot.index - 4;
    other = work.previous(other)
  ) {
    if (other.used) return undefined
    if (doing(other, "Negation") !== undefined) return other
    if (!isGlue(other) && !fieldsIn(other).some((one) => one.facts === facts)) return undefined
  }
  return undefined
}

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
  const inside = work.slots.filter((other) => other.index > start && other.index < slot.index)
  for (const other of [before, ...inside, after]) {
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
  const elsewhere = new Set(
    work.slots.filter((other) => other !== slot).flatMap((other) => valuesIn(other).map((one) => one.facts))
  )
  if (new Set(left.map((one) => one.facts)).size > 1) narrow((one) => elsewhere.has(one.facts))
  if (new Set(left.map((one) => one.facts)).size > 1 && nameTheSame(left.map((one) => one.facts)))
    left = left.slice(0, 1)
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

/**
 * Two fields that name the same things in two ways, such as symbols and companies, share hardly any value: one that
 * they do share is the same thing in both. Origins and destinations share all of them.
 */
const nameTheSame = (fields: ReadonlyArray<FieldFacts>): boolean => {
  const [left, right, ...more] = fields.map((facts) => facts.field.values ?? [])
  if (left === undefined || right === undefined || more.length > 0 || left.length !== right.length || left.length < 3)
    return false
  return left.filter((value) => right.includes(value)).length * 2 < left.length
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

/** Words that say that something is not there; a plain "not" denies a value. */
const isWithout = (slot: Slot): boolean =>
  doing(slot, "Negation") !== undefined && /^(?:without|no|lacking)$/.test(slot.mention.text.toLowerCase())

/** "without a director", "unknown genre", "genre is missing". */
const readMissing = (work: Work, slot: Slot): Result.Result<void, Problem> =>
  Result.gen(function* () {
    const missing = isMissing(slot)
    const next = work.after(slot)
    const before = missing ? work.before(slot) : undefined
    for (const other of [next, before]) {
      if (other === undefined || Math.abs(other.index - slot.index) > 2) continue
      const wanted = candidates(other, (facts) => facts.field.kind === "dimension" && facts.field.type !== "boolean")
      const valued = valuesIn(work.next(other)).some((one) => wanted.includes(one.facts))
      if (wanted.length === 0 || valued || valuesIn(other).length > 0) continue
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
