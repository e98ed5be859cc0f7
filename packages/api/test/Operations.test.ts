/**
 * Every operation of the contract, whichever there are: what it takes and answers is what its document shows, and what
 * breaks a rule of the document is refused by a message that names the field and the rule.
 */
import * as InvalidRequestMessage from "@castellan/api/error/InvalidRequestMessage"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { anyOf, codec, type Operation, operations } from "./fixture/Contract.ts"
import { bodyOf, bodySchemaOf, examplesOf, successOf } from "./fixture/ExampleService.ts"
import * as Violations from "./fixture/Violations.ts"

const each = operations.map((operation) => [operation.id, operation] as const)

/** An example of a parameter as it is sent. */
const asText = (example: Schema.Json): unknown => (Array.isArray(example) ? example.map(String) : String(example))
const asTexts = (examples: Record<string, Schema.Json>) =>
  Object.fromEntries(Object.entries(examples).map(([name, example]) => [name.toLowerCase(), asText(example)]))
const namedAsSent = (examples: Record<string, Schema.Json>) =>
  Object.fromEntries(Object.entries(examples).map(([name, example]) => [name, asText(example)]))

const reading = { reportInput: true } as const

/** The message of a refusal; nothing where the value is taken. */
const refusal = (schema: Schema.Codec<unknown>, value: unknown) =>
  Schema.decodeUnknownEffect(
    schema,
    reading
  )(value).pipe(
    Effect.match({
      onSuccess: () => undefined,
      onFailure: ({ issue }) => InvalidRequestMessage.format(issue)
    })
  )

const bodyCodec = (operation: Operation) => anyOf(operation.payloads)
const queryCodec = (schema: Schema.Top) => Schema.toCodecArrayFromSingle(codec(schema))

/** A message that names a field, with words that are ours. */
const names = (message: string | undefined, field: string): boolean =>
  message !== undefined &&
  message.startsWith(`${field}: `) &&
  /: (must |is missing)/.test(message) &&
  !message.includes("must be a valid value")

describe("an example", () => {
  it.effect.each(each)("of %s is taken", ([, operation]) =>
    Effect.gen(function* () {
      if (operation.params !== undefined) {
        yield* Schema.decodeUnknownEffect(codec(operation.params))(namedAsSent(examplesOf(operation, "path")))
      }
      if (operation.query !== undefined) {
        yield* Schema.decodeUnknownEffect(queryCodec(operation.query))(namedAsSent(examplesOf(operation, "query")))
      }
      if (operation.headers !== undefined) {
        yield* Schema.decodeUnknownEffect(codec(operation.headers))(asTexts(examplesOf(operation, "header")))
      }
      if (operation.payloads.length > 0) {
        yield* Schema.decodeUnknownEffect(bodyCodec(operation))(bodyOf(operation))
      }
    })
  )

  it.effect.each(each)("of the answer of %s is sent as it is", ([, operation]) =>
    Effect.gen(function* () {
      const { example, status } = successOf(operation)
      const schemas = operation.successes.get(status)
      if (schemas === undefined) {
        assert.isDefined(operation.stream)
        return
      }
      const value = yield* Schema.decodeUnknownEffect(anyOf(schemas), { onExcessProperty: "error" })(example)
      assert.deepStrictEqual(yield* Schema.encodeEffect(anyOf(schemas))(value), example)
    })
  )
})

describe("what breaks a rule of the document", () => {
  const withBody = each.filter(([, { payloads }]) => payloads.length > 0)

  it.effect.each(withBody)("in the body of %s is refused by the name of the field", ([, operation]) =>
    Effect.gen(function* () {
      const example = bodyOf(operation)
      const violations = Violations.inBody(bodySchemaOf(operation), example)
      for (const violation of violations) {
        const body = Violations.withViolation(example, violation)
        const message = yield* refusal(bodyCodec(operation), body)
        const field = Violations.nameOf(violation.path)
        const shown = JSON.stringify(violation.value)?.slice(0, 60)
        // The word that tells the members of a union apart is missed in the union, not in any of them.
        const isTag = violation.path.at(-1) === "type"
        assert.isTrue(
          names(message, field) || (isTag && message?.includes("must have a type") === true),
          `${field} = ${shown}: ${message}`
        )
      }
    })
  )

  it("is something in the body of nearly every operation that takes one", () => {
    const harmless = withBody
      .filter(([, operation]) => Violations.inBody(bodySchemaOf(operation), bodyOf(operation)).length === 0)
      .map(([id]) => id)
    assert.deepStrictEqual(harmless, ["migrateScimGroupMappingsRpc", "migrateScimGroupMappingsPublicRpc"])
    const all = withBody.flatMap(([, operation]) => Violations.inBody(bodySchemaOf(operation), bodyOf(operation)))
    assert.isAbove(all.length, 450)
  })

  const withQuery = each.filter(([, { query }]) => query !== undefined)

  it.effect.each(withQuery)("in the query of %s is refused by the name of the field", ([id, operation]) =>
    Effect.gen(function* () {
      // Whatever is altered in a signed address is answered alike: by its signature.
      if (operation.query === undefined || id === "getAsset") return
      for (const { in: place, name, required, schema } of operation.described.parameters ?? []) {
        if (place !== "query") continue
        for (const bad of Violations.inText(schema)) {
          const message = yield* refusal(queryCodec(operation.query), {
            ...namedAsSent(examplesOf(operation, "query")),
            [name]: bad
          })
          assert.isTrue(names(message, name) || names(message, `${name}[0]`), `${name}=${bad.slice(0, 60)}: ${message}`)
        }
        if (!required) continue
        const { [name]: _, ...others } = namedAsSent(examplesOf(operation, "query"))
        assert.strictEqual(yield* refusal(queryCodec(operation.query), others), `${name}: is missing`)
      }
    })
  )

  it.effect.each(each.filter(([, { headers }]) => headers !== undefined))(
    "in the headers of %s is refused by the name of the field",
    ([, operation]) =>
      Effect.gen(function* () {
        if (operation.headers === undefined) return
        const headers = asTexts(examplesOf(operation, "header"))
        for (const { in: place, name, schema } of operation.described.parameters ?? []) {
          if (place !== "header") continue
          for (const bad of Violations.inText(schema)) {
            const message = yield* refusal(codec(operation.headers), { ...headers, [name.toLowerCase()]: bad })
            assert.isTrue(names(message, name.toLowerCase()), `${name}=${bad}: ${message}`)
          }
        }
      })
  )

  it.effect.each(each.filter(([, { params }]) => params !== undefined))(
    "in the path of %s is no resource",
    ([, operation]) =>
      Effect.gen(function* () {
        if (operation.params === undefined) return
        const params = namedAsSent(examplesOf(operation, "path"))
        for (const name of Object.keys(params)) {
          if (name === "path") continue
          assert.isDefined(yield* refusal(codec(operation.params), { ...params, [name]: "!" }), name)
        }
      })
  )
})
