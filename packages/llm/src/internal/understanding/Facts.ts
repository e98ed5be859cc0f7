/**
 * What can be told about the fields of a source from their declarations alone: what a measure aggregates, whether
 * values add up, which field tells the time, what names a row.
 */
import type { OntologyField, OntologySource } from "@castellan/core/ontology/Ontology"
import { abbreviations, additive, equivalents, intensive, nameWords, roleWords } from "../language/Concepts.ts"
import { grammarWords, operatorsAt } from "../language/Grammar.ts"
import type { AggregateFunction } from "../language/Operator.ts"
import { unitNamed } from "../language/Units.ts"
import { phraseKey, stem, wordsOf } from "../language/Words.ts"

/** How a declared measure aggregates, as far as its name tells. */
export type MeasureKind = AggregateFunction | "count" | "share" | "unknown"

/** A field with what its declaration tells. */
export interface FieldFacts {
  /** The field as it is declared, but for a blank label, which is never kept: an answer says it. */
  readonly field: OntologyField
  /** Names of the joins on the way, folded; empty for the source's own fields. */
  readonly path: ReadonlyArray<string>
  /** Phrases that name the field in full. */
  readonly phrases: ReadonlyArray<ReadonlyArray<string>>
  /** Phrases of its own words that leave the joins on the way unsaid. */
  readonly shortPhrases: ReadonlyArray<ReadonlyArray<string>>
  readonly kind: MeasureKind
  /** What a measure aggregates: its phrases without the words that say how. */
  readonly bases: ReadonlyArray<ReadonlyArray<string>>
  readonly nature: "additive" | "intensive" | "unknown"
  readonly unit: string | undefined
  /** The field is a minimum or maximum of each row, such as a day's highest temperature. */
  readonly extreme: "maximum" | "minimum" | undefined
  readonly time: "moment" | "year" | undefined
}

/** A source with what its declaration tells. */
export interface SourceFacts {
  /** The source as it is declared, but for a blank label. */
  readonly source: OntologySource
  readonly fields: ReadonlyArray<FieldFacts>
  /** Phrases that name the rows: `flights`. */
  readonly entities: ReadonlyArray<ReadonlyArray<string>>
  /** The measure that counts rows under the rows' own name, where one is declared. */
  readonly rowCount: FieldFacts | undefined
  /** The time field that questions mean when they name none. */
  readonly time: FieldFacts | undefined
  /** Fields that name a row, best first. */
  readonly names: ReadonlyArray<FieldFacts>
}

const maximumWords = ["maximum", "max", "highest", "high"]
const minimumWords = ["minimum", "min", "lowest", "low"]

const superlativeWords: Readonly<Record<"maximum" | "minimum", ReadonlyArray<string>>> = {
  maximum: [...maximumWords, "longest", "largest", "biggest", "greatest", "most", "best", "peak", "record"],
  minimum: [...minimumWords, "shortest", "smallest", "fewest", "least"]
}

const kindWords: ReadonlyArray<readonly [MeasureKind, ReadonlySet<string>]> = [
  ["share", new Set(["share", "percentage", "percent", "pct", "proportion", "ratio", "rate", "fraction"])],
  ["median", new Set(["median"])],
  ["average", new Set(["average", "avg", "mean"])],
  ["count", new Set(["count", "number", "num", "distinct"])],
  ["total", new Set(["total", "sum", "overall"])],
  ["maximum", new Set(superlativeWords.maximum)],
  ["minimum", new Set(superlativeWords.minimum)],
  ["deviation", new Set(["stddev", "deviation"])]
]

const measureKind = (field: OntologyField, phrases: ReadonlyArray<ReadonlyArray<string>>): MeasureKind => {
  for (const phrase of phrases.slice(0, 2)) {
    for (const [kind, words] of kindWords) if (phrase.some((word) => words.has(word))) return kind
  }
  return field.unit === "%" ? "share" : "unknown"
}

const joining = new Set(["of", "the", "in", "per", "a", "an", "for"])

const withoutKind = (phrase: ReadonlyArray<string>, own: MeasureKind): ReadonlyArray<string> => {
  const words = phrase.filter(
    (word) => !kindWords.some(([kind, list]) => kind === own && kind !== "share" && list.has(word))
  )
  const start = words.findIndex((word) => !joining.has(word))
  return start === -1 ? [] : words.slice(start)
}

/** A unit at the end of a name is short or plural: `hour` names a thing, `hours` measures one. */
const isUnitWord = (word: string): boolean =>
  (unitNamed(word) !== undefined && (word.length <= 3 || /s$|^feet$/.test(word))) || word === "$"

