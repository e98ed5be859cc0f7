/**
 * A table of many rows, in and out of a Python. Ours goes in as the result of a query does and comes out as Arrow; the
 * peers have no such door, and take files.
 */
import type { ResultTable, Value } from "@castellan/core/connector/ResultTable"
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import type { SandboxTier } from "@castellan/sandbox/session/SandboxProcess"
import * as DuckDbSqlExecutor from "@castellan/sandbox/sql/DuckDbSqlExecutor"
import { SqlExecutor } from "@castellan/sandbox/sql/SqlExecutor"
import { Context, Effect, Layer, type Scope } from "effect"
import { join } from "node:path"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { orFail, sessionOf, spec } from "./CastellanSessions.ts"
import { timed } from "./PlainPython.ts"
import type { PythonHost } from "./PythonSession.ts"

/** Milliseconds of a table that goes in, of a question that is asked of it, and of one that comes out. */
export interface Crossing {
  readonly enters: number
  readonly asks: number
  readonly leaves: number
}

/** One way for tables. */
export interface TableWay {
  readonly name: string
  readonly crossing: Effect.Effect<Crossing, BenchmarkFailure>
}

const columns: ResultTable["columns"] = [
  { name: "id", type: "integer" },
  { name: "amount", type: "number" },
  { name: "product", type: "text" },
  { name: "sold_at", type: "timestamp" }
]

const epoch = Date.UTC(2020, 0, 1)

/** A table of so many rows, the same in every run: numbers, texts of a thousand kinds, moments. */
export const tableOf = (count: number): ResultTable => ({
  columns,
  rows: Array.from({ length: count }, (_, id): ReadonlyArray<Value> => [
    id,
    ((id * 7919) % 1_000_003) / 100,
    `product ${id % 1000}`,
    new Date(epoch + id * 1000).toISOString()
  ]),
  truncated: false
})

/** The same table, made in Python. */
const make = (count: number): string =>
  `
import numpy, pandas
ids = numpy.arange(${count})
frame = pandas.DataFrame({
    "id": ids,
    "amount": (ids * 7919 % 1_000_003) / 100,
    "product": [f"product {i % 1000}" for i in range(${count})],
    "sold_at": pandas.Timestamp("2020-01-01", tz="UTC") + pandas.to_timedelta(ids, unit="s"),
})
`

/** What must be true of a table that went in. */
const check = (count: number): string => `
assert frame.shape == (${count}, 4), frame.shape
assert frame["id"].iloc[-1] == ${count - 1} and frame["product"].iloc[-1] == "product ${(count - 1) % 1000}"
assert frame["amount"].iloc[-1] == ${((count - 1) * 7919) % 1_000_003} / 100
assert str(frame["sold_at"].dt.tz) == "UTC" and frame["sold_at"].iloc[1].second == 1
`

/** The sums of a thousand products: by SQL, for which the table goes into an engine of its own, and by pandas itself. */
const ask = (count: number) => {
  const told = `\nassert len(sums) == ${Math.min(count, 1000)}\ndel sums`
  return {
    sql: `import castellan\nsums = castellan.sql("select product, sum(amount) from frame group by product")${told}`,
    pandas: `sums = frame.groupby("product")["amount"].sum()${told}`
  }
}

/** Ours: a session that takes the table and hands it out again. */
export const castellanTables: (
  name: string,
  tier: SandboxTier,
  rows: number
) => Effect.Effect<TableWay, BenchmarkFailure, Scope.Scope> = Effect.fnUntraced(function* (name, tier, rows) {
  const executor = Context.get(yield* Layer.build(DuckDbSqlExecutor.layer()), SqlExecutor)
  const session = yield* orFail(KernelSession.open(tier, spec(), executor))
  const { run } = sessionOf(session)
  const table = tableOf(rows)
  return {
    name,
    crossing: Effect.gen(function* () {
      const enters = yield* timed(orFail(session.bindDataframe("frame", table)))
      yield* run(check(rows))
      const asks = yield* run(ask(rows).sql)
      const started = performance.now()
      const stream = yield* orFail(session.exportDataframe("frame"))
      const leaves = performance.now() - started
      if (stream.length < rows * 24) {
        return yield* new BenchmarkFailure({ message: `a table of ${rows} rows came out as ${stream.length} bytes` })
      }
      yield* run("del frame")
      return { enters, asks, leaves }
    })
  }
})

/** How peers read and write a table. */
export const fileForms = {
  csv: {
    read: (path: string) => `frame = pandas.read_csv(${path}, parse_dates=["sold_at"])`,
    write: (path: string) => `frame.to_csv(${path}, index=False)`
  },
  pickle: {
    read: (path: string) => `frame = pandas.read_pickle(${path})`,
    write: (path: string) => `frame.to_pickle(${path})`
  }
}

/** A peer: a Python that reads a file that is there, and writes one that nobody reads. */
export const fileTables: (
  name: string,
  host: PythonHost,
  form: keyof typeof fileForms,
  rows: number,
  folder: string
) => Effect.Effect<TableWay, BenchmarkFailure, Scope.Scope> = Effect.fnUntraced(
  function* (name, host, form, rows, folder) {
    const { session } = yield* host.open
    const path = (file: string): string => JSON.stringify(join(folder, `${file}.${form}`))
    const { read, write } = fileForms[form]
    yield* session.run(make(rows))
    yield* session.run(`${write(path("in"))}\ndel frame`)
    return {
      name,
      crossing: Effect.gen(function* () {
        const enters = yield* session.run(read(path("in")))
        yield* session.run(check(rows))
        const asks = yield* session.run(ask(rows).pandas)
        const leaves = yield* session.run(write(path("out")))
        yield* session.run("del frame")
        return { enters, asks, leaves }
      })
    }
  }
)
