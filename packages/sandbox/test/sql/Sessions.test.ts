/**
 * `castellan.sql` of a program, from its dataframes and files through the engine of sessions to DuckDB and back.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { type ExecEvent, SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import * as KernelSession from "@castellan/sandbox/session/KernelSession"
import * as DuckDbSqlExecutor from "@castellan/sandbox/sql/DuckDbSqlExecutor"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { tier } from "../adapters/ChildProcessTier.ts"
import { python } from "../remote/support/Python.ts"

const utf8 = new TextEncoder()

let count = 0

const opened = SandboxRuntime.use((runtime) => {
  count += 1
  return runtime.open({
    id: SandcastleId.make(`sql-${count}`),
    organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
    library: []
  })
})

const run = Effect.fnUntraced(function* (code: string, seconds = 60) {
  const session = yield* opened
  yield* session.upload(SandboxPath.make("uploads/cities.csv"), utf8.encode("city,people\nBern,134794\nBasel,173232\n"))
  yield* session.bindDataframe("sales", {
    columns: [
      { name: "region", type: "text" },
      { name: "amount", type: "integer" }
    ],
    rows: [
      ["north", 120],
      ["south", 7],
      ["north", 30]
    ],
    truncated: false
  })
  const events = yield* Stream.runCollect(
    session.exec({ language: "python", within: "session", code, timeout: Duration.seconds(seconds) })
  )
  const text = events.map((event: ExecEvent) => (event._tag === "Stdout" ? event.text : "")).join("")
  return { text, session, last: events.at(-1), error: events.find((event) => event._tag === "Error") }
})

const layer = KernelSession.layer(tier(python ?? "python3")).pipe(Layer.provide(DuckDbSqlExecutor.layer()))

describe.skipIf(python === undefined)("castellan.sql", () => {
  it.layer(layer, { timeout: "120 seconds", excludeTestServices: true })("in a session", (it) => {
    it.effect("reads dataframes and files, and its result is a dataframe", () =>
      Effect.gen(function* () {
        const { last, session, text } = yield* run(
          [
            "import castellan",
            'totals = castellan.sql("select region, sum(amount) as total from sales group by region order by region")',
            'print(list(totals["region"]), [int(n) for n in totals["total"]])',
            "cities = castellan.sql(\"select max(people) as most from 'uploads/cities.csv'\")",
            'print([int(n) for n in cities["most"]])',
            'print([int(n) for n in castellan.sql("select count(*) as n from totals")["n"]])'
          ].join("\n")
        )
        assert.strictEqual(text, "['north', 'south'] [150, 7]\n[173232]\n[2]\n")
        assert.deepInclude(last, { outcome: "completed" })
        const names = (yield* session.usage).dataframes.map(({ name }) => name)
        assert.includeMembers([...names], ["sales", "totals", "cities"])
      })
    )

    it.effect("a result of many rows is one dataframe", () =>
      Effect.gen(function* () {
        const { last, text } = yield* run(
          [
            "import castellan",
            "many = castellan.sql('''",
            "    select i, 'number ' || i as words, i % 2 = 0 as even, (i / 4)::decimal(12, 2) as price,",
            "           sum(i) over (order by i) as total, case when i % 3 = 0 then i::double end as third",
            "    from range(150000) t(i) order by i''')",
            'print(len(many["i"]), [int(n) for n in (many["i"][0], many["i"][149_999])])',
            'print(all(int(n) == at for at, n in enumerate(many["i"])))',
            'print(all(text == f"number {at}" for at, text in enumerate(many["words"])))',
            'print(all(bool(even) == (at % 2 == 0) for at, even in enumerate(many["even"])))',
            'print(float(many["price"][149_999]), int(many["total"][149_999]))',
            'print(sum(1 for n in many["third"] if n is not None and n == n), float(many["third"][149_997]))'
          ].join("\n")
        )
        assert.strictEqual(text, "150000 [0, 149999]\nTrue\nTrue\nTrue\n37499.75 11249925000\n50000 149997.0\n")
        assert.deepInclude(last, { outcome: "completed" })
      })
    )

    it.effect("tells the program what is wrong with a statement, and goes on", () =>
      Effect.gen(function* () {
        const { text } = yield* run(
          [
            "import castellan",
            "for statement in [\"select * from '/etc/passwd'\", 'select nothing from sales', 'drop table sales']:",
            "    try:",
            "        castellan.sql(statement)",
            "    except castellan.QueryFailed as error:",
            '        print("refused:", len(str(error)) > 10)',
            'print(castellan.sql("select 1 as n") is not None)'
          ].join("\n")
        )
        assert.strictEqual(text, "refused: True\nrefused: True\nrefused: True\nTrue\n")
      })
    )

    it.effect("a statement cannot make its failure so long that the session is lost over it", () =>
      Effect.gen(function* () {
        const { last, text } = yield* run(
          [
            "import castellan",
            "try:",
            "    castellan.sql(\"select error(repeat('x', 3000000))\")",
            "except castellan.QueryFailed as error:",
            "    print(100 < len(str(error)) < 100_000)"
          ].join("\n")
        )
        assert.strictEqual(text, "True\n")
        assert.deepInclude(last, { outcome: "completed" })
      })
    )

    it.effect("stops with the execution that asked", () =>
      Effect.gen(function* () {
        const endless = "select count(*) as n from range(10000000) a, range(10000000) b where a.range < b.range"
        const { last, session } = yield* run(`import castellan\ncastellan.sql("${endless}")`, 3)
        assert.deepInclude(last, { outcome: "timed_out" })
        const next = yield* Stream.runCollect(
          session.exec({
            language: "python",
            within: "session",
            code: 'import castellan\nprint([int(n) for n in castellan.sql("select 41 + 1 as n")["n"]])',
            timeout: Duration.seconds(60)
          })
        )
        assert.include(next.map((event) => (event._tag === "Stdout" ? event.text : "")).join(""), "[42]")
      })
    )
  })
})
