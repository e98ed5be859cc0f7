/** What is wrong with how requests are refused, as the contract has it, and with what refusals leave behind. */
import { errorStatus } from "@castellan/api/error/ErrorStatus"
import { connectCode, statusOf } from "@castellan/api/rpc/ConnectError"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { Effect } from "effect"
import type { Operation } from "./Operations.ts"
import type { MatrixRequest } from "./Requests.ts"
import type { Refusal } from "./Rule.ts"
import * as Served from "./Served.ts"
import { Witness } from "./Witness.ts"

/** A request as it is sent: with a credential, where the operation takes it from, or with none. */
export const requestWith = (
  { body, headers, operation, url }: MatrixRequest,
  credential: string | undefined
): Request => {
  const own =
    credential === undefined
      ? {}
      : operation.credential === "bearer"
        ? { authorization: `Bearer ${credential}` }
        : { svc_api_key: credential }
  return new Request(url, {
    method: operation.method,
    headers: { ...headers, ...own },
    ...(body === undefined ? {} : { body })
  })
}

/** An envelope, with the words of its message put aside where they are as they should be. */
const envelopeOf = ({ isConnect }: Operation, { code }: Refusal, message: string): unknown =>
  isConnect ? { code: connectCode[code], message, details: [] } : { error: { code, message } }

const messageOf = (text: string): string => {
  const parsed: unknown = JSON.parse(text)
  const found = /"message":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(parsed))?.[1]
  return found === undefined ? "" : String(JSON.parse(found))
}

/** What is wrong with an answer that should be a refusal; nothing when it is as it should be. */
const wrongRefusal = ({ operation }: MatrixRequest, refusal: Refusal, answer: Served.Answer): ReadonlyArray<string> => {
  const { code, message } = refusal
  const status = operation.isConnect ? statusOf(code) : errorStatus[code]
  const said = `${answer.status} ${answer.text.slice(0, 200)}`
  if (answer.status !== status) return [`is ${said}, and should be ${status} ${code} ${String(message)}`]
  const wrong: Array<string> = []
  const words = messageOf(answer.text)
  const isSaid = typeof message === "string" ? words === message : message.test(words)
  if (!isSaid) wrong.push(`says ${said}, and should say ${String(message)}`)
  if (answer.text !== JSON.stringify(envelopeOf(operation, refusal, words))) wrong.push(`has no envelope: ${said}`)
  if (answer.headers.get("content-type") !== "application/json") wrong.push("is no JSON")
  if (answer.headers.get("x-request-id") === null) wrong.push("has no request id")
  const challenge = operation.credential === "bearer" ? "Bearer" : "svc_api_key"
  const expected = code === "unauthenticated" ? challenge : null
  if (answer.headers.get("www-authenticate") !== expected) {
    wrong.push(`has the challenge ${answer.headers.get("www-authenticate")}, and should have ${expected}`)
  }
  if (!operation.failures.includes(status)) wrong.push(`has a status that the contract does not declare: ${status}`)
  return wrong
}

/** What is wrong about what refusals left behind; nothing when that is what they should leave: a record, and no more. */
const wrongTraces = Effect.fnUntraced(function* (organization: OrganizationId, recorded: number) {
  const { deeds, elsewhere, refusals, within } = yield* Witness.use(({ observe }) => observe(organization))
  const changed = [...within, ...elsewhere]
  return [
    ...(changed.length === 0 ? [] : [`changes ${changed.join(", ")}`]),
    ...(deeds === 0 ? [] : ["is on the record as done"]),
    ...(refusals === recorded ? [] : [`is on the record ${refusals} times, and should be ${recorded} times`])
  ]
})

/** Somebody who is to be refused. */
export interface Refused {
  readonly who: string
  /** None where no credential is sent. */
  readonly credential: string | undefined
  readonly refusal: Refusal
}

const isRecorded = ({ refusal }: Refused): boolean => refusal.code === "permission_denied"

/**
 * Has a request refused to everybody who is to be refused; answers with what is wrong about it. What they leave behind
 * is looked at after `each` of them, or of all of them `together`, where looking takes its time.
 */
export const refuse = Effect.fnUntraced(function* (
  organization: OrganizationId,
  request: MatrixRequest,
  everybody: ReadonlyArray<Refused>,
  looks: "each" | "together"
) {
  const wrong: Array<string> = []
  for (const one of everybody) {
    const answer = yield* Served.send(requestWith(request, one.credential))
    const traces = looks === "each" ? yield* wrongTraces(organization, isRecorded(one) ? 1 : 0) : []
    const found = [...wrongRefusal(request, one.refusal, answer), ...traces]
    wrong.push(...found.map((what) => `${one.who}${request.variant}: ${what}`))
  }
  const left = looks === "each" ? [] : yield* wrongTraces(organization, everybody.filter(isRecorded).length)
  return [...wrong, ...left.map((what) => `somebody who is refused${request.variant}: ${what}`)]
})
