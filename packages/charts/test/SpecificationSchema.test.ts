/**
 * Our walk over Vega-Lite's schema accepts what Ajv, the reference, accepts, and refuses what Ajv refuses.
 */
import * as Safety from "../src/internal/specification/Safety.ts"
import * as SpecificationSchema from "../src/internal/specification/SpecificationSchema.ts"
import { sentence, type Json, type JsonObject } from "../src/internal/specification/Json.ts"
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { examples } from "./Gallery.ts"
import * as Mutation from "./Mutation.ts"

const require = createRequire(import.meta.url)
const schema: Record<string, unknown> = JSON.parse(
  readFileSync(require.resolve("vega-lite/vega-lite-schema.json"), "utf8")
)
const ajv = new Ajv({ strict: false, validateFormats: false })
const reference = ajv.compile(schema)

const accepts = (specification: JsonObject): boolean => SpecificationSchema.check(specification) === undefined

/** Both see the data as bound. Ajv judges all kinds of view at once; ours goes by the keys, as Vega-Lite does. */
const referenceAccepts = (specification: JsonObject): boolean =>
  reference({ ...specification, data: { name: "result" } })

const specifications = examples.map(({ specification }): JsonObject => JSON.parse(JSON.stringify(specification)))

describe("SpecificationSchema", () => {
  it.each(examples)("accepts the gallery: $name", ({ specification }) => {
    const copy: JsonObject = JSON.parse(JSON.stringify(specification))
    assert.isTrue(referenceAccepts(copy))
    assert.isTrue(accepts(copy))
  })

  it.prop(
    "agrees with Ajv about specifications that were changed at random",
    { mutation: Mutation.Seed },
    ({ mutation }) => {
      const specification = Mutation.apply(specifications, mutation)
      assert.strictEqual(accepts(specification), referenceAccepts(specification), JSON.stringify(specification))
    },
    { arbitrary: { runs: 1500 } }
  )

  const messages: ReadonlyArray<readonly [Json, string]> = [
    [
      { mark: "bar", encoding: { x: { field: "a", type: "nominall" } } },
      'encoding.x.type: must be one of "quantitative", "ordinal", "temporal", "nominal", but is "nominall"; did you mean "nominal"?'
    ],
    [{ mark: "bar", encoding: { x: { feild: "a" } } }, '"field"?'],
    [{ mark: { type: "bar", opacity: 2 } }, "mark.opacity: must be at most 1, but is 2."],
    [
      { mark: "bar", encoding: { x: { field: "a", axis: { labelAngle: "left" } } } },
      "encoding.x.axis.labelAngle: must be a number"
    ],
    [{ mark: "bar", encoding: { x: { field: "a", aggregate: "avg" } } }, 'did you mean "average"?'],
    [{ mark: "bar", transform: [{ filter: 3 }] }, "transform[0].filter: must be"],
    [{ layer: [{ mark: "line" }, { mark: "rulee" }] }, "layer[1].mark: must be one of"],
    [
      { mark: "bar", encoding: { y: { field: "a", scale: { type: "linaer" } } } },
      "encoding.y.scale.type: must be one of"
    ],
    [{ mark: "bar", width: "wide" }, "width: must be"],
    [{ mark: "bar", encoding: { x: { field: "a", datum: 3 } } }, "does not go together with"],
    [{ vconcat: [{ mark: "bar" }, {}] }, "vconcat[1]: "]
  ]
  it.each(messages)("says what is wrong: %j", (specification, expected) => {
    assert.isTrue(isObject(specification))
    if (!isObject(specification)) return
    const problem = Safety.check(specification) ?? SpecificationSchema.check(specification)
    assert.include(problem === undefined ? "nothing" : sentence(problem), expected)
  })
})

const isObject = (value: Json): value is JsonObject => Schema.is(Schema.Record(Schema.String, Schema.Unknown))(value)
