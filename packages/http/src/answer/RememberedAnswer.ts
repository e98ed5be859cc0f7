/**
 * Answers with what is read over and over and seldom changes: a store that remembers what a row was decoded to gives the
 * same value for it each time, and what that value is on the wire is worked out once. It is forgotten with the value.
 */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"

/** The answer with a value, as a schema of the contract has it. Throws where the value does not fit: it is a defect. */
export const make = <Value extends object, Wire>(
  schema: Schema.Codec<Wire, unknown>,
  wireOf: (value: Value) => Wire
): ((value: Value) => HttpServerResponse.HttpServerResponse) => {
  const encode = Schema.encodeSync(Schema.toCodecJson(schema))
  const known = new WeakMap<Value, HttpServerResponse.HttpServerResponse>()
  return (value) => {
    const found = known.get(value)
    if (found !== undefined) return found
    const answer = HttpServerResponse.text(JSON.stringify(encode(wireOf(value))), { contentType: "application/json" })
    known.set(value, answer)
    return answer
  }
}
