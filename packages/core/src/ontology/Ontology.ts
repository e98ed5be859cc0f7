/**
 * The ontology: the semantic model of an organization's data. It is the `ontology/` folder of the library, in
 * Malloy; what the analyst reads of it is described here in the model's own terms.
 *
 * Source: api-v2.md "What the service does"; decisions.md §5.
 */
import * as Schema from "effect/Schema"

/** A file of the library's `ontology/` folder. */
export const OntologyFile = Schema.Struct({
  /** Path below `ontology/`, with forward slashes, such as `flights.malloy`. */
  path: Schema.NonEmptyString,
  content: Schema.String
}).annotate({ identifier: "OntologyFile" })
export type OntologyFile = typeof OntologyFile.Type

/** What a field of a source holds. */
export const OntologyFieldType = Schema.Literals(["text", "number", "boolean", "date", "timestamp", "json"])
export type OntologyFieldType = typeof OntologyFieldType.Type

/** A dimension or a measure of a source, its own or reached through a join. */
export const OntologyField = Schema.Struct({
  /** The field as a query names it; a joined field carries the path of its joins: `carriers.nickname`. */
  name: Schema.NonEmptyString,
  kind: Schema.Literals(["dimension", "measure"]),
  type: OntologyFieldType,
  /** A name for people, such as `Departure delay`. */
  label: Schema.String,
  description: Schema.optionalKey(Schema.String),
  /** Other words that people use for it. */
  synonyms: Schema.Array(Schema.String),
  /** Unit of a number, such as `minutes`, `USD` or `%`. */
  unit: Schema.optionalKey(Schema.String),
  /** Every value of a field of few values, in alphabetical order. */
  values: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The first and last moment of a time field, ISO 8601. */
  timeRange: Schema.optionalKey(Schema.Struct({ first: Schema.String, last: Schema.String })),
  /** The file that declares the field, and the line of the declaration (1-based). */
  location: Schema.optionalKey(Schema.Struct({ path: Schema.String, line: Schema.Int }))
}).annotate({ identifier: "OntologyField" })
export type OntologyField = typeof OntologyField.Type

/** A source: a table with its dimensions, measures, joins and named views. */
export const OntologySource = Schema.Struct({
  name: Schema.NonEmptyString,
  /** The name of the connector that holds its data. */
  connector: Schema.NonEmptyString,
  label: Schema.String,
  description: Schema.optionalKey(Schema.String),
  synonyms: Schema.Array(Schema.String),
  /** The field that tells one row from another, where the model declares one. */
  primaryKey: Schema.optionalKey(Schema.String),
  /** The time field that questions about time mean when they name none. */
  timeField: Schema.optionalKey(Schema.String),
  fields: Schema.Array(OntologyField),
  /** Named queries of the source. */
  views: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.optionalKey(Schema.String) }))
}).annotate({ identifier: "OntologySource" })
export type OntologySource = typeof OntologySource.Type
