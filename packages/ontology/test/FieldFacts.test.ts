/**
 * What the data adds to a description, over real files and the real source.
 */
import * as FilesDriver from "@castellan/connectors/files/FilesDriver"
import type { OntologyField } from "@castellan/core/ontology/Ontology"
import { OntologyEngine } from "@castellan/core/ontology/OntologyEngine"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MalloyEngine from "../src/malloy/MalloyEngine.ts"
import * as Folder from "./support/Folder.ts"

const rows = 20_000

/** 50 and 51 different values, evenly and unevenly spread; 3 with gaps; a date; long text. */
const events = [
  "fifty,fiftyone,uneven,gaps,seen_on,prose,flag,place_id",
  ...Array.from({ length: rows }, (_, i) =>
    [
      `v${String(i % 50).padStart(2, "0")}`,
      `w${i % 51}`,
      i < 49 ? `rare${i}` : "common",
      i % 3 === 0 ? "" : `g${i % 3}`,
      `2024-0${(i % 6) + 1}-1${i % 9}`,
      `${"long ".repeat(30)}${i % 4}`,
      i % 2 === 0 ? "true" : "false",
      (i % 4) + 1
    ].join(",")
  ),
  ""
].join("\n")

const places = ["place_id,city", "1,Rome", "2,Oslo", "3,Lima", "4,Kyiv", ""].join("\n")

const model = `
source: places is files.table('places') extend { primary_key: place_id }

source: events is files.table('events') extend {
  join_one: place is places on place_id = place.place_id
  dimension:
    shouted is upper(gaps)
    #(castellan) no_values
    withheld is gaps
    #(castellan) values=["only", "these"]
    told is gaps
    moment is seen_on::timestamp
  measure: event_count is count()
}

source: few is events extend { where: gaps = 'g1' }

source: broken is events extend { dimension: fails is error!string('no') }

source: constant is files.sql("SELECT 'x' AS letter, DATE '2020-02-29' AS leap_day, [1, 2] AS numbers")
`

/** The description of the model over the files, made once. */
class Described extends Context.Service<
  Described,
  { readonly field: (source: string, name: string) => OntologyField }
>()("test/Described") {}

const described = Layer.effect(
  Described,
  Effect.gen(function* () {
    const folder = yield* Folder.make({ "events.csv": events, "places.csv": places })
    const input = { files: [{ path: "model.malloy", content: model }], connectors: [Folder.connector(folder)] }
    const sources = yield* OntologyEngine.use((engine) => engine.describe(input))
    return {
      field: (source, name) =>
        sources.find((candidate) => candidate.name === source)?.fields.find((candidate) => candidate.name === name) ??
        assert.fail(`no ${source}.${name}`)
    }
  })
)

const layer = described.pipe(Layer.provide(MalloyEngine.layer), Layer.provide(FilesDriver.layer({ concurrency: 1 })))

it.layer(layer, { timeout: "180 seconds", excludeTestServices: true })("the data in a description", (it) => {
  it.effect("a text field of at most 50 values has them all, in order", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.deepStrictEqual(
        field("events", "fifty").values,
        Array.from({ length: 50 }, (_, i) => `v${String(i).padStart(2, "0")}`)
      )
      assert.lengthOf(field("events", "uneven").values ?? [], 50)
      assert.deepStrictEqual(field("events", "gaps").values, ["g1", "g2"])
      assert.deepStrictEqual(field("events", "shouted").values, ["G1", "G2"])
    })
  )

  it.effect("one of more values, or of prose, or of another type, has none", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      for (const name of ["fiftyone", "prose", "flag", "event_count"]) {
        assert.isFalse("values" in field("events", name), name)
      }
    })
  )

  it.effect("the model's own lists win, and values that it withholds stay out", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.deepStrictEqual(field("events", "told").values, ["only", "these"])
      assert.isFalse("values" in field("events", "withheld"))
    })
  )

  it.effect("a time field has its first and last moment", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.deepStrictEqual(field("events", "seen_on").timeRange, { first: "2024-01-10", last: "2024-06-18" })
      assert.deepStrictEqual(field("events", "moment").timeRange, {
        first: "2024-01-10T00:00:00",
        last: "2024-06-18T00:00:00"
      })
    })
  )

  it.effect("a field behind a join has the values of the joined source", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.deepStrictEqual(field("events", "place.city").values, ["Kyiv", "Lima", "Oslo", "Rome"])
    })
  )

  it.effect("a source's own filter holds for its values", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.deepStrictEqual(field("few", "gaps").values, ["g1"])
    })
  )

  it.effect("a source that fails over its data is described without it, and the others with theirs", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.isFalse("values" in field("broken", "gaps"))
      assert.isFalse("values" in field("broken", "fails"))
      assert.strictEqual(field("broken", "fails").type, "text")
      assert.deepStrictEqual(field("events", "gaps").values, ["g1", "g2"])
    })
  )

  it.effect("a source over a statement is described as one over a table is", () =>
    Effect.gen(function* () {
      const { field } = yield* Described
      assert.deepStrictEqual(field("constant", "letter").values, ["x"])
      assert.deepStrictEqual(field("constant", "leap_day").timeRange, { first: "2020-02-29", last: "2020-02-29" })
      assert.strictEqual(field("constant", "numbers.each").type, "number")
    })
  )
})
