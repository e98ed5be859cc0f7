/**
 * The models of the sample data: they compile against the real files, everything in them runs, and what they say is
 * what the files hold.
 */
import { Connector, ConnectorDriver, OntologyEngine, Organization, type ResultTable } from "@castellan/core"
import { FilesDriver } from "@castellan/connectors"
import { MalloyEngine } from "@castellan/ontology"
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Duration, Effect, FileSystem, Layer } from "effect"
import * as Sample from "../src/Sample.ts"

const limits: ConnectorDriver.QueryLimits = { timeout: Duration.minutes(1), maxRows: 1000, maxBytes: 10_000_000 }

const makeSample = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* Sample.place(yield* files.makeTempDirectoryScoped())
  const connector = new Connector.Connector({
    id: Connector.ConnectorId.make(1),
    organizationId: Organization.OrganizationId.make("0190a000-0000-7000-8000-000000000001"),
    name: Connector.ConnectorName.make("sample"),
    source: Connector.ConnectorSource.cases.Files.make({ folder }),
    createdAt: DateTime.makeUnsafe(0)
  })
  const names = (yield* files.readDirectory(Sample.ontologyFolder)).toSorted()
  const models = yield* Effect.forEach(names, (path) =>
    Effect.map(files.readFileString(`${Sample.ontologyFolder}/${path}`), (content) => ({ path, content }))
  )
  const input = { files: models, connectors: [connector] }
  const engine = yield* OntologyEngine.OntologyEngine
  const driver = yield* ConnectorDriver.ConnectorDriver
  const tables = yield* driver.tables(connector)
  const sources = yield* engine.describe(input)
  const sql = (statement: string) => Effect.map(driver.query(connector, statement, limits), ({ rows }) => rows)
  const ask = (query: string) => Effect.flatMap(engine.prepare(input, query), (prepared) => sql(prepared.sql))
  return { ask, sources, sql, tables }
})

/** A row with its numbers to nine digits, exact ones included: sums of doubles differ by the order of their rows. */
const rounded = (row: ReadonlyArray<ResultTable.Value>) =>
  row.map((value) => (value === null || Number.isNaN(Number(value)) ? value : Number(Number(value).toPrecision(9))))

/** The sample, placed and compiled once. */
class Prepared extends Context.Service<Prepared, Effect.Success<typeof makeSample>>()("test/Prepared") {}

const layer = Layer.effect(Prepared, makeSample).pipe(
  Layer.provide(MalloyEngine.layer),
  Layer.provide(FilesDriver.layer({ concurrency: 2 })),
  Layer.provide(NodeServices.layer)
)

it.layer(layer, { timeout: "2 minutes", excludeTestServices: true })("the sample's models", (it) => {
  it.effect("every file of the sample is a table, and has a source", () =>
    Effect.gen(function* () {
      const { sources, tables } = yield* Prepared
      assert.lengthOf(tables, 11)
      assert.lengthOf(sources, 11)
    })
  )

  it.effect("every field and view runs, and has rows", () =>
    Effect.gen(function* () {
      const { ask, sources } = yield* Prepared
      for (const source of sources) {
        for (const { kind, name } of source.fields) {
          const clause = kind === "measure" ? "aggregate" : "group_by"
          const rows = yield* ask(`run: ${source.name} -> { ${clause}: ${name}; limit: 5 }`)
          assert.isTrue(
            rows.some(([value]) => value !== null && value !== undefined),
            `${source.name}.${name}`
          )
        }
        for (const { name } of source.views)
          assert.isAbove((yield* ask(`run: ${source.name} -> ${name}`)).length, 1, name)
      }
    })
  )

  it.effect("every source and measure is told in words, and every source has a time but airports", () =>
    Effect.gen(function* () {
      const { sources } = yield* Prepared
      for (const source of sources) {
        assert.isDefined(source.description, source.name)
        if (source.name !== "airports") assert.isDefined(source.timeField, source.name)
        for (const field of source.fields) {
          if (field.kind === "measure") assert.isDefined(field.description, `${source.name}.${field.name}`)
        }
      }
    })
  )

  it.effect("figures of the models are those of hand-written SQL", () =>
    Effect.gen(function* () {
      const { ask, sql } = yield* Prepared
      const pairs: ReadonlyArray<readonly [query: string, statement: string]> = [
        [
          "run: flights -> { group_by: origin.city; aggregate: flight_count, average_delay; order_by: flight_count desc; limit: 5 }",
          `SELECT a.city, count(*), avg(f.delay) FROM flights_3m f LEFT JOIN airports a ON a.iata = f.origin
           GROUP BY 1 ORDER BY 2 DESC LIMIT 5`
        ],
        [
          "run: flights -> { aggregate: late_share, on_time_share }",
          `SELECT 100.0 * count(*) FILTER (WHERE delay > 15) / count(*),
                  100.0 - 100.0 * count(*) FILTER (WHERE delay > 15) / count(*) FROM flights_3m`
        ],
        [
          "run: disasters -> { aggregate: total_deaths }",
          `SELECT sum("Deaths")::BIGINT FROM disasters WHERE "Entity" <> 'All natural disasters'`
        ],
        [
          "run: movies -> { group_by: genre; aggregate: total_worldwide_gross; order_by: total_worldwide_gross desc; limit: 3 }",
          `SELECT "Major Genre", sum("Worldwide Gross")::BIGINT FROM movies GROUP BY 1 ORDER BY 2 DESC LIMIT 3`
        ],
        [
          "run: weather -> { group_by: city; aggregate: wet_day_count, average_high; order_by: city }",
          `SELECT location, count(*) FILTER (WHERE precipitation > 0), avg(temp_max) FROM weather GROUP BY 1 ORDER BY 1`
        ],
        [
          "run: unemployment -> { where: industry = 'Construction'; aggregate: average_unemployed }",
          `SELECT avg("count") FROM unemployment_across_industries WHERE series = 'Construction'`
        ],
        [
          "run: gapminder -> { where: observed_year = 2005; aggregate: total_population, country_count }",
          `SELECT sum(pop)::DOUBLE, count(DISTINCT country) FROM gapminder WHERE year = 2005`
        ],
        [
          "run: stocks -> { group_by: company; aggregate: highest_price; order_by: highest_price desc; limit: 1 }",
          `SELECT 'Google', max(price) FROM stocks WHERE symbol = 'GOOG'`
        ]
      ]
      for (const [query, statement] of pairs) {
        const [asked, written] = [yield* ask(query), yield* sql(statement)]
        assert.deepStrictEqual(asked.map(rounded), written.map(rounded), query)
      }
    })
  )
})
