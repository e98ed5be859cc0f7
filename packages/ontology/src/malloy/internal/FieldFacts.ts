/**
 * What only the data can tell of a model's fields: the values of text fields of few values, and the range of time
 * fields. Each source is asked by one aggregating statement, in memory bounded by the number of its fields; a source
 * that does not answer is described without.
 */
import type { OntologyField, OntologySource } from "@castellan/core/ontology/Ontology"
import { ConnectorDriver, type QueryLimits } from "@castellan/core/connector/ConnectorDriver"
import { type Value, values } from "@castellan/core/connector/ResultTable"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { DescribedField, DescribedSource } from "./Description.ts"
import type { CompiledModel } from "./ModelCompiler.ts"
import { prepare } from "./QueryCompiler.ts"

/** A field with more values than these is not one of few values. */
export const maximumValues = 50

/** A value longer than these characters is prose, which nobody filters by. */
const maximumLength = 100

const limits: QueryLimits = { timeout: Duration.seconds(60), maxRows: 1, maxBytes: 4_000_000 }

/** What the data says of one field. */
type Fact = Pick<OntologyField, "values" | "timeRange">

/** Fills in what the data says of the fields of a compiled model. */
export const fill: (compiled: CompiledModel) => Effect.Effect<ReadonlyArray<OntologySource>, never, ConnectorDriver> =
  Effect.fnUntraced(function* (compiled) {
    const bySource = new Map(compiled.sources.map((described) => [described.source.name, described]))
    const facts = new Map(
      yield* Effect.forEach(
        compiled.sources,
        (described) =>
          Effect.map(factsOf(compiled, described, bySource), (found) => [described.source.name, found] as const),
        { concurrency: 2 }
      )
    )
    const factOf = (source: string, { field, same }: DescribedField): Fact | undefined =>
      facts.get(source)?.get(field.name) ?? (same === undefined ? undefined : facts.get(same.source)?.get(same.field))
    return compiled.sources.map(({ fields, source }) => ({
      ...source,
      fields: fields.map((described) =>
        described.question === undefined ? described.field : { ...described.field, ...factOf(source.name, described) }
      )
    }))
  })

/** The fields of a source that its own statement asks about: not those that another source of the model answers for. */
const askedOf = ({ fields }: DescribedSource, sources: ReadonlyMap<string, DescribedSource>) =>
  fields.filter(
    ({ question, same }) =>
      question !== undefined &&
      (same === undefined ||
        !(sources.get(same.source)?.fields.some(({ field }) => field.name === same.field) ?? false))
  )

const factsOf = Effect.fnUntraced(
  function* (compiled: CompiledModel, described: DescribedSource, sources: ReadonlyMap<string, DescribedSource>) {
    const asked = askedOf(described, sources)
    const facts = new Map<string, Fact>()
    if (asked.length === 0) return facts
    const driver = yield* ConnectorDriver
    const selected = asked.map(({ field }, index) => `f${index} is ${field.name}`)
    const rows = yield* prepare(compiled, `run: ${described.source.name} -> { select: ${selected.join(", ")} }`)
    const table = yield* driver.query(rows.connector, statement(asked, rows.sql), limits)
    for (const [index, { field, question }] of asked.entries()) {
      const cell = (prefix: string) => values(table, `${prefix}${index}`)[0] ?? null
      const fact = question === "values" ? valuesIn(cell("v")) : rangeIn(cell("a"), cell("z"))
      if (fact !== undefined) facts.set(field.name, fact)
    }
    return facts
  },
  (effect, _compiled, described) =>
    Effect.catch(effect, (error) =>
      Effect.as(
        Effect.logWarning(`the values of ${described.source.name} are not described: ${error.message}`),
        new Map<string, Fact>()
      )
    )
)

/**
 * One pass over the rows. `approx_top_k` counts the values it sees within three times as many slots as it is asked for,
 * so up to that number it is exact, and beyond it its memory does not grow with the data.
 */
const statement = (asked: ReadonlyArray<DescribedField>, rows: string): string => {
  const facts = asked.map(({ question }, index) =>
    question === "values"
      ? `approx_top_k(f${index}, ${maximumValues + 1}) AS v${index}`
      : `min(f${index}) AS a${index}, max(f${index}) AS z${index}`
  )
  return `SELECT ${facts.join(", ")} FROM (${rows}) AS rows`
}

const decodeTexts = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.String)))

const valuesIn = (cell: Value): Fact | undefined => {
  const texts = Option.getOrElse(decodeTexts(cell), () => [])
  return texts.length === 0 || texts.length > maximumValues || texts.some((text) => text.length > maximumLength)
    ? undefined
    : { values: texts.toSorted() }
}

const rangeIn = (first: Value, last: Value): Fact | undefined =>
  typeof first === "string" && typeof last === "string" ? { timeRange: { first, last } } : undefined
