/**
 * Errors of the operations that speak the Connect protocol, in its terms: those that an operation fails with have them
 * from the contract, all others get them here, where the answer leaves.
 *
 * Source: decisions.md §2 ("A stock Connect client must work against these operations"); Connect protocol, "Unary
 * Response", "Error Codes".
 */
import { connectBody, type ConnectErrorBody, connectStatus, statusOf } from "@castellan/api/rpc/ConnectError"
import { ErrorEnvelope } from "@castellan/api/error/ErrorEnvelope"
import { errorStatus, requestStatus } from "@castellan/api/error/ErrorStatus"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Challenge } from "./ConnectRoutes.ts"

const decodeEnvelope = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorEnvelope))

const envelopeOf = ({ body }: HttpServerResponse.HttpServerResponse): Option.Option<ErrorEnvelope["error"]> =>
  body._tag === "Uint8Array"
    ? Option.map(decodeEnvelope(new TextDecoder().decode(body.body)), ({ error }) => error)
    : Option.none()

/** An answer in the protocol's terms. */
interface ConnectAnswer {
  readonly status: number
  readonly body: ConnectErrorBody
}

/**
 * The same in the protocol's terms. Where HTTP has a status of its own for what is wrong, the protocol has it as well,
 * with the code that its clients take from that status.
 */
const translated = (status: number, { code, message }: ErrorEnvelope["error"]): ConnectAnswer => {
  const own = (connectCode: ConnectErrorBody["code"]) => ({ status, body: { code: connectCode, message, details: [] } })
  switch (status) {
    case requestStatus.methodNotAllowed:
    case requestStatus.unsupportedMediaType:
      return own("unknown")
    case requestStatus.contentTooLarge:
      return own("resource_exhausted")
    case connectStatus.unavailable:
      return own("unavailable")
    default:
      return { status: statusOf(code), body: connectBody(code, message) }
  }
}

/** A response with an error of the protocol's. */
export const make = ({ body, status }: ConnectAnswer): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

/** Headers that HTTP asks for beside the error. */
const headersOf = (status: number, challenge: Challenge): Readonly<Record<string, string>> => {
  switch (status) {
    case errorStatus.unauthenticated:
      return { "www-authenticate": challenge }
    case requestStatus.unsupportedMediaType:
      return { "accept-post": "application/json" }
    default:
      return {}
  }
}

/**
 * The answer of an operation of the protocol, in its terms where it is an error; any other answer is left alone.
 * `challenge` is how the operation asks for its credential.
 */
export const inTerms = (
  response: HttpServerResponse.HttpServerResponse,
  challenge: Challenge | undefined
): HttpServerResponse.HttpServerResponse => {
  if (challenge === undefined || response.status < 400) return response
  const answer = Option.match(envelopeOf(response), {
    onNone: () => response,
    onSome: (error) => {
      const { body, status } = translated(response.status, error)
      return response.pipe(HttpServerResponse.setBody(HttpBody.jsonUnsafe(body)), HttpServerResponse.setStatus(status))
    }
  })
  return HttpServerResponse.setHeaders(answer, headersOf(response.status, challenge))
}