/** A name without the unit that it ends with: `Beak Length (mm)`, `Running Time min`, `Weight in lbs`. */
const withoutUnit = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const last = words.at(-1) ?? ""
  if (
    words.length < 2 ||
    !isUnitWord(last) ||
    [
      "min",
      "day",
      "days",
      "year",
      "years",
      "hp",
      "people",
      "deaths",
      "votes",
      "points",
      "horsepower",
      "second"
    ].includes(last)
  ) {
    return words.length > 2 && last === "min" && !maximumWords.includes(words[0] ?? "") ? words.slice(0, -1) : words
  }
  const rest = words.slice(0, -1)
  return rest.at(-1) === "in" && rest.length > 1 ? rest.slice(0, -1) : rest
}

const nameUnit = (words: ReadonlyArray<string>): string | undefined =>
  withoutUnit(words).length < words.length
    ? unitNamed(words.at(-1) === "min" ? "minutes" : (words.at(-1) ?? ""))?.name
    : undefined

/** Words for a part of a whole. */
const shareWords = ["share", "percentage", "percent", "proportion", "fraction"]

/** What people shorten in speech, though the model spells it out. */
const shortForms: ReadonlyMap<string, string> = new Map(
  ["temp", "pop", "avg", "max", "min", "pct", "qty"].flatMap((short) =>
    (abbreviations.get(short) ?? []).map((long) => [long, short] as const)
  )
)

/** All ways to say a phrase: abbreviations spelled out, words replaced by others for the same thing. */
const variants = (words: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = [words]
  const spelled = words.map((word) => abbreviations.get(word)?.[0] ?? word)
  const shortened = words.map((word) => shortForms.get(word) ?? word)
  for (const form of [spelled, shortened]) if (form.some((word, index) => word !== words[index])) found.push(form)
  if (shareWords.includes(words[0] ?? "") && words[1] === "of") {
    for (const word of shareWords) if (word !== words[0]) found.push([word, ...words.slice(1)])
  }
  for (const phrase of found.slice()) {
    const text = ` ${phrase.map(stem).join(" ")} `
    for (const family of equivalents) {
      for (const member of family) {
        const needle = ` ${phraseKey(member.split(" "))} `
        if (!text.includes(needle)) continue
        for (const other of family)
          if (other !== member) found.push(text.replace(needle, ` ${other} `).trim().split(" "))
      }
    }
  }
  return found
}

/** `temp_max` is also the maximum temperature, the highest temperature and the high temperature. */
const extremeVariants = (
  words: ReadonlyArray<string>
): { readonly extreme: "maximum" | "minimum"; readonly phrases: ReadonlyArray<ReadonlyArray<string>> } | undefined => {
  if (words.length < 2 || words.length > 3) return undefined
  for (const [extreme, family] of [
    ["maximum", maximumWords],
    ["minimum", minimumWords]
  ] as const) {
    const at = words.findIndex((word) => family.includes(word))
    if (at !== 0 && at !== words.length - 1) continue
    const rest = words.toSpliced(at, 1)
    const bases = variants(rest)
    return {
      extreme,
      phrases: bases.flatMap((base) =>
        family.flatMap((word) => [
          [word, ...base],
          [...base, word]
        ])
      )
    }
  }
  return undefined
}

