/**
 * Whatever the tables and columns of a source are called, and whatever is in them, the draft of it compiles.
 */
import { Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { ConnectorDriver, ConnectorError, StatementFailed } from "@castellan/core/connector/ConnectorDriver"
import { OntologyEngine } from "@castellan/core/ontology/OntologyEngine"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as OntologyDraft from "../src/draft/OntologyDraft.ts"
import type { ColumnProfile, KeyReference, TableProfile } from "../src/draft/TableProfile.ts"
import * as MalloyEngine from "../src/malloy/MalloyEngine.ts"
import * as SqlName from "../src/internal/SqlName.ts"

const connector = new Connector({
  id: ConnectorId.make(1),
  organizationId: OrganizationId.make("0190a000-0000-7000-8000-000000000001"),
  name: ConnectorName.make("files"),
  source: ConnectorSource.cases.Files.make({ folder: "/data" }),
  createdAt: DateTime.makeUnsafe(0)
})

/** Names that have broken a generator of text somewhere. */
const awkward = [
  "date",
  "Count",
  "source",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "2024",
  "2024 sales (€)",
  "Größe",
  "客户",
  "a.b",
  "a`b",
  'say "hi"',
  "it's",
  "back\\slash",
  "tab\there",
  "line\nbreak",
  "carriage\rreturn",
  "-- comment",
  "/* comment */",
  "#(castellan) hidden",
  '#" doc',
  "}",
  "{ select: * }",
  "%{x}",
  "${x}",
  "''' or \"\"\"",
  "; drop table x",
  "😀",
  "e\u0301",
  "\u2028",
  "\u202eright to left",
  "customer_id",
  "customerId",
  "CUSTOMER_ID",
  "Weight (kg)",
  "weight_kg",
  "pct %",
  "year",
  "Month",
  "is_active",
  "total_total",
  "_",
  "a".repeat(300),
  " ",
  "."
]

/** A text of a database: UTF-8, which has no halves of characters. */
const Text = AnyText.check(Schema.makeFilter((text: string) => text.isWellFormed(), { expected: "well-formed" }))

const Name = Schema.Union([Schema.Literals(awkward), Text.check(Schema.isNonEmpty())])

const Column = Schema.Struct({
  name: Name,
  kind: Schema.Literals(["text", "integer", "number", "boolean", "date", "timestamp", "json", "decimal", "time"]),
  unique: Schema.Boolean,
  distinct: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
  least: Schema.Int.check(Schema.isBetween({ minimum: -10, maximum: 2100 })),
  spread: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })),
  values: Schema.Array(Schema.Union([Schema.Literals(awkward), Text])),
  temporal: Schema.Literals(["none", "iso", "pattern"])
})

const Table = Schema.Struct({
  name: Name,
  rows: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
  columns: Schema.Array(Column)
})

const sourceTypes = {
  text: "VARCHAR",
  integer: "BIGINT",
  number: "DOUBLE",
  boolean: "BOOLEAN",
  date: "DATE",
  timestamp: "TIMESTAMP",
  json: "JSON",
  decimal: "DECIMAL(18,3)",
  time: "TIME"
} as const

const distinctNames = <A extends { readonly name: string }>(named: ReadonlyArray<A>): ReadonlyArray<A> =>
  Array.from(new Map(named.map((one) => [one.name.toLowerCase(), one])).values())

const columnOf = (column: typeof Column.Type): ColumnProfile => ({
  name: column.name,
  type: column.kind,
  sourceType: sourceTypes[column.kind],
  present: column.distinct,
  distinct: column.distinct,
  unique: column.unique,
  ...(column.kind === "integer" || column.kind === "number" || column.kind === "decimal"
    ? { range: { least: column.least, greatest: column.least + column.spread } }
    : {}),
  ...(column.kind === "text"
    ? {
        common: { values: column.values, complete: true },
        texts: { first: "a", last: "z", shortest: 1, longest: 10 },
        ...(column.temporal === "none"
          ? {}
          : {
              temporal: {
                format:
                  column.temporal === "iso"
                    ? { type: "timestamp" as const }
                    : { type: "date" as const, pattern: "%d' %b" },
                unreadable: column.spread
              }
            })
      }
    : {})
})

const driverOf = (tables: ReadonlyArray<TableProfile>) => {
  const failed = Effect.fail(new ConnectorError({ reason: new StatementFailed({ message: "no data" }) }))
  return Layer.succeed(ConnectorDriver, {
    types: ["files"],
    probe: () => failed,
    tables: () => Effect.succeed(tables.map(({ columns, name }) => ({ name, columns }))),
    describe: (_connector, statement) => {
      const table = tables.find(({ name }) => statement === `SELECT * FROM ${SqlName.quoted(name)}`)
      return table === undefined ? failed : Effect.succeed(table.columns)
    },
    query: () => failed
  })
}

/** Every column of every table refers to the first column of every other, in circles and to itself. */
const everyReference = (tables: ReadonlyArray<TableProfile>): ReadonlyArray<KeyReference> =>
  tables.flatMap((table) =>
    table.columns.slice(0, 3).flatMap((column, index) => {
      const target = tables[index % tables.length]
      const key = target?.columns[0]
      return target === undefined || key === undefined || key.type !== column.type || column.type === "json"
        ? []
        : [
            {
              table: table.name,
              column: column.name,
              toTable: target.name,
              toColumn: key.name,
              toldBy: "values" as const
            }
          ]
    })
  )

describe("OntologyDraft.compose", () => {
  it.effect.prop(
    "compiles whatever names and values come",
    { tables: Schema.Array(Table).check(Schema.isMaxLength(4)) },
    ({ tables }) =>
      Effect.gen(function* () {
        const profiles = distinctNames(tables)
          .map((table): TableProfile => ({
            name: table.name,
            rowCount: table.rows,
            columns: distinctNames(table.columns).map(columnOf)
          }))
          .filter(({ columns }) => columns.length > 0)
        const files = OntologyDraft.compose("files", profiles, everyReference(profiles))
        assert.lengthOf(files, profiles.length)
        const input = { files, connectors: [connector] }
        yield* OntologyEngine.use((engine) =>
          Effect.gen(function* () {
            const sources = yield* engine.describe(input)
            assert.lengthOf(sources, profiles.length)
            // What is described can be asked for by the name it is described by.
            for (const source of sources) {
              for (const { kind, name } of source.fields) {
                const clause = kind === "measure" ? "aggregate" : "group_by"
                yield* engine.prepare(input, `run: ${source.name} -> { ${clause}: ${name} }`)
              }
            }
          })
        ).pipe(
          Effect.provide(MalloyEngine.layer.pipe(Layer.provide(driverOf(profiles)))),
          Effect.catch(({ message }) =>
            Effect.sync(() => assert.fail([message, ...files.map(({ content }) => content)].join("\n")))
          )
        )
      }),
    { arbitrary: { runs: 150 }, timeout: 600_000 }
  )
})
