/** What a model reads of data sources that have more tables and columns than it can read. */
import { bounded, type Kind, matching } from "@castellan/core/analyst/tools/Bounded"
import type { TableColumn, TableSchema } from "@castellan/core/connector/TableSchema"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { call, finished, says, ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const kind: Kind<TableSchema, TableColumn> = {
  noun: "table",
  partNoun: "column",
  nameOf: ({ name }) => name,
  partNameOf: ({ name }) => name,
  partsOf: ({ columns }) => columns,
  withParts: (table, columns) => ({ ...table, columns })
}

const table = (name: string, columns: number): TableSchema => ({
  name,
  columns: Array.from({ length: columns }, (_, index) => ({
    name: `column_${index}`,
    type: "integer",
    sourceType: "BIGINT"
  }))
})

const many = Array.from({ length: 3_000 }, (_, index) => table(`table_${index}`, 20))
const wide = table("wide", 5_000)

const Described = Schema.Struct({
  tables: Schema.Array(Schema.Struct({ name: Schema.String, columns: Schema.Array(Schema.Unknown) })),
  more: Schema.optionalKey(Schema.Array(Schema.String))
})
const describedOf = Schema.decodeUnknownSync(Schema.fromJsonString(Described))

describe("descriptions of data", () => {
  it("are whole where they fit, to the character", () => {
    const all = [table("a", 3), table("b", 2)]
    const length = JSON.stringify(all).length + 1
    assert.deepStrictEqual(bounded(all, length, kind), { described: all, notes: [] })
    assert.isAbove(bounded(all, length - 1, kind).notes.length, 0)
  })

  it("say how many tables are left out, and how many columns of which", () => {
    const tables = bounded(many, 20_000, kind)
    assert.isAtMost(JSON.stringify(tables.described).length, 20_000)
    const left = many.length - tables.described.length
    assert.match(
      tables.notes[0] ?? "",
      new RegExp(`^and ${left} more tables, among them table_${tables.described.length}, `)
    )
    assert.isAtMost(JSON.stringify(tables.notes).length, 4_000)
    const columns = bounded([table("narrow", 2), wide], 20_000, kind)
    const shown = columns.described[1]?.columns.length ?? 0
    assert.isAbove(shown, 50)
    assert.deepStrictEqual(columns.described[0], table("narrow", 2))
    assert.deepStrictEqual(columns.notes, [
      `wide has ${5_000 - shown} more columns`,
      "narrow by table, or by search: a part of the name of a table or of a column"
    ])
  })

  it("find what is asked for by a part of its name, whole tables and single columns", () => {
    const orders = table("Orders_2019", 2)
    const tables = [orders, table("customers", 12), table("none", 2)]
    assert.deepStrictEqual(matching(tables, "orders", kind), [orders])
    const [found, ...others] = matching(tables, "COLUMN_1", kind)
    assert.strictEqual(found?.name, "Orders_2019")
    assert.deepStrictEqual(
      others.map(({ columns, name }) => [name, columns.map((column) => column.name)]),
      [
        ["customers", ["column_1", "column_10", "column_11"]],
        ["none", ["column_1"]]
      ]
    )
  })

  it.prop(
    "are within their bound and tell of everything, whatever there is",
    [
      Schema.Array(Schema.Tuple([AnyText, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))])).check(
        Schema.isMaxLength(40)
      ),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 }))
    ],
    ([shapes, limit]) => {
      const all = shapes.map(([name, columns]) => table(name, columns))
      const { described, notes } = bounded(all, limit, kind)
      assert.isTrue(described.length === 0 || JSON.stringify(described).length <= limit + 2)
      const isWhole = JSON.stringify(described) === JSON.stringify(all)
      assert.strictEqual(notes.length === 0, isWhole)
      assert.deepStrictEqual(
        described.map(({ name }) => name),
        all.slice(0, described.length).map(({ name }) => name)
      )
      for (const [index, one] of described.entries()) {
        assert.deepStrictEqual(one.columns, all[index]?.columns.slice(0, one.columns.length))
      }
    }
  )

  it.effect("reach the model within their bound, and can be narrowed", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId)
      const run = yield* Conversation.ask(Fixture.adminOf(tenant), "What is there?")
      yield* Conversation.events(run)
      const recorded = yield* ScriptedModel.use((model) => model.recorded)
      const contents = (recorded.at(-1)?.turn.messages ?? []).flatMap((message) =>
        message._tag === "ToolResult" ? [message.content] : []
      )
      const [all, named, searched, one] = contents.map((content) => describedOf(content))
      for (const content of contents) assert.isAtMost(content.length, 210_000)
      assert.match(all?.more?.[0] ?? "", /^and \d+ more tables, among them /)
      assert.include(all?.more?.at(-1) ?? "", "narrow by table")
      assert.match(named?.more?.[0] ?? "", /^wide has \d+ more columns$/)
      assert.deepStrictEqual(
        searched?.tables.map(({ columns, name }) => [name, columns.length]),
        [["wide", 1]]
      )
      assert.isUndefined(searched?.more)
      assert.deepStrictEqual(
        one?.tables.map(({ name }) => name),
        ["table_2999"]
      )
    }).pipe(
      Effect.provide(
        Deployment.layer({
          tables: [...many, wide].map(({ columns, name }) => ({
            name,
            columns: columns.map((column) => ({ name: column.name, type: column.type })),
            rows: []
          })),
          script: [
            [
              call("describe_tables", { connector: "warehouse" }, "1"),
              call("describe_tables", { connector: "warehouse", table: "wide" }, "2"),
              call("describe_tables", { connector: "warehouse", search: "COLUMN_4999" }, "3"),
              call("describe_tables", { connector: "warehouse", search: "table_2999" }, "4"),
              finished()
            ],
            says("Much.")
          ]
        })
      )
    )
  )
})
