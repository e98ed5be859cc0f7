/**
 * The payload of a trigger: a JSON object that is added to the agent's prompt as context, small enough to be read.
 *
 * Source: api-v2.md "Agent webhook" (`payload`); decisions.md §9.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../error/Failure.ts"

/** Bytes of a payload at most, as JSON text in UTF-8. */
export const maximumBytes = 16_384

/** How deep a payload may be nested, itself included: what is read by recursion must come to an end. */
export const maximumDepth = 256

/** A JSON object. */
export const AgentPayload = Schema.Record(Schema.String, Schema.Json)
export type AgentPayload = typeof AgentPayload.Type

const isObject = Schema.is(AgentPayload)

/** A payload, as JSON text. */
export const textOf = (payload: AgentPayload): string => JSON.stringify(payload)

/** The bytes of a text in UTF-8, without making them. A surrogate without its other half takes three. */
const bytesOf = (text: string): number => {
  let bytes = 0
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  }
  return bytes
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null

/** Whether something is nested deeper than a payload may be; told without recursion. */
export const isTooDeep = (sent: unknown): boolean => {
  let level = [sent].filter(isNested)
  for (let depth = 0; depth < maximumDepth && level.length > 0; depth++) {
    level = level.flatMap((value) => Object.values(value).filter(isNested))
  }
  return level.length > 0
}

/** The payload of what an external system sent; absent is an empty one. */
export const parse = (sent: unknown): Result.Result<AgentPayload, InvalidRequest> => {
  if (sent === undefined) return Result.succeed({})
  if (isTooDeep(sent)) {
    return Result.fail(new InvalidRequest({ message: `payload: must not be nested more than ${maximumDepth} deep` }))
  }
  if (!isObject(sent)) return Result.fail(new InvalidRequest({ message: "payload: must be a JSON object" }))
  const bytes = bytesOf(textOf(sent))
  return bytes <= maximumBytes
    ? Result.succeed(sent)
    : Result.fail(
        new InvalidRequest({ message: `payload: must be at most ${maximumBytes} bytes as JSON, and is ${bytes}` })
      )
}
