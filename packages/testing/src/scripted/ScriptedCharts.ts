/**
 * A chart renderer that draws nothing: for tests of whatever stands on the `ChartRenderer` port.
 *
 * It refuses a specification without a `mark`, and one that brings data of its own; the rest becomes the smallest
 * pictures there are, with the data inside the specification as a real renderer would leave it.
 */
import { ChartRenderer, ChartSpecificationInvalid } from "@castellan/core/asset/ChartRenderer"
import { records } from "@castellan/core/connector/ResultTable"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Specification = Schema.Record(Schema.String, Schema.Unknown)
const isSpecification = Schema.is(Specification)

/** A PNG of one transparent pixel. */
const pixel = Uint8Array.of(
  0x89,
  0x50,
  0x4e,
  0x47,
  0x0d,
  0x0a,
  0x1a,
  0x0a,
  0x00,
  0x00,
  0x00,
  0x0d,
  0x49,
  0x48,
  0x44,
  0x52,
  0x00,
  0x00,
  0x00,
  0x01,
  0x00,
  0x00,
  0x00,
  0x01,
  0x08,
  0x06,
  0x00,
  0x00,
  0x00,
  0x1f,
  0x15,
  0xc4,
  0x89,
  0x00,
  0x00,
  0x00,
  0x0d,
  0x49,
  0x44,
  0x41,
  0x54,
  0x78,
  0x9c,
  0x63,
  0x60,
  0x60,
  0x60,
  0x60,
  0x00,
  0x00,
  0x00,
  0x05,
  0x00,
  0x01,
  0xa5,
  0xf6,
  0x45,
  0x40,
  0x00,
  0x00,
  0x00,
  0x00,
  0x49,
  0x45,
  0x4e,
  0x44,
  0xae,
  0x42,
  0x60,
  0x82
)

/** A renderer of the smallest pictures. */
export const layer: Layer.Layer<ChartRenderer> = Layer.succeed(ChartRenderer, {
  render: Effect.fn("ScriptedCharts.render")(function* (specification, data) {
    if (!isSpecification(specification)) {
      return yield* new ChartSpecificationInvalid({ message: "the specification is not an object" })
    }
    if ("data" in specification) {
      return yield* new ChartSpecificationInvalid({ message: "data: must not be given; the result is bound to it" })
    }
    if (!("mark" in specification)) {
      return yield* new ChartSpecificationInvalid({ message: "mark: is missing" })
    }
    return {
      specification: JSON.stringify({ ...specification, data: { values: records(data) } }),
      svg: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
      png: pixel
    }
  })
})
