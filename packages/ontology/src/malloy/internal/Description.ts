/**
 * Reads a compiled model as the ontology's port tells it: sources with their fields, own and through joins, their
 * views, and what the annotations say about them. What only the data can tell (values, ranges of time) is left as
 * questions for the data.
 */
import {
  expressionIsCalculation,
  type Explore,
  type FieldDef,
  type JoinFieldDef,
  isAtomic,
  isJoined,
  type StructDef
} from "@malloydata/malloy"
import type { OntologyField, OntologyFieldType, OntologySource } from "@castellan/core/ontology/Ontology"
import type { OntologyProblem } from "@castellan/core/ontology/OntologyEngine"
import { humanise, inside } from "../../internal/Label.ts"
import * as MalloyName from "../MalloyName.ts"
import { at, type Scope } from "./Problems.ts"
import * as Tags from "./Tags.ts"

/** What the data can add to a field's description. */
export type Question = "values" | "timeRange"

/** A field, what the data can add to it, and who knows the answer already. */
export interface DescribedField {
  readonly field: OntologyField
  readonly question: Question | undefined
  /** The field of another source of the model that this one is, seen through a join: its answer is this one's. */
  readonly same: { readonly source: string; readonly field: string } | undefined
}

/** A source, as far as the model itself describes it. */
export interface DescribedSource {
  readonly source: Omit<OntologySource, "fields">
  readonly fields: ReadonlyArray<DescribedField>
}

/** A model, as far as it describes itself, and what its annotations get wrong. */
export interface Description {
  readonly sources: ReadonlyArray<DescribedSource>
  readonly problems: ReadonlyArray<OntologyProblem>
}

/** Joins of joins that are followed; a field further away is out of sight of the description, not of queries. */
const maximumJoins = 2

/** Records in records that are followed. */
const maximumNesting = 3

/** Describes the sources of a model, in the order of their names. */
export const describe = (scope: Scope, explores: ReadonlyArray<Explore>): Description => {
  const problems: Array<OntologyProblem> = []
  const named = new Map<string, string>()
  for (const { name, structDef } of explores) {
    const identity = identityOf(structDef)
    if (identity !== undefined) named.set(identity, name)
  }
  const sources: Array<DescribedSource> = []
  for (const { name, structDef } of explores.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const tags = Tags.read(scope, "source", structDef.annotations)
    const walk = new Walk(scope, named, problems)
    walk.fieldsOf(structDef, {
      names: [],
      labels: [],
      synonyms: [],
      joined: 0,
      nested: 0,
      seen: [identityOf(structDef)]
    })
    problems.push(...tags.problems)
    if (tags.hidden || !("connection" in structDef)) continue
    const timeField = walk.timeField(tags.time)
    if (typeof tags.time === "string" && timeField === undefined) {
      const message = `the tag "time" names ${JSON.stringify(tags.time)}, which is not a time field of ${name}`
      problems.push(at(scope, tags.timeAt, message))
    }
    sources.push({
      source: {
        name: MalloyName.quote(name),
        connector: structDef.connection,
        label: tags.label ?? humanise(name),
        ...(tags.description === undefined ? {} : { description: tags.description }),
        synonyms: tags.synonyms,
        ...(structDef.primaryKey === undefined ? {} : { primaryKey: MalloyName.quote(structDef.primaryKey) }),
        ...(timeField === undefined ? {} : { timeField }),
        views: walk.views
      },
      fields: walk.fields
    })
  }
  return { sources, problems }
}

/** Where a walk stands: the joins it went through from the source. */
interface Position {
  readonly names: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
  readonly synonyms: ReadonlyArray<string>
  /** Joins of sources among `names`; the rest are records and lists inside a row. */
  readonly joined: number
  /** Records and lists since the last join of a source. */
  readonly nested: number
  /** The sources on the way: a join back to one of them is not followed. */
  readonly seen: ReadonlyArray<string | undefined>
  /** The source of the model, by name, whose fields these are. */
  readonly within?: string | undefined
  /** True below a join that yields many rows for one. */
  readonly many?: boolean
}

class Walk {
  readonly fields: Array<DescribedField> = []
  readonly views: Array<OntologySource["views"][number]> = []
  private readonly scope: Scope
  private readonly named: ReadonlyMap<string, string>
  private readonly problems: Array<OntologyProblem>
  private tagged: string | undefined
  private readonly untruncated: Array<string> = []

  constructor(scope: Scope, named: ReadonlyMap<string, string>, problems: Array<OntologyProblem>) {
    this.scope = scope
    this.named = named
    this.problems = problems
  }

  fieldsOf(struct: StructDef, position: Position): void {
    for (const field of struct.fields) {
      if (field.type === "turtle") this.view(field, position)
      else if ("accessModifier" in field && field.accessModifier !== undefined) continue
      else if (isJoined(field)) this.join(field, position)
      else if (isAtomic(field)) this.field(field, position)
    }
  }

  /**
   * The field that a question about time means: the one that the tags name, else the only one there is. A field that
   * is another one cut to months or years is not one of its own.
   */
  timeField(named: string | true | undefined): string | undefined {
    if (typeof named === "string") {
      const quoted = MalloyName.quote(named)
      return this.fields.find(({ field }) => isTime(field.type) && (field.name === named || field.name === quoted))
        ?.field.name
    }
    return this.tagged ?? (this.untruncated.length === 1 ? this.untruncated[0] : undefined)
  }

