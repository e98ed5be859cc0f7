/**
 * What every adapter of the `OntologyEngine` port does, whichever compiler is behind it: models in the ontology's
 * language over tables in memory, described, compiled and refused.
 *
 * Source: decisions.md §5 ("The service's query language is that model's language"; "A change that does not compile is
 * refused with file, line and column").
 */
import { Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import type { ConnectorDriver } from "@castellan/core/connector/ConnectorDriver"
import type { OntologyFile } from "@castellan/core/ontology/Ontology"
import { OntologyEngine, type OntologyInput, type OntologyProblem } from "@castellan/core/ontology/OntologyEngine"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ScriptedDriver from "../scripted/ScriptedDriver.ts"

const connector = (name: string, id = 1) =>
  new Connector({
    id: ConnectorId.make(id),
    organizationId: OrganizationId.make("0190a000-0000-7000-8000-000000000001"),
    name: ConnectorName.make(name),
    source: ConnectorSource.cases.Files.make({ folder: "/data" }),
    createdAt: DateTime.makeUnsafe(0)
  })

const warehouse = connector("warehouse")

const tables: ReadonlyArray<ScriptedDriver.ScriptedTable> = [
  {
    name: "flights",
    columns: [
      { name: "departed_at", type: "timestamp" },
      { name: "carrier", type: "text" },
      { name: "origin", type: "text" },
      { name: "delay", type: "integer" },
      { name: "cancelled", type: "boolean" }
    ],
    rows: []
  },
  {
    name: "airports",
    columns: [
      { name: "code", type: "text" },
      { name: "city", type: "text" },
      { name: "opened", type: "date" }
    ],
    rows: []
  }
]

const flights: OntologyFile = {
  path: "flights.malloy",
  content: `import "places/airports.malloy"

#" Every departure.
#(castellan) label="Departures" synonyms=["flights", "trips"]
source: flights is warehouse.table('flights') extend {
  join_one: origin_airport is airports on origin = origin_airport.code

  #" Minutes after the scheduled time.
  #(castellan) label="Late by" unit="minutes" synonyms=["delay"]
  dimension: departure_delay is delay

  #(castellan) values=["B6", "AA"]
  dimension: airline is carrier

  #(castellan) first="2001-01-01" last="2001-06-30"
  dimension: departure_date is departed_at::date

  measure:
    #" How many departures.
    flight_count is count()
    #(castellan) unit="minutes"
    average_delay is delay.avg()

  #" The airlines with the most departures.
  view: by_airline is { group_by: airline; aggregate: flight_count }
}
`
}

const airports: OntologyFile = {
  path: "places/airports.malloy",
  content: `source: airports is warehouse.table('airports') extend {
  primary_key: code
}
`
}

const model: OntologyInput = { files: [flights, airports], connectors: [warehouse] }

const only = (content: string, path = "model.malloy"): OntologyInput => ({
  files: [{ path, content }],
  connectors: [warehouse]
})

const place = ({ column, line, path }: OntologyProblem) => `${path}:${line}:${column}`

const problemsOf = (input: OntologyInput) =>
  OntologyEngine.use((engine) => Effect.map(Effect.flip(engine.describe(input)), ({ problems }) => problems))

const problemsOfQuery = (query: string) =>
  OntologyEngine.use((engine) => Effect.map(Effect.flip(engine.prepare(model, query)), ({ problems }) => problems))

const only1 = (problems: ReadonlyArray<OntologyProblem>): OntologyProblem => {
  assert.lengthOf(problems, 1)
  const [problem] = problems
  return problem ?? assert.fail("no problem")
}

/** The suite: hand it the adapter as a layer over the connector port. */
export const suite = <E>(name: string, layer: Layer.Layer<OntologyEngine, E, ConnectorDriver>) =>
  it.layer(Layer.provideMerge(layer, ScriptedDriver.layer({ tables })), { timeout: "180 seconds" })(
    `OntologyEngine (${name})`,
    (it) => {
      it.effect("an empty folder has no sources", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          assert.deepStrictEqual(yield* engine.describe({ files: [], connectors: [warehouse] }), [])
        })
      )

      it.effect("files that are not models are left alone", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          assert.deepStrictEqual(yield* engine.describe(only("# Our ontology", "README.md")), [])
        })
      )

      it.effect("sources come in the order of their names, with what the model says of them", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const sources = yield* engine.describe(model)
          assert.deepStrictEqual(
            sources.map((source) => source.name),
            ["airports", "flights"]
          )
          const [first, second] = sources
          assert.strictEqual(first?.primaryKey, "code")
          assert.strictEqual(first?.label, "Airports")
          assert.strictEqual(first?.timeField, "opened")
          assert.strictEqual(second?.connector, "warehouse")
          assert.strictEqual(second?.label, "Departures")
          assert.strictEqual(second?.description, "Every departure.")
          assert.deepStrictEqual(second?.synonyms, ["flights", "trips"])
          assert.deepStrictEqual(second?.views, [
            { name: "by_airline", description: "The airlines with the most departures." }
          ])
        })
      )

      it.effect("fields have a kind, a type, a label, and the place of their declaration", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const source = (yield* engine.describe(model)).find((candidate) => candidate.name === "flights")
          const field = (wanted: string) => source?.fields.find((candidate) => candidate.name === wanted)
          assert.deepStrictEqual(field("departure_delay"), {
            name: "departure_delay",
            kind: "dimension",
            type: "number",
            label: "Late by",
            description: "Minutes after the scheduled time.",
            synonyms: ["delay"],
            unit: "minutes",
            location: { path: "flights.malloy", line: 10 }
          })
          assert.deepStrictEqual(field("airline")?.values, ["AA", "B6"])
          assert.deepStrictEqual(field("departure_date")?.timeRange, { first: "2001-01-01", last: "2001-06-30" })
          assert.strictEqual(field("departure_date")?.type, "date")
          assert.strictEqual(field("cancelled")?.type, "boolean")
          assert.strictEqual(field("departed_at")?.type, "timestamp")
          assert.strictEqual(field("carrier")?.type, "text")
          assert.strictEqual(field("carrier")?.label, "Carrier")
          assert.strictEqual(field("flight_count")?.kind, "measure")
          assert.strictEqual(field("flight_count")?.description, "How many departures.")
          assert.strictEqual(field("average_delay")?.label, "Average delay")
          assert.strictEqual(field("average_delay")?.unit, "minutes")
        })
      )

      it.effect("fields behind a join carry its path", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const source = (yield* engine.describe(model)).find((candidate) => candidate.name === "flights")
          const joined = source?.fields.find((candidate) => candidate.name === "origin_airport.city")
          assert.strictEqual(joined?.kind, "dimension")
          assert.strictEqual(joined?.label, "Origin airport city")
          assert.strictEqual(joined?.location?.path, "places/airports.malloy")
        })
      )

      it.effect("a source that does not answer is described without what its data would tell", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const source = (yield* engine.describe(model)).find((candidate) => candidate.name === "airports")
          assert.isFalse(source?.fields.some((field) => "values" in field || "timeRange" in field))
        })
      )

      it.effect("every problem of every file has its place, counted from 1", () =>
        Effect.gen(function* () {
          const problems = yield* problemsOf({
            files: [
              {
                path: "a.malloy",
                content: "source: a is warehouse.table('flights') extend {\n  dimension: x is nope\n}"
              },
              { path: "b.malloy", content: "\nsource: b is warehouse.table('flights') extend {" },
              { path: "c.malloy", content: "source: c is warehouse.table('flights')" }
            ],
            connectors: [warehouse]
          })
          assert.deepStrictEqual(problems.map(place), ["a.malloy:2:19", "b.malloy:2:49"])
        })
      )

      it.effect("a connector or a table that is not there is a problem where it is named", () =>
        Effect.gen(function* () {
          const stranger = only1(yield* problemsOf(only("\nsource: a is elsewhere.table('flights')")))
          assert.strictEqual(place(stranger), "model.malloy:2:14")
          assert.include(stranger.message, "elsewhere")
          const missing = only1(yield* problemsOf(only("source: a is warehouse.table('nothing')")))
          assert.strictEqual(place(missing), "model.malloy:1:14")
          assert.include(missing.message, "nothing")
        })
      )

      it.effect("an import stays inside the folder", () =>
        Effect.gen(function* () {
          for (const target of ["../flights.malloy", "/etc/passwd", "https://example.com/a.malloy", "nothing.malloy"]) {
            const problem = only1(yield* problemsOf(only(`import ${JSON.stringify(target)}`)))
            assert.strictEqual(place(problem), "model.malloy:1:8", target)
          }
        })
      )

      it.effect("files that import each other in a circle are told so, not compiled for ever", () =>
        Effect.gen(function* () {
          const problems = yield* problemsOf({
            files: [
              { path: "a.malloy", content: 'import "b.malloy"' },
              { path: "b.malloy", content: '\nimport "a.malloy"' }
            ],
            connectors: [warehouse]
          })
          assert.deepStrictEqual(
            problems.map(({ line, path }) => `${path}:${line}`),
            ["a.malloy:1", "b.malloy:2"]
          )
        })
      )

      it.effect("one name belongs to one file", () =>
        Effect.gen(function* () {
          const content = "source: flights is warehouse.table('flights')"
          const problems = yield* problemsOf({
            files: [
              { path: "a.malloy", content },
              { path: "b.malloy", content: `\n${content}` }
            ],
            connectors: [warehouse]
          })
          assert.strictEqual(only1(problems).path, "b.malloy")
          assert.strictEqual(only1(problems).line, 2)
        })
      )

      it.effect("a query becomes one statement of its source's connector, which is not run", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const scripted = yield* ScriptedDriver.ScriptedDriver
          const before = yield* scripted.recorded
          const prepared = yield* engine.prepare(
            model,
            "run: flights -> { group_by: origin_airport.city; aggregate: flight_count; limit: 5 }"
          )
          assert.deepStrictEqual(prepared.connector, warehouse)
          assert.match(prepared.sql, /^(select|with)\s/iu)
          assert.match(prepared.sql, /"?flights"?/u)
          assert.notInclude(prepared.sql, ";")
          assert.deepStrictEqual(yield* scripted.recorded, before)
        })
      )

      it.effect("a view runs as it stands, and refined", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          yield* engine.prepare(model, "run: flights -> by_airline")
          const refined = yield* engine.prepare(model, "run: flights -> by_airline + { where: airline = 'AA' }")
          assert.include(refined.sql, "AA")
        })
      )

      it.effect("a query that does not compile says where, in the query", () =>
        Effect.gen(function* () {
          const unknown = only1(yield* problemsOfQuery("run: flights -> {\n  group_by: nope\n}"))
          assert.strictEqual(place(unknown), "query:2:13")
          assert.include(unknown.message, "nope")
          assert.strictEqual(only1(yield* problemsOfQuery("run: flights -> {")).path, "query")
          assert.strictEqual(only1(yield* problemsOfQuery("run: nothing -> { aggregate: n is count() }")).column, 6)
        })
      )

      it.effect("a query is one run statement", () =>
        Effect.gen(function* () {
          assert.include(only1(yield* problemsOfQuery("")).message, "run:")
          const twice = only1(yield* problemsOfQuery("run: flights -> by_airline\nrun: flights -> by_airline"))
          assert.strictEqual(twice.line, 2)
        })
      )

      it.effect("a query uses what the model offers, and nothing past it", () =>
        Effect.gen(function* () {
          for (const query of [
            `run: warehouse.sql("select 1 as one") -> { select: * }`,
            `run: warehouse.table("airports") -> { select: * }`,
            `source: x is warehouse.sql("select 1 as one")\nrun: x -> { select: * }`,
            `import "places/airports.malloy"\nrun: flights -> by_airline`,
            `##! experimental.parameters\nrun: flights -> by_airline`,
            `run: flights -> { aggregate: x is sql_number("1") }`,
            `run: flights -> { group_by: x is getenv!string('HOME') }`
          ]) {
            const problems = yield* problemsOfQuery(query)
            assert.isAbove(problems.length, 0, query)
            assert.isTrue(
              problems.every(({ path }) => path === "query"),
              query
            )
          }
        })
      )

      it.effect("hostile nesting is refused", () =>
        Effect.gen(function* () {
          const depth = 4000
          const nested = `${"(".repeat(depth)}1${")".repeat(depth)}`
          const problems = yield* problemsOfQuery(`run: flights -> { group_by: x is ${nested} }`)
          assert.isAbove(problems.length, 0)
        })
      )

      it.effect("inputs are never mixed: each caller gets its own connector and its own files", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const query = "run: flights -> by_airline"
          const other = connector("warehouse", 2)
          const mine = yield* engine.prepare(model, query)
          const theirs = yield* engine.prepare({ ...model, connectors: [other] }, query)
          assert.strictEqual(mine.connector.id, 1)
          assert.strictEqual(theirs.connector.id, 2)
          const changed = {
            ...flights,
            content: flights.content.replace("flight_count is count()", "flight_count is 2 * count()")
          }
          const edited = yield* engine.prepare({ ...model, files: [changed, airports] }, query)
          assert.include(edited.sql, "2")
          assert.strictEqual((yield* engine.prepare(model, query)).sql, mine.sql)
        })
      )

      it.effect("a definition inside a query is gone with it", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const definition = "source: late is flights extend { where: delay > 15 }"
          const query = "run: late -> { aggregate: flight_count }"
          assert.include((yield* engine.prepare(model, `${definition}\n${query}`)).sql, "15")
          assert.lengthOf(yield* problemsOfQuery(query), 1)
        })
      )

      it.effect("queries compile side by side", () =>
        Effect.gen(function* () {
          const engine = yield* OntologyEngine
          const limits = Array.from({ length: 20 }, (_, index) => index + 1)
          const prepared = yield* Effect.forEach(
            limits,
            (limit) => engine.prepare(model, `run: flights -> by_airline + { limit: ${limit} }`),
            { concurrency: "unbounded" }
          )
          for (const [index, { sql }] of prepared.entries()) assert.match(sql, new RegExp(`LIMIT ${index + 1}$`, "iu"))
        })
      )
    }
  )
