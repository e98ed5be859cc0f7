/**
 * What the compiler writes passes the source's gate and runs: for every feature of the language that writes SQL of a
 * kind of its own.
 */
import * as FilesDriver from "@castellan/connectors/files/FilesDriver"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MalloyEngine from "../src/malloy/MalloyEngine.ts"
import * as Folder from "./support/Folder.ts"

const orders = [
  "id,customer_id,ordered_on,amount,note",
  "1,1,2024-01-15,10.5,gift",
  "2,1,2024-02-20,20,",
  "3,2,2024-02-25,30,late gift",
  "4,3,2023-12-31,40,",
  ""
].join("\n")
const customers = ["id,name,country", "1,Ann,DE", "2,Bob,FR", "3,Cid,DE", ""].join("\n")

const model = `
source: orders is files.table('orders') extend {
  primary_key: id
  measure: order_count is count(), total is amount.sum(), average is amount.avg()
  view: by_month is { group_by: ordered_month is ordered_on.month; aggregate: total }
}

source: customers is files.table('customers') extend {
  primary_key: id
  join_many: orders on id = orders.customer_id
  measure: customer_count is count()
}
`

const makeShop = Effect.gen(function* () {
  const folder = yield* Folder.make({ "orders.csv": orders, "customers.csv": customers })
  return { files: [{ path: "shop.malloy", content: model }], connectors: [Folder.connector(folder)] }
})

class Shop extends Context.Service<Shop, Effect.Success<typeof makeShop>>()("test/Shop") {}

const layer = Layer.effect(Shop, makeShop).pipe(
  Layer.provideMerge(MalloyEngine.layer),
  Layer.provideMerge(FilesDriver.layer({ concurrency: 1 }))
)

const cases: ReadonlyArray<readonly [what: string, query: string, rows: ReadonlyArray<ReadonlyArray<unknown>>]> = [
  [
    "figures over a list of rows",
    "run: customers -> { group_by: country; aggregate: customer_count, orders.total; order_by: country }",
    [
      ["DE", 2, 70.5],
      ["FR", 1, 30]
    ]
  ],
  [
    "figures of the one side, once each, beside those of the many",
    "run: customers -> { aggregate: customer_count, orders.order_count, orders.average }",
    [[3, 4, 25.125]]
  ],
  [
    "months and years",
    "run: orders -> { group_by: ordered_year is ordered_on.year; aggregate: total; order_by: ordered_year }",
    [
      ["2023-01-01", 40],
      ["2024-01-01", 60.5]
    ]
  ],
  ["a range of time", "run: orders -> { where: ordered_on ? @2024-01 to @2024-03; aggregate: order_count }", [[3]]],
  ["a month as a filter", "run: orders -> { where: ordered_on ? @2024-02; aggregate: total }", [[50]]],
  ["patterns of text", "run: orders -> { where: note ~ '%gift%'; aggregate: order_count }", [[2]]],
  ["regular expressions", "run: orders -> { where: note ~ r'^late'; aggregate: order_count }", [[1]]],
  ["alternatives", "run: customers -> { where: country ? 'DE' | 'IT'; aggregate: customer_count }", [[2]]],
  [
    "a share of all",
    "run: orders -> { group_by: customer_id; aggregate: share is total / all(total); order_by: customer_id; limit: 1 }",
    [[1, 30.5 / 100.5]]
  ],
  [
    "ranks",
    "run: orders -> { group_by: id; aggregate: total; calculate: place is rank(); order_by: total desc; limit: 2 }",
    [
      [4, 40, 1],
      [3, 30, 2]
    ]
  ],
  [
    "the row before",
    "run: orders -> { group_by: id; aggregate: total; calculate: before is lag(total); order_by: id; limit: 2 }",
    [
      [1, 10.5, null],
      [2, 20, 10.5]
    ]
  ],
  [
    "groups inside groups",
    "run: orders -> { group_by: customer_id; nest: by_month; order_by: customer_id; limit: 1 }",
    [[1, '[{"ordered_month":"2024-02-01","total":20},{"ordered_month":"2024-01-01","total":10.5}]']]
  ],
  ["filtered figures", "run: orders -> { aggregate: gifts is order_count { where: note ~ '%gift%' } }", [[2]]],
  [
    "filters on groups",
    "run: orders -> { group_by: customer_id; aggregate: total; having: total > 30; order_by: customer_id }",
    [
      [1, 30.5],
      [3, 40]
    ]
  ],
  [
    "stages",
    "run: orders -> { group_by: customer_id; aggregate: total } -> { aggregate: best is total.max() }",
    [[40]]
  ],
  [
    "choices",
    "run: orders -> { group_by: size is pick 'big' when amount > 25 else 'small'; aggregate: order_count; order_by: size }",
    [
      ["big", 2],
      ["small", 2]
    ]
  ],
  [
    "functions of text and numbers",
    "run: customers -> { group_by: a is upper(substr(name, 1, 1)), b is round(id / 3, 2); order_by: a; limit: 1 }",
    [["A", 0.33]]
  ],
  ["standard deviation", "run: orders -> { aggregate: spread is round(stddev(amount), 4) }", [[12.7173]]],
  [
    "casts",
    "run: orders -> { group_by: text is id::string, whole is amount::number; order_by: text; limit: 1 }",
    [["1", 10.5]]
  ],
  ["different values", "run: orders -> { aggregate: buyers is count(customer_id) }", [[3]]]
]

it.layer(layer, { timeout: "180 seconds", excludeTestServices: true })("statements of the compiler", (it) => {
  for (const [what, query, expected] of cases) {
    it.effect(what, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* Folder.rowsOf(yield* Shop, query), expected)
      })
    )
  }
})