  private view(field: FieldDef, position: Position): void {
    if (position.names.length > 0) return
    const tags = Tags.read(this.scope, "view", field.annotations)
    this.problems.push(...tags.problems)
    if (tags.hidden) return
    this.views.push({
      name: MalloyName.quote(field.as ?? field.name),
      ...(tags.description === undefined ? {} : { description: tags.description })
    })
  }

  private join(join: JoinFieldDef, position: Position): void {
    const name = join.as ?? join.name
    const isSource = "connection" in join
    // Lists in lists multiply the rows of a row, and the engine's memory: they are left to those who ask for them.
    if (!isSource && (position.nested === maximumNesting || (join.join !== "one" && position.many === true))) return
    const identity = identityOf(join)
    if (isSource && (position.joined === maximumJoins || position.seen.includes(identity))) return
    const tags = Tags.read(this.scope, "join", join.annotations)
    // A join of a source as it stands carries that source's annotations, whose tags are read where they are declared.
    if (!isSource) this.problems.push(...tags.problems)
    if (tags.hidden) return
    const known = isSource && identity !== undefined ? this.named.get(identity) : undefined
    this.fieldsOf(join, {
      names: [...position.names, name],
      labels: [...position.labels, tags.label ?? humanise(name)],
      synonyms: tags.synonyms,
      joined: position.joined + (isSource ? 1 : 0),
      nested: isSource ? 0 : position.nested + 1,
      seen: isSource ? [...position.seen, identity] : position.seen,
      within: isSource ? known : undefined,
      many: position.many === true || join.join !== "one"
    })
  }

  private field(field: FieldDef, position: Position): void {
    const type = typeOf(field)
    if (type === undefined) return
    const name = field.as ?? field.name
    // A list of plain values has its elements under two names; `each` is the one that the language's guide uses.
    if (name === "value" && isElement(field, position)) return
    const tags = Tags.read(this.scope, "field", field.annotations)
    this.problems.push(...tags.problems)
    if (tags.hidden) return
    const kind = "expressionType" in field && expressionIsCalculation(field.expressionType) ? "measure" : "dimension"
    const own = position.names.length === 0
    const path = MalloyName.path([...position.names, name])
    if (own && kind === "dimension" && isTime(type)) {
      if (tags.time !== undefined) this.tagged = path
      if (!("timeframe" in field && field.timeframe !== undefined)) this.untruncated.push(path)
    }
    const label = tags.label ?? humanise(name)
    const location = this.locationOf(field)
    const timeRange =
      tags.first !== undefined && tags.last !== undefined ? { first: tags.first, last: tags.last } : undefined
    this.fields.push({
      question: kind === "measure" || tags.valuesWithheld || position.many === true ? undefined : question(type, tags),
      same: position.within === undefined ? undefined : { source: position.within, field: MalloyName.quote(name) },
      field: {
        name: path,
        kind,
        type,
        label: own ? label : [...position.labels, inside(label)].join(" "),
        ...(tags.description === undefined ? {} : { description: tags.description }),
        synonyms: [...tags.synonyms, ...position.synonyms.map((synonym) => `${synonym} ${inside(label)}`)],
        ...(tags.unit === undefined ? {} : { unit: tags.unit }),
        ...(tags.values === undefined ? {} : { values: tags.values.toSorted() }),
        ...(timeRange === undefined ? {} : { timeRange }),
        ...(location === undefined ? {} : { location })
      }
    })
  }

  /** Where a field is declared; for a column of the table, where the model speaks of it. */
  private locationOf(field: FieldDef): OntologyField["location"] {
    const declared = "e" in field && field.e !== undefined
    const note = field.annotations?.notes?.[0] ?? field.annotations?.blockNotes?.[0]
    const place = declared ? field.location : (note?.at ?? field.location)
    const path = place === undefined ? undefined : this.scope.pathOf(place.url)
    return place === undefined || path === undefined ? undefined : { path, line: place.range.start.line + 1 }
  }
}

const question = (type: OntologyFieldType, tags: Tags.Tags): Question | undefined => {
  if (type === "text") return tags.values === undefined ? "values" : undefined
  if (isTime(type)) return tags.first === undefined || tags.last === undefined ? "timeRange" : undefined
  return undefined
}

const isTime = (type: OntologyFieldType): boolean => type === "date" || type === "timestamp"

const isElement = (field: FieldDef, position: Position): boolean =>
  position.many === true && position.within === undefined && !("e" in field && field.e !== undefined)

/** The type of a field in the ontology's terms; undefined for one that has none. */
const typeOf = (field: FieldDef): OntologyFieldType | undefined => {
  switch (field.type) {
    case "string":
      return "text"
    case "number":
    case "boolean":
    case "date":
    case "timestamp":
    case "json":
      return field.type
    case "timestamptz":
      return "timestamp"
    case "sql native":
    case "array":
    case "record":
      return "json"
    default:
      return undefined
  }
}

/** What tells one source from another: a source that is only referred to is the one it refers to. */
const identityOf = (struct: StructDef | JoinFieldDef): string | undefined =>
  "referenceID" in struct && struct.referenceID !== undefined
    ? struct.referenceID
    : "sourceID" in struct
      ? struct.sourceID
      : undefined
