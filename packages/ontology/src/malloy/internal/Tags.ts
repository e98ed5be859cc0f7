/**
 * What a model says about its sources and fields for people: Malloy's doc strings (`#" …`), the label of Malloy's own
 * tags (`# label="…"`), and the vocabulary of this service, in annotations that start with `#(castellan)`:
 *
 *     #" Minutes late at the gate; early arrivals are negative.
 *     #(castellan) label="Arrival delay" unit=minutes synonyms=["late", "lateness"]
 *     dimension: arrival_delay is delay
 *
 * | tag | on | meaning |
 * |---|---|---|
 * | `label="…"` | everything | a name for people; without it, one is made from the name |
 * | `synonyms=["…", …]` | sources, fields, joins | other words that people use for it |
 * | `time=field` | sources | the time field that a question about time means when it names none |
 * | `time` | fields | the same, said on the field |
 * | `unit="…"` | fields | the unit of a number: `minutes`, `USD`, `%` |
 * | `values=["…", …]` | fields | every value of a field of few values; without it they are read from the data |
 * | `no_values` | fields | the values are not read from the data, and not told |
 * | `first="…"`, `last="…"` | fields | the range of a time field; without it, it is read from the data |
 * | `hidden` | everything | left out of the description; queries and other definitions may still use it |
 *
 * A tag that is not in the table, or not of its type, is a problem of the model, at its place: a typing error must not
 * quietly lose a unit.
 */
import { Annotations, type StructDef } from "@malloydata/malloy"
import type { OntologyProblem } from "@castellan/core/ontology/OntologyEngine"
import { at, type Place, type Scope } from "./Problems.ts"

/** The annotations of a source, a join, a field or a view. */
export type Annotated = NonNullable<StructDef["annotations"]>

/** What kind of thing carries the annotations. */
export type Target = "source" | "join" | "field" | "view"

/** The annotations of one thing, read. */
export interface Tags {
  readonly description: string | undefined
  readonly label: string | undefined
  readonly synonyms: ReadonlyArray<string>
  readonly unit: string | undefined
  readonly values: ReadonlyArray<string> | undefined
  readonly first: string | undefined
  readonly last: string | undefined
  /** On a source, the name of its time field; on a field, `true` when it is that. */
  readonly time: string | true | undefined
  /** Where the time field is named. */
  readonly timeAt: Place | undefined
  readonly hidden: boolean
  readonly valuesWithheld: boolean
  readonly problems: ReadonlyArray<OntologyProblem>
}

const route = "castellan"

type Kind = "text" | "texts" | "flag"

const vocabulary: Record<Target, Readonly<Record<string, Kind>>> = {
  source: { label: "text", synonyms: "texts", time: "text", hidden: "flag" },
  join: { label: "text", synonyms: "texts", hidden: "flag" },
  view: { label: "text", hidden: "flag" },
  field: {
    label: "text",
    synonyms: "texts",
    unit: "text",
    values: "texts",
    first: "text",
    last: "text",
    time: "flag",
    hidden: "flag",
    no_values: "flag"
  }
}

type MotlyTag = ReturnType<Annotations["parseAsTag"]>["tag"]

/** Reads the annotations of one thing. */
export const read = (scope: Scope, target: Target, annotated: Annotated | undefined): Tags => {
  const annotations = new Annotations(annotated)
  const { tag, log } = annotations.parseAsTag(route)
  const place = annotations.forRoute(route).at(-1)?.at
  const problems = [
    ...log.map((message) => at(scope, message.at ?? place, message.message)),
    ...misused(scope, target, tag, place)
  ]
  const text = (name: string) => (tag.has(name) ? tag.text(name) : undefined)
  const texts = (name: string) => tag.textArray(name) ?? asList(text(name))
  return {
    description: description(annotated),
    label: text("label") ?? annotations.parseAsTag().tag.text("label"),
    synonyms: texts("synonyms") ?? [],
    unit: text("unit"),
    values: texts("values"),
    first: text("first"),
    last: text("last"),
    time: tag.has("time") ? (text("time") ?? true) : undefined,
    timeAt: tag.tag("time")?.location ?? place,
    hidden: tag.has("hidden"),
    valuesWithheld: tag.has("no_values"),
    problems
  }
}

const asList = (value: string | undefined) => (value === undefined ? undefined : [value])

/**
 * The doc string that stands closest: a field's own before that of its block (`measure:` with several fields), and
 * that before the one of the source it extends.
 */
const description = (annotated: Annotated | undefined): string | undefined => {
  if (annotated === undefined) return undefined
  const { blockNotes, inherits, notes } = annotated
  return docOf(notes) ?? docOf(blockNotes) ?? description(inherits)
}

const docOf = (notes: Annotated["notes"]): string | undefined =>
  new Annotations(notes === undefined ? undefined : { notes })
    .forRoute('"')
    .map((note) => note.content.trim())
    .join("\n")
    .trim() || undefined

const misused = (scope: Scope, target: Target, tag: MotlyTag, place: Place | undefined): Array<OntologyProblem> => {
  const problems: Array<OntologyProblem> = []
  const known = vocabulary[target]
  for (const [name, entry] of tag.entries()) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined
    const complaint =
      kind === undefined
        ? `${JSON.stringify(name)} is not a tag of a ${target}; a ${target} has: ${Object.keys(known).join(", ")}`
        : isA(kind, entry)
          ? undefined
          : `the tag ${JSON.stringify(name)} ${expectation[kind]}`
    if (complaint !== undefined) problems.push(at(scope, entry.location ?? place, complaint))
  }
  return problems
}

const expectation: Record<Kind, string> = {
  text: 'takes one text: tag="…"',
  texts: 'takes a list of texts: tag=["…", "…"]',
  flag: "stands alone, without a value"
}

const isA = (kind: Kind, entry: MotlyTag): boolean => {
  switch (kind) {
    case "text":
      return entry.text() !== undefined
    case "texts":
      return entry.text() !== undefined || (entry.array()?.every((element) => element.text() !== undefined) ?? false)
    case "flag":
      return entry.eq === undefined || entry.isTrue()
  }
}
