/**
 * What every operation of the contract says and does alike.
 */
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"

/** The name of an operation in the OpenAPI document, and its words for people. */
export const operation = (identifier: string, summary: string, description: string) =>
  OpenApi.annotations({ identifier, summary, description })

/** What decoding reports of a query or a body: the input of the field that was refused, for the message. */
export const reportingInput = Context.make(HttpApi.QueryParseOptions, { reportInput: true }).pipe(
  Context.add(HttpApi.PayloadParseOptions, { reportInput: true })
)

/** A body that may be left out. It then reaches the handler as `undefined`. */
export const optionalBody = <S extends Schema.Top>(body: S) => [body, Schema.Undefined] as const
