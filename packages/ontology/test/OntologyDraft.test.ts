/**
 * Drafts over real folders of files, read by the real source: what they say, that they compile, and that every measure
 * and view in them runs.
 */
import * as FilesDriver from "@castellan/connectors/files/FilesDriver"
import type { OntologySource } from "@castellan/core/ontology/Ontology"
import { OntologyEngine } from "@castellan/core/ontology/OntologyEngine"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OntologyDraft from "../src/draft/OntologyDraft.ts"
import * as MalloyEngine from "../src/malloy/MalloyEngine.ts"
import * as Folder from "./support/Folder.ts"

const lines = (header: string, rows: ReadonlyArray<ReadonlyArray<string | number>>) =>
  [header, ...rows.map((row) => row.join(",")), ""].join("\n")

const count = <A>(length: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length }, (_, index) => make(index))

const at = <A>(list: ReadonlyArray<A>, index: number): A => list[index % list.length] ?? assert.fail("an empty list")

/** A small shop: keys by name, by another name, in circles; odd names; figures that add up and figures that do not. */
const shop = {
  "customers.csv": lines(
    "id,name,country,Birth Date,is_member",
    count(40, (i) => [
      i + 1,
      `Customer ${i + 1}`,
      at(["DE", "FR", "IT"], i),
      `19${60 + (i % 40)}-02-03`,
      i % 2 === 0 ? "true" : "false"
    ])
  ),
  "orders.csv": lines(
    "order_id,customer_id,order_date,Total (USD),discount_pct,status,weight_kg,returned",
    count(200, (i) => [
      1000 + i,
      ((i * 7) % 40) + 1,
      `2024-${String((i % 12) + 1).padStart(2, "0")}-15`,
      (10 + i * 1.5).toFixed(2),
      (i % 5) * 5,
      at(["new", "paid", "shipped"], i),
      (0.5 + i / 10).toFixed(1),
      i % 10 === 0 ? 1 : 0
    ])
  ),
  "employees.csv": lines(
    "employee_id,manager_id,department_id,salary,date",
    count(30, (i) => [i + 1, i === 0 ? "" : Math.floor(i / 3) + 1, (i % 4) + 1, 40_000 + 1000 * i, "2020-01-01"])
  ),
  "departments.csv": lines(
    "department_id,head_employee_id,Name of the Department",
    count(4, (i) => [i + 1, i + 1, at(["Sales", "Research", "Legal", "Support"], i)])
  ),
  "inspections.json": JSON.stringify(
    count(60, (i) => ({
      site: at(["North", "South"], i),
      Inspected: `${(i % 28) + 1}/${(i % 12) + 1}/2023`,
      source: "app",
      year: 2023
    }))
  ),
  "rainfall.csv": lines(
    "Year,Month,rain_mm",
    count(48, (i) => [2000 + Math.floor(i / 12), (i % 12) + 1, 30 + i])
  )
}

const measureOf = (source: OntologySource | undefined, name: string) =>
  source?.fields.find((field) => field.kind === "measure" && field.name === name)

const dimensionOf = (source: OntologySource | undefined, name: string) =>
  source?.fields.find((field) => field.kind === "dimension" && field.name === name)

const drafted = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const connector = Folder.connector(yield* Folder.make(files))
  const input = { files: yield* OntologyDraft.draft(connector), connectors: [connector] }
  const sources = yield* OntologyEngine.use((engine) => engine.describe(input))
  const source = (name: string) => sources.find((candidate) => candidate.name === name)
  const content = (path: string) => input.files.find((file) => file.path === path)?.content ?? ""
  return { content, input, source, sources }
})

/** The draft of the shop, made once. */
class Shop extends Context.Service<Shop, Effect.Success<ReturnType<typeof drafted>>>()("test/Shop") {}

const layer = Layer.effect(Shop, drafted(shop)).pipe(
  Layer.provideMerge(MalloyEngine.layer),
  Layer.provideMerge(FilesDriver.layer({ concurrency: 1 }))
)

