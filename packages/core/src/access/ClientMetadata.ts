/**
 * Client metadata: what a key says of the end user behind it, for row-level security.
 *
 * Source: api-v2.md (`clientId`); decisions.md §3 and §5; policy-cases R4.
 */
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A value of a metadata field. */
const Attribute = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])

/** The metadata: the string as it was stored, and the fields that row policies read. */
export const ClientMetadata = Schema.Struct({
  /** The JSON text as the minter sent it. */
  text: Schema.String,
  attributes: Schema.Record(Schema.String, Attribute)
})
export type ClientMetadata = typeof ClientMetadata.Type

/** Whether it says nothing of anybody. */
export const isEmpty = (metadata: ClientMetadata): boolean => Object.keys(metadata.attributes).length === 0

/** Whether two principals speak for the same end user: equal, non-empty metadata. The order of fields is no matter. */
export const sameClient = (a: ClientMetadata | undefined, b: ClientMetadata | undefined): boolean =>
  a !== undefined && b !== undefined && !isEmpty(a) && Equal.equals(a.attributes, b.attributes)

/** The metadata in one way of writing, by which equal ones are told: the order in which its fields came is no matter. */
export const canonicalText = (metadata: ClientMetadata): string =>
  JSON.stringify(Object.fromEntries(Object.entries(metadata.attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))))

/** Characters of the text at most. */
export const textLength = 16_384

/** Why a text is no client metadata, for machines. */
export const ClientMetadataFault = Schema.Literals([
  "too_long",
  "not_json",
  "not_an_object",
  "duplicate_field",
  "forbidden_field",
  "not_a_scalar",
  "inexact_number",
  "ill_formed_text"
])
export type ClientMetadataFault = typeof ClientMetadataFault.Type

/** A text that is no client metadata; `rule` says what it must be, and names the field where one is at fault. */
export class ClientMetadataRefusal extends Schema.TaggedError<ClientMetadataRefusal>()("ClientMetadataRefusal", {
  fault: ClientMetadataFault,
  rule: Schema.String
}) {
  override get message(): string {
    return this.rule
  }
}

const refuse = (fault: ClientMetadataFault, rule: string): Result.Result<never, ClientMetadataRefusal> =>
  Result.fail(new ClientMetadataRefusal({ fault, rule }))

/** The scalars and punctuation of a JSON text: what a parsed value no longer shows. */
const tokens = /"(?:[^"\\]|\\.)*"|[:,{}[\]]|-?\d[\d.eE+-]*|true|false|null/g

/** A whole number that no double holds for certain: a policy would compare another one. */
const isInexact = (written: string): boolean => {
  const value = Number(written)
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** Text that a database keeps as it is: whole characters, none of them NUL. */
const isWellFormed = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000")

const decodeText = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))
const isAttribute = Schema.is(Attribute)
const isString = Schema.is(Schema.String)

/**
 * The fields of a JSON object, as its text has them: each as often as it is there, and by the very name that it has. The
 * parsed object is not asked for them: of a field that is there twice it has the last, and V8 13 gives a name that is
 * one escaped character the name `\\` where it has seen that one in its place before.
 */
const fieldsIn = (found: ReadonlyArray<string>): ReadonlyArray<readonly [name: string, value: unknown]> => {
  const fields: Array<readonly [string, unknown]> = []
  found.forEach((token, index) => {
    if (!token.startsWith('"') || found[index + 1] !== ":") return
    const name = Result.getOrUndefined(decodeText(token))
    const written = found[index + 2]
    // An object or an array is none: where it begins is no value by itself.
    if (isString(name)) fields.push([name, Result.getOrUndefined(decodeText(written))])
  })
  return fields
}

/**
 * Reads client metadata: a JSON object of strings, numbers, booleans and nulls, each field once. What a JSON parser
 * would let pass in silence is refused: a field that is there twice, of which it keeps the last, and `__proto__`.
 */
export const parse = (text: string): Result.Result<ClientMetadata, ClientMetadataRefusal> => {
  if (text.length > textLength) return refuse("too_long", `must be at most ${textLength} characters`)
  const decoded = decodeText(text)
  if (Result.isFailure(decoded)) return refuse("not_json", "must be a JSON object as text")
  const value = decoded.success
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuse("not_an_object", "must be a JSON object, not another JSON value")
  }
  const attributes: Record<string, typeof Attribute.Type> = {}
  const found = text.match(tokens) ?? []
  const fields = fieldsIn(found)
  for (const [name, field] of fields) {
    if (name === "__proto__") return refuse("forbidden_field", 'must not have a field "__proto__"')
    if (!isAttribute(field)) {
      return refuse("not_a_scalar", `field ${JSON.stringify(name)} must be a string, a number, a boolean or null`)
    }
    if (!isWellFormed(name) || (isString(field) && !isWellFormed(field))) {
      return refuse("ill_formed_text", `field ${JSON.stringify(name)} must be whole Unicode text without NUL`)
    }
    attributes[name] = field
  }
  const names = fields.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return refuse("duplicate_field", `field ${JSON.stringify(twice)} must be there only once`)
  const inexact = found.find((token) => /^[-\d]/.test(token) && isInexact(token))
  if (inexact !== undefined) return refuse("inexact_number", `the number ${inexact} must be sent as a string`)
  return Result.succeed({ text, attributes })
}
