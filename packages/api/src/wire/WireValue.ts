/**
 * The scalars of the wire: identifiers, moments and numbers, with the rules that requests are held to.
 *
 * Each carries its rule as `message`, in words that complete "`<field>: `", and its documentation on the encoded side,
 * where the OpenAPI document reads it.
 *
 * Source: decisions.md §1.
 */
import { ConnectorId } from "@castellan/core/connector/Connector"
import { EmailAddress } from "@castellan/core/member/EmailAddress"
import { ModelId, ModelNumber } from "@castellan/core/model/Model"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/**
 * A UUID of the wire. Other programs write UUIDs in upper case too, so it is read in any case and written in lower
 * case, which is the form that the domain knows.
 */
export const uuid = <Id extends string>(id: Schema.Codec<Id, string>, description: string): Schema.Codec<Id, string> =>
  Schema.String.annotate({ format: "uuid", message: "must be a UUID", description }).pipe(
    Schema.decodeTo(
      id.annotate({ message: "must be a UUID" }),
      SchemaTransformation.transform({ decode: (text) => text.toLowerCase(), encode: (canonical) => canonical })
    )
  )

/** A moment: RFC 3339, UTC, with milliseconds. */
export const timestamp = (description: string) =>
  Schema.String.annotate({ format: "date-time", message: "must be an RFC 3339 date-time", description }).pipe(
    Schema.decodeTo(Schema.DateTimeUtcFromString)
  )

/** A text without a rule. */
export const text = (description: string) => Schema.String.annotate({ description, message: "must be a string" })

/**
 * A text of a request, bounded. Text that no store could keep as it is (NUL characters, halves of surrogate pairs) is
 * refused rather than altered.
 */
export const boundedText = (bounds: { readonly minimum: number; readonly maximum: number }, description: string) => {
  const limit = `of at most ${bounds.maximum.toLocaleString("en-US")} characters`
  const message = bounds.minimum === 0 ? `must be a string ${limit}` : `must be a non-empty string ${limit}`
  return Schema.String.annotate({ message, description }).check(
    Schema.isMinLength(bounds.minimum, { message }),
    Schema.makeFilter((value: string) => value.trim().length >= bounds.minimum, { message }),
    Schema.makeFilter((value: string) => value.isWellFormed() && !value.includes("\0"), {
      message: "must be well-formed Unicode without NUL characters"
    }),
    Schema.isMaxLength(bounds.maximum, { message, description })
  )
}

/** A switch. */
export const flag = (description: string) => Schema.Boolean.annotate({ description, message: "must be true or false" })

/** A count of something that is there: a whole number, 0 or more. */
export const count = (description: string) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description })

/** A duration as the wire's integer: never negative, though clocks are set back. */
export const wholeMilliseconds = (took: Duration.Duration): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(Duration.toMillis(took))))

/** An integer of a request, within bounds that its message states. */
export const integerBetween = (minimum: number, maximum: number, description: string) => {
  const message = `must be an integer between ${minimum} and ${maximum}`
  return Schema.Number.annotate({ message }).check(
    Schema.isInt({ message }),
    Schema.isBetween({ minimum, maximum }, { message, description })
  )
}

/** One of a few words; the message lists them. */
export const oneOf = <const Words extends ReadonlyArray<string>>(words: Words, description: string) =>
  Schema.Literals(words).annotate({ message: `must be one of ${words.join(", ")}`, description })

const connectorRule = "must be a connector's id, a positive integer"

/** The number of a connector in a request. */
export const connectorId = Schema.Number.annotate({ message: connectorRule })
  .check(
    Schema.isInt({ message: connectorRule }),
    Schema.isBetween(
      { minimum: 1, maximum: 2_147_483_647 },
      { message: connectorRule, description: "A connector's id, from `GET /v2/connectors`" }
    )
  )
  .pipe(Schema.decodeTo(ConnectorId))

/** The number of a connector in a path: digits, as it is written elsewhere. A malformed one reads as not found. */
export const connectorIdInPath = Schema.String.annotate({ message: connectorRule })
  .check(
    Schema.isPattern(/^[1-9][0-9]{0,9}$/u, {
      message: connectorRule,
      description: "The connector's id, from `GET /v2/connectors`"
    })
  )
  .pipe(Schema.decodeTo(Schema.NumberFromString), Schema.decodeTo(ConnectorId))

const modelRule = "must be a model's id, 1 to 200 visible ASCII characters"

/** The id of a model in a request. */
export const modelId = (description: string) =>
  Schema.String.annotate({ message: modelRule })
    .check(Schema.isMinLength(1, { message: modelRule }), Schema.isMaxLength(200, { message: modelRule, description }))
    .pipe(Schema.decodeTo(ModelId.annotate({ message: modelRule })))

/** A list of a request, of a bounded number of items; `what` completes "must be an array of at most n ". */
export const listOf = <S extends Schema.Top>(
  item: S,
  bounds: { readonly minimum?: number; readonly maximum: number },
  what: string,
  description: string
) => {
  const minimum = bounds.minimum ?? 0
  const limit = `${bounds.maximum.toLocaleString("en-US")} ${what}`
  const message = minimum === 0 ? `must be an array of at most ${limit}` : `must be an array of ${minimum} to ${limit}`
  return Schema.Array(item)
    .annotate({ message, description })
    .check(Schema.isMinLength(minimum, { message }), Schema.isMaxLength(bounds.maximum, { message, description }))
}

/** A moment of a request. */
export const moment = (description: string) => {
  const message = "must be an RFC 3339 date-time, such as 2026-03-02T09:30:00Z"
  return Schema.String.annotate({ message })
    .check(
      Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i, {
        format: "date-time",
        message,
        description
      })
    )
    .pipe(Schema.decodeTo(Schema.DateTimeUtcFromString.annotate({ message })))
}

const emailRule = "must be an e-mail address"

/** An e-mail address of a request. */
export const emailAddress = (description: string) =>
  Schema.String.annotate({ message: emailRule, format: "email", description }).pipe(
    Schema.decodeTo(EmailAddress.annotate({ message: emailRule }))
  )

/** The number of a model in a request. */
export const modelNumber = (description: string) =>
  integerBetween(1, 2_147_483_647, description).pipe(Schema.decodeTo(ModelNumber))

/** A model by its number, or that there shall be none. */
export const modelNumberOrNone = (number: number): ModelNumber | 0 => (number === 0 ? 0 : ModelNumber.make(number))

/** An opaque text that an earlier answer gave. One that was altered is refused by whoever made it. */
export const opaque = (description: string) => {
  const message = "must be a value that an earlier answer gave"
  return Schema.String.annotate({ message }).check(Schema.isPattern(/^[\x21-\x7e]{1,2048}$/u, { message, description }))
}