it.layer(layer, { timeout: "180 seconds", excludeTestServices: true })("OntologyDraft", (it) => {
  it.effect("a folder without tables has an empty draft", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* drafted({ "notes.txt": "nothing to see" })).input.files, [])
    })
  )

  it.effect("every measure, dimension and view of a draft runs", () =>
    Effect.gen(function* () {
      const { input, sources } = yield* Shop
      assert.lengthOf(sources, 6)
      for (const source of sources) {
        for (const { kind, name } of source.fields) {
          const clause = kind === "measure" ? "aggregate" : "group_by"
          const rows = yield* Folder.rowsOf(input, `run: ${source.name} -> { ${clause}: ${name} }`)
          assert.isAbove(rows.length, 0, `${source.name}.${name}`)
        }
        for (const view of source.views) {
          assert.isAbove((yield* Folder.rowsOf(input, `run: ${source.name} -> ${view.name}`)).length, 0, view.name)
        }
      }
    })
  )

  it.effect("a column that holds another table's key becomes a join, and its figures come out right", () =>
    Effect.gen(function* () {
      const { input, source } = yield* Shop
      assert.strictEqual(source("customers")?.primaryKey, "id")
      assert.isDefined(dimensionOf(source("orders"), "customer.country"))
      const rows = yield* Folder.rowsOf(
        input,
        "run: orders -> { group_by: customer.country; aggregate: order_count; order_by: country }"
      )
      const expected = new Map<string, number>()
      for (const index of count(200, (i) => i)) {
        const country = at(["DE", "FR", "IT"], (index * 7) % 40)
        expected.set(country, (expected.get(country) ?? 0) + 1)
      }
      assert.deepStrictEqual(rows, Array.from(expected).toSorted())
    })
  )

  it.effect("keys that lead in a circle, or back to their own table, still join", () =>
    Effect.gen(function* () {
      const { content, source } = yield* Shop
      assert.isDefined(dimensionOf(source("employees"), "manager.salary"))
      const names = (source("employees")?.fields ?? []).map(({ name }) => name)
      assert.isTrue(names.some((name) => name.startsWith("department.")))
      assert.include(content("departments.malloy"), "head_employee is employees on")
    })
  )

  it.effect("figures that add up are added up, and others are averaged", () =>
    Effect.gen(function* () {
      const { input, source } = yield* Shop
      const orders = source("orders")
      assert.isDefined(measureOf(orders, "order_count"))
      assert.strictEqual(measureOf(orders, "total_weight")?.unit, "kg")
      assert.isUndefined(measureOf(orders, "total_discount_pct"))
      assert.strictEqual(measureOf(orders, "average_discount_pct")?.unit, "%")
      for (const id of ["order_id", "customer_id"]) {
        assert.isUndefined(measureOf(orders, `total_${id}`))
        assert.isUndefined(measureOf(orders, `average_${id}`))
      }
      const amount = orders?.fields.find(({ kind, unit }) => kind === "measure" && unit === "USD")
      assert.isDefined(amount)
      assert.deepStrictEqual(
        yield* Folder.rowsOf(input, "run: orders -> { aggregate: order_count, returned_share, average_discount_pct }"),
        [[200, 10, 10]]
      )
    })
  )

  it.effect("a measure of a draft equals the same figure by hand-written SQL", () =>
    Effect.gen(function* () {
      const { input } = yield* Shop
      const expected = count(48, (i) => 30 + i).reduce((sum, rain) => sum + rain, 0)
      assert.deepStrictEqual(yield* Folder.rowsOf(input, "run: rainfall -> { aggregate: total_rain }"), [[expected]])
    })
  )

  it.effect("times are found, also as text and as years, and the likely one is the default", () =>
    Effect.gen(function* () {
      const { content, source } = yield* Shop
      assert.strictEqual(source("orders")?.timeField, "order_date")
      assert.strictEqual(source("employees")?.timeField, "employee_date")
      const rain = source("rainfall")
      assert.strictEqual(dimensionOf(rain, rain?.timeField ?? "")?.type, "date")
      assert.deepStrictEqual(dimensionOf(rain, rain?.timeField ?? "")?.timeRange, {
        first: "2000-01-01",
        last: "2003-12-01"
      })
      const inspections = source("inspections")
      assert.strictEqual(
        dimensionOf(inspections, inspections?.timeField ?? "")?.type,
        "date",
        content("inspections.malloy")
      )
    })
  )

  it.effect("a column whose name would need quotes gets a better one, and its label keeps the old", () =>
    Effect.gen(function* () {
      const { source } = yield* Shop
      assert.strictEqual(dimensionOf(source("departments"), "name_of_the_department")?.label, "Name of the department")
      assert.strictEqual(dimensionOf(source("inspections"), "inspection_source")?.label, "Source")
      assert.strictEqual(dimensionOf(source("customers"), "birth_date")?.type, "date")
    })
  )

  it.effect("the same columns elsewhere are no join where the values are others", () =>
    Effect.gen(function* () {
      const { content } = yield* drafted({
        "parts.csv": lines(
          "part_id,name",
          count(50, (i) => [i + 1, `Part ${i}`])
        ),
        "sales.csv": lines(
          "part_id,amount",
          count(100, (i) => [5000 + (i % 70), i])
        )
      })
      assert.notInclude(content("sales.malloy"), "join_one")
    })
  )

  it.effect("odd files are drafted: no rows, one column, many columns, strange names", () =>
    Effect.gen(function* () {
      const { input, sources } = yield* drafted({
        "empty.csv": "a,b,c\n",
        "one.csv": lines(
          "value",
          count(5, (i) => [i])
        ),
        "wide.csv": lines(
          count(150, (i) => `column ${i}`).join(","),
          count(20, (i) => count(150, (j) => (j % 3 === 0 ? `t${i % 4}` : i * j)))
        ),
        "Größe & Gewicht 2024.csv": lines(
          '"Größe (cm)",Gewicht_kg,"a ""b"" c",select,客户',
          count(30, (i) => [i, i * 2, "x", "y", `k${i}`])
        ),
        "nested.json": JSON.stringify(
          count(25, (i) => ({
            id: i,
            place: { city: at(["Rome", "Oslo"], i), at: { lat: i, lon: i } },
            tags: ["a", "b"],
            lines: [{ sku: `s${i}`, quantity: i }]
          }))
        )
      })
      assert.isAbove(sources.length, 3)
      for (const source of sources) {
        for (const { kind, name } of source.fields) {
          const clause = kind === "measure" ? "aggregate" : "group_by"
          yield* Folder.rowsOf(input, `run: ${source.name} -> { ${clause}: ${name} }`)
        }
      }
      const nested = sources.find(({ name }) => name === "nested")
      assert.deepStrictEqual(dimensionOf(nested, "place.city")?.values, ["Oslo", "Rome"])
      assert.isDefined(dimensionOf(nested, "lines.quantity"))
      assert.isDefined(dimensionOf(nested, "tags.each"))
    })
  )

  it.effect("the same folder gives the same draft, and nothing is written into it", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.make(shop)
      const connector = Folder.connector(folder)
      const first = yield* OntologyDraft.draft(connector)
      assert.deepStrictEqual(yield* OntologyDraft.draft(connector), first)
      assert.deepStrictEqual(yield* Folder.listing(folder), Object.keys(shop).toSorted())
    })
  )
})