const distinct = (phrases: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => [
  ...new Map(phrases.filter((phrase) => phrase.length > 0).map((phrase) => [phraseKey(phrase), phrase])).values()
]

const natureOf = (words: ReadonlyArray<string>, unit: string | undefined): FieldFacts["nature"] => {
  const stems = words.flatMap((word) => [stem(word), ...(abbreviations.get(word) ?? [])])
  // The last word is what the thing is: a sales price is a price, a price total is a total.
  for (const word of stems.toReversed()) {
    if (intensive.has(word)) return "intensive"
    if (additive.has(word)) return "additive"
  }
  const known = unit === undefined ? undefined : unitNamed(unit)
  if (known === undefined) return "unknown"
  if (["money", "euros", "sterling", "deaths", "votes"].includes(known.quantity)) return "additive"
  return ["celsius", "fahrenheit", "percent", "speed", "mpg", "degrees", "points", "power"].includes(known.quantity)
    ? "intensive"
    : "unknown"
}

/** A label that can be read, where a model declares a blank one: the name, and where that is blank too, the last word. */
const readable = (label: string, name: string, last: string): string =>
  label.trim() !== "" ? label : name.replaceAll("_", " ").trim() === "" ? last : name.replaceAll("_", " ")

const fieldFacts = (declared: OntologyField): FieldFacts => {
  const field = { ...declared, label: readable(declared.label, declared.name, "field without a name") }
  const segments = field.name.split(".")
  const own = segments.at(-1) ?? field.name
  const path = segments.slice(0, -1).flatMap(wordsOf)
  const ownWords = wordsOf(own)
  const labelWords = wordsOf(field.label)
  const base = [ownWords, withoutUnit(ownWords), labelWords, withoutUnit(labelWords), ...field.synonyms.map(wordsOf)]
  const extremes = field.kind === "dimension" ? (extremeVariants(ownWords) ?? extremeVariants(labelWords)) : undefined
  const spoken = distinct([...base.flatMap(variants), ...(extremes?.phrases ?? [])])
  const kind = field.kind === "measure" ? measureKind(field, [labelWords, ownWords]) : "unknown"
  const unit = field.unit ?? nameUnit(ownWords) ?? nameUnit(labelWords)
  const isYear =
    field.kind === "dimension" &&
    field.type === "number" &&
    (ownWords.at(-1) === "year" || labelWords.at(-1) === "year") &&
    ownWords.length <= 2
  const joined = path.length > 0
  const shortPath = path.slice(0, 1)
  return {
    field,
    path,
    phrases:
      joined && field.kind === "measure"
        ? distinct([labelWords, [...path, ...ownWords]])
        : joined
          ? distinct([
              ...spoken.filter((phrase) => path.some((word) => phrase.includes(word))),
              ...spoken.flatMap((phrase) => [
                [...path, ...phrase],
                [...shortPath, ...phrase],
                [...phrase, "of", ...path],
                [...phrase, "of", ...shortPath],
                [...phrase, "of", "the", ...path],
                [...phrase, "of", "the", ...shortPath]
              ])
            ])
          : spoken,
    shortPhrases: joined && field.kind === "dimension" ? spoken : [],
    kind,
    bases: field.kind === "measure" && !joined ? distinct(spoken.map((phrase) => withoutKind(phrase, kind))) : [],
    nature:
      field.type === "number" ? natureOf([...withoutUnit(ownWords), ...withoutUnit(labelWords)], unit) : "unknown",
    unit,
    extreme: extremes?.extreme,
    time:
      field.kind === "dimension" && (field.type === "date" || field.type === "timestamp")
        ? "moment"
        : isYear
          ? "year"
          : undefined
  }
}

const timeOf = (source: OntologySource, fields: ReadonlyArray<FieldFacts>): FieldFacts | undefined => {
  const declared = fields.find((facts) => facts.field.name === source.timeField)
  if (declared !== undefined) return declared.time === undefined ? { ...declared, time: "year" } : declared
  const own = fields.filter((facts) => facts.path.length === 0 && facts.time !== undefined)
  const moments = own.filter((facts) => facts.time === "moment")
  const [only] = moments.length > 0 ? moments : own
  return (moments.length > 0 ? moments : own).length === 1 ? only : undefined
}

const namesOf = (source: OntologySource, fields: ReadonlyArray<FieldFacts>): ReadonlyArray<FieldFacts> => {
  const texts = fields.filter(
    (facts) =>
      facts.path.length === 0 &&
      facts.field.kind === "dimension" &&
      (facts.field.type === "text" || facts.field.type === "json")
  )
  const score = (facts: FieldFacts): number => {
    const own = [wordsOf(facts.field.name).join(" "), wordsOf(facts.field.label).join(" ")]
    const place = nameWords.findIndex((word) => own.some((words) => words === word || words.endsWith(` ${word}`)))
    if (place !== -1) return place
    const synonym = nameWords.findIndex((word) =>
      facts.field.synonyms.some((words) => wordsOf(words).join(" ") === word)
    )
    if (synonym !== -1) return nameWords.length + synonym
    return facts.field.name === source.primaryKey ? 2 * nameWords.length : Number.POSITIVE_INFINITY
  }
  return texts
    .filter((facts) => score(facts) < Number.POSITIVE_INFINITY)
    .toSorted((left, right) => score(left) - score(right))
}

/** Rows may be days or months; other words of the grammar are no name for rows. */
const isStretch = (word: string): boolean => operatorsAt([word], 0).some(({ operator }) => operator._tag === "Grain")

/** Everything that the declaration of a source tells. */
export const sourceFacts = (given: OntologySource): SourceFacts => {
  const source = { ...given, label: readable(given.label, given.name, "Rows without a name") }
  const fields = source.fields.map(fieldFacts)
  const declared = [wordsOf(source.name), wordsOf(source.label), ...source.synonyms.map(wordsOf)]
  const entities = distinct(
    declared
      .flatMap(variants)
      .filter((phrase) => phrase.length > 1 || !grammarWords.has(phrase[0] ?? "") || isStretch(phrase[0] ?? ""))
  )
  const keys = new Set(entities.map(phraseKey))
  const counts = fields.filter(
    (facts) =>
      facts.field.kind === "measure" && facts.path.length === 0 && (facts.kind === "count" || facts.kind === "unknown")
  )
  const rowCount = counts.find((facts) => facts.bases.some((base) => keys.has(phraseKey(base))))
  return { source, fields, entities, rowCount, time: timeOf(source, fields), names: namesOf(source, fields) }
}

/** What a field is called in an answer. */
export const nameOf = (facts: FieldFacts): string => facts.field.label

/** Whether a field tells where something comes from, or where it goes. */
export const playsRole = (facts: FieldFacts, role: "origin" | "destination"): boolean => {
  const words = [
    ...facts.path,
    ...wordsOf(facts.field.name),
    ...wordsOf(nameOf(facts)),
    ...facts.field.synonyms.flatMap(wordsOf)
  ]
  return words.some((word) => roleWords[role].includes(word))
}
