/**
 * The engine on Malloy: the contract of the port, and what is this engine's own: what it keeps, and for how long.
 */
import { Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { ConnectorDriver, ConnectorError, SourceUnavailable } from "@castellan/core/connector/ConnectorDriver"
import type { TableSchema } from "@castellan/core/connector/TableSchema"
import { OntologyEngine, type OntologyInput } from "@castellan/core/ontology/OntologyEngine"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { suite } from "@castellan/testing/ontology/OntologyEngineContract"
import * as ScriptedDriver from "@castellan/testing/scripted/ScriptedDriver"
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { TestClock } from "effect/testing"
import * as MalloyEngine from "../src/malloy/MalloyEngine.ts"

suite("Malloy", MalloyEngine.layer)

const connector = new Connector({
  id: ConnectorId.make(1),
  organizationId: OrganizationId.make("0190a000-0000-7000-8000-000000000001"),
  name: ConnectorName.make("warehouse"),
  source: ConnectorSource.cases.Files.make({ folder: "/data" }),
  createdAt: DateTime.makeUnsafe(0)
})

const input = (content: string): OntologyInput => ({
  files: [{ path: "model.malloy", content }],
  connectors: [connector]
})

const sales = input("source: sales is warehouse.table('sales') extend { measure: n is count() }")

const schema = (...columns: ReadonlyArray<readonly [name: string, sourceType: string]>): TableSchema => ({
  name: "sales",
  columns: columns.map(([name, sourceType]) => ({ name, sourceType, type: "text" }))
})

/** A source that tells one table, as it is at the moment, and counts how often it was asked. */
const counting = (first: TableSchema | undefined) =>
  Effect.gen(function* () {
    const table = yield* Ref.make(first)
    const asked = yield* Ref.make(0)
    const unavailable = new ConnectorError({ reason: new SourceUnavailable({ message: "the source is away" }) })
    const driver = Layer.succeed(ConnectorDriver, {
      types: ["files"],
      probe: () => Effect.fail(unavailable),
      tables: () =>
        Ref.update(asked, (count) => count + 1).pipe(
          Effect.andThen(Ref.get(table)),
          Effect.flatMap((current) => (current === undefined ? Effect.fail(unavailable) : Effect.succeed([current])))
        ),
      describe: () => Effect.fail(unavailable),
      query: () => Effect.fail(unavailable)
    })
    return { asked, driver, table }
  })

describe("what the engine keeps", () => {
  it.effect("one input is compiled once, also for callers at the same moment", () =>
    Effect.gen(function* () {
      const { asked, driver } = yield* counting(schema(["region", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const query = "run: sales -> { aggregate: n }"
        yield* Effect.all([engine.describe(sales), engine.prepare(sales, query), engine.prepare({ ...sales }, query)], {
          concurrency: "unbounded"
        })
        assert.strictEqual(yield* Ref.get(asked), 1)
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )

  it.effect("a model is read again once it is no longer fresh", () =>
    Effect.gen(function* () {
      const { driver, table } = yield* counting(schema(["region", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const names = Effect.map(engine.describe(sales), ([source]) => source?.fields.map(({ name }) => name))
        assert.deepStrictEqual(yield* names, ["region", "n"])
        yield* Ref.set(table, schema(["region", "VARCHAR"], ["city", "VARCHAR"]))
        yield* TestClock.adjust("9 minutes")
        assert.deepStrictEqual(yield* names, ["region", "n"])
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* names, ["region", "city", "n"])
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )

  it.effect("a model that did not compile is tried again", () =>
    Effect.gen(function* () {
      const { driver, table } = yield* counting(undefined)
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const error = yield* Effect.flip(engine.describe(sales))
        assert.include(error.message, "model.malloy:1:18: the source is away")
        yield* Ref.set(table, schema(["region", "VARCHAR"]))
        assert.lengthOf(yield* engine.describe(sales), 1)
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )

  it.effect("no more models than it has room for: the one used longest ago goes", () =>
    Effect.gen(function* () {
      const { asked, driver } = yield* counting(schema(["region", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const model = (name: string) => input(`source: ${name} is warehouse.table('sales')`)
        const use = (name: string) => engine.prepare(model(name), `run: ${name} -> { select: region }`)
        yield* use("one")
        yield* use("two")
        yield* use("one")
        yield* use("three")
        assert.strictEqual(yield* Ref.get(asked), 3)
        yield* use("one")
        assert.strictEqual(yield* Ref.get(asked), 3)
        yield* use("two")
        assert.strictEqual(yield* Ref.get(asked), 4)
      }).pipe(
        Effect.provide(Layer.provide(MalloyEngine.layerWith({ capacity: 2, timeToLive: Duration.infinity }), driver))
      )
    })
  )

  it.effect("whoever stops waiting for a description stops its statement too", () =>
    Effect.gen(function* () {
      const engine = yield* OntologyEngine
      const scripted = yield* ScriptedDriver.ScriptedDriver
      yield* scripted.hold
      const waiting = yield* Effect.forkChild(engine.describe(sales))
      yield* scripted.started(1)
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(
        (yield* scripted.recorded).map(({ outcome }) => outcome),
        ["interrupted"]
      )
    }).pipe(Effect.provide(Layer.provideMerge(MalloyEngine.layer, ScriptedDriver.layer())))
  )
})

describe("a name that is nearly right", () => {
  it.effect("is answered with the names that were meant", () =>
    Effect.gen(function* () {
      const { driver } = yield* counting(schema(["region", "VARCHAR"], ["customer_city", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const said = (query: string) => Effect.map(Effect.flip(engine.prepare(sales, query)), ({ message }) => message)
        assert.include(yield* said("run: sales -> { group_by: Regoin }"), "did you mean region?")
        assert.include(yield* said("run: sales -> { group_by: city }"), "did you mean customer_city?")
        assert.include(yield* said("run: sale -> { aggregate: n }"), "did you mean sales?")
        assert.notInclude(yield* said("run: sales -> { group_by: temperature }"), "did you mean")
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )
})

describe("for whoever may not use every connector", () => {
  const people = new Connector({ ...connector, id: ConnectorId.make(2), name: ConnectorName.make("hr") })
  const both: OntologyInput = {
    files: [
      { path: "sales.malloy", content: "source: sales is warehouse.table('sales') extend { measure: n is count() }" },
      {
        path: "people.malloy",
        content: [
          "source: layoffs is hr.table('sales') extend { measure: secret_count is count() }",
          "query: layoffs_by_region is layoffs -> { group_by: region; aggregate: secret_count }"
        ].join("\n")
      }
    ],
    connectors: [connector, people],
    visible: ["warehouse"]
  }

  it.effect("what is over the others is not there, and no error or suggestion tells of it", () =>
    Effect.gen(function* () {
      const { driver } = yield* counting(schema(["region", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const { visible: _, ...whole } = both
        assert.sameMembers(
          (yield* engine.describe(whole)).map(({ name }) => name),
          ["layoffs", "sales"]
        )
        assert.include((yield* engine.prepare(whole, "run: layoffs_by_region")).sql, "region")
        assert.deepStrictEqual(
          (yield* engine.describe(both)).map(({ name }) => name),
          ["sales"]
        )
        assert.include((yield* engine.prepare(both, "run: sales -> { aggregate: n }")).sql, "COUNT")
        for (const query of [
          "run: layoffs -> { aggregate: secret_count }",
          "run: layoffs_by_region",
          "run: layoff -> { group_by: x }",
          "run: sales -> { group_by: secret_cuont }",
          "run: sales extend { join_one: x is layoffs on region = x.region } -> { group_by: x.region }",
          "query: q is layoffs -> { group_by: nope }\nrun: sales -> { aggregate: n }",
          "source: s is layoffs extend { dimension: d is secret_count }\nrun: s -> { group_by: d }"
        ]) {
          const { message } = yield* Effect.flip(engine.prepare(both, query))
          assert.notInclude(message, "hr", query)
          assert.notInclude(message.replaceAll("'layoffs'", "").replaceAll("'layoffs_by_region'", ""), "layoffs", query)
          assert.notInclude(message, "secret_count", query)
        }
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )

  it.effect("why the model does not compile is not told", () =>
    Effect.gen(function* () {
      const { driver } = yield* counting(schema(["region", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const broken = { ...both, files: [{ path: "people.malloy", content: "source: a is hr.table('salaries')" }] }
        const { message } = yield* Effect.flip(engine.describe(broken))
        assert.strictEqual(message, "ontology:1:1: the ontology does not compile")
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )
})

describe("types of columns", () => {
  it.effect("each has its kind of field; what Malloy does not know is there, and only to look at", () =>
    Effect.gen(function* () {
      const types: ReadonlyArray<readonly [sourceType: string, type: string]> = [
        ["VARCHAR", "text"],
        ["ENUM('small', 'large')", "text"],
        ["UUID", "text"],
        ["TIME", "text"],
        ["HUGEINT", "number"],
        ["DECIMAL(18,3)", "number"],
        ["BOOLEAN", "boolean"],
        ["DATE", "date"],
        ["TIMESTAMP", "timestamp"],
        ["TIMESTAMP_NS", "timestamp"],
        ["TIMESTAMP WITH TIME ZONE", "timestamp"],
        ["JSON", "json"],
        ["MAP(VARCHAR, INTEGER)", "json"],
        ["BLOB", "json"],
        ["INTERVAL", "json"]
      ]
      const { driver } = yield* counting(schema(...types.map(([sourceType], i) => [`c${i}`, sourceType] as const)))
      const [source] = yield* OntologyEngine.use((engine) => engine.describe(sales)).pipe(
        Effect.provide(Layer.provide(MalloyEngine.layer, driver))
      )
      assert.deepStrictEqual(
        source?.fields.filter(({ kind }) => kind === "dimension").map(({ type }) => type),
        types.map(([, type]) => type)
      )
    })
  )

  it.effect("records and lists are joins inside the row", () =>
    Effect.gen(function* () {
      const { driver } = yield* counting(
        schema(
          ["place", 'STRUCT(city VARCHAR, "at" STRUCT(lat DOUBLE, lon DOUBLE))'],
          ["lines", "STRUCT(sku VARCHAR, quantity INTEGER)[]"],
          ["tags", "VARCHAR[]"]
        )
      )
      const [source] = yield* OntologyEngine.use((engine) => engine.describe(sales)).pipe(
        Effect.provide(Layer.provide(MalloyEngine.layer, driver))
      )
      assert.deepStrictEqual(
        source?.fields.map(({ name, type }) => `${name} ${type}`),
        [
          "n number",
          "place.city text",
          "place.at.lat number",
          "place.at.lon number",
          "lines.sku text",
          "lines.quantity number",
          "tags.each text"
        ]
      )
    })
  )
})

describe("the tags of a model", () => {
  it.effect("a tag that is not one, or not of its kind, is a problem at its place", () =>
    Effect.gen(function* () {
      const { driver } = yield* counting(schema(["region", "VARCHAR"]))
      const problems = yield* OntologyEngine.use((engine) =>
        engine.describe(
          input(
            [
              '#(castellan) lable="Sales"',
              "#(castellan) time=region",
              "source: sales is warehouse.table('sales') extend {",
              "  measure:",
              '    #(castellan) unit=["a", "b"]',
              "    n is count()",
              "    #(castellan) hidden=no",
              "    m is count()",
              '    #(castellan) label="never ends',
              "    o is count()",
              "}"
            ].join("\n")
          )
        )
      ).pipe(Effect.flip, Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
      assert.deepStrictEqual(
        problems.problems.map(({ line, message }) => [line, message.split(/[;:]/)[0]]),
        [
          [1, '"lable" is not a tag of a source'],
          [2, 'the tag "time" names "region", which is not a time field of sales'],
          [5, 'the tag "unit" takes one text'],
          [7, 'the tag "hidden" stands alone, without a value'],
          [9, "Unterminated string"]
        ]
      )
    })
  )

  it.effect("hidden fields are not described, and can be used", () =>
    Effect.gen(function* () {
      const { driver } = yield* counting(schema(["region", "VARCHAR"]))
      yield* Effect.gen(function* () {
        const engine = yield* OntologyEngine
        const model = input(
          "source: sales is warehouse.table('sales') extend {\n  rename:\n  #(castellan) hidden\n  area is region\n}"
        )
        assert.deepStrictEqual((yield* engine.describe(model))[0]?.fields, [])
        assert.include((yield* engine.prepare(model, "run: sales -> { group_by: area }")).sql, "region")
      }).pipe(Effect.provide(Layer.provide(MalloyEngine.layer, driver)))
    })
  )
})
