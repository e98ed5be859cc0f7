import type { SandboxError } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, it } from "@effect/vitest"
import * as Arrow from "@uwdata/flechette"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"
import { SqlExecutor, type SqlTable } from "../../src/sql/SqlExecutor.ts"

const utf8 = new TextEncoder()

/** Arrow as the host would read it back: exact, without floating point in between. */
const read = (bytes: Uint8Array): Record<string, ReadonlyArray<unknown>> => {
  const table = Arrow.tableFromIPC(new Uint8Array(bytes), {
    useBigInt: true,
    useBigIntTimestamp: true,
    useDecimalInt: true
  })
  return Object.fromEntries(
    table.schema.fields.map((field, index) => [field.name, [...table.getChildAt(index)]] as const)
  )
}

const stream = (columns: Record<string, Arrow.Column<unknown>>): Uint8Array => {
  const bytes = Arrow.tableToIPC(Arrow.tableFromColumns(columns), { format: "stream" })
  if (bytes === null) throw new Error("no stream")
  return bytes
}

const sales: SqlTable = {
  name: "sales",
  content: stream({
    region: Arrow.columnFromArray(["north", "south", "north", null], Arrow.utf8()),
    amount: Arrow.columnFromArray([1n, 2n, 3n, 9_007_199_254_740_993n], Arrow.int64())
  })
}

const ask = (statement: string, tables: ReadonlyArray<SqlTable> = []) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { open } = yield* SqlExecutor
      const session = yield* open
      return read(yield* session.query(statement, tables))
    })
  )

const refused = (statement: string, tables: ReadonlyArray<SqlTable> = []) => Effect.flip(ask(statement, tables))

/** The children of this process that run DuckDB, by what their command line says. */
const children = (): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1")
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]
      return parent === String(process.pid) && command.includes("duckdb/child") ? [pid] : []
    } catch {
      return []
    }
  })

const linux = process.platform === "linux"

it.layer(DuckDbSqlExecutor.layer(), { timeout: "120 seconds", excludeTestServices: true })(
  "SQL over what a session holds",
  (it) => {
    it.effect("reads dataframes exactly, by their names", () =>
      Effect.gen(function* () {
        const totals = yield* ask("SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY region", [
          sales
        ])
        assert.deepStrictEqual(totals, {
          region: ["north", "south", null],
          total: [4n, 2n, 9_007_199_254_740_993n]
        })
      })
    )

    it.effect("keeps types on the way in and out", () =>
      Effect.gen(function* () {
        const day = Date.UTC(2024, 1, 29)
        const micros = BigInt(day) * 1000n + 123_457n
        const raw = (type: Arrow.DataType, values: BigInt64Array) =>
          new Arrow.Column(
            [new Arrow.Batch({ length: values.length, nullCount: 0, type, validity: new Uint8Array(0), values })],
            type
          )
        const kinds = {
          name: "kinds",
          content: stream({
            flag: Arrow.columnFromArray([true, null], Arrow.bool()),
            small: Arrow.columnFromArray([-5, null], Arrow.int8()),
            large: Arrow.columnFromArray([18_446_744_073_709_551_615n, null], Arrow.uint64()),
            ratio: Arrow.columnFromArray([0.1, null], Arrow.float64()),
            price: Arrow.columnFromArray([12_345n, null], Arrow.decimal(9, 2, 128)),
            day: Arrow.columnFromArray([day, null], Arrow.dateDay()),
            moment: raw(Arrow.timestamp(2), BigInt64Array.of(micros, 0n)),
            precise: raw(Arrow.timestamp(3), BigInt64Array.of(micros * 1000n + 7n, 0n)),
            zoned: raw(Arrow.timestamp(1, "Europe/Berlin"), BigInt64Array.of(BigInt(day), 0n)),
            clock: Arrow.columnFromArray([3_600_000_001n, null], Arrow.timeMicrosecond()),
            raw: Arrow.columnFromArray([Uint8Array.of(0, 255), null], Arrow.binary()),
            kind: Arrow.columnFromArray(["a", null], Arrow.dictionary(Arrow.utf8())),
            tags: Arrow.columnFromArray([["x", "y"], null], Arrow.list(Arrow.utf8()))
          })
        }
        const rows = yield* ask("SELECT * FROM kinds", [kinds])
        assert.deepStrictEqual(rows, {
          flag: [true, null],
          small: [-5, null],
          large: [18_446_744_073_709_551_615n, null],
          ratio: [0.1, null],
          price: [12_345n, null],
          day: [day, null],
          moment: [micros, 0n],
          precise: [micros * 1000n + 7n, 0n],
          zoned: [BigInt(day) * 1000n, 0n],
          clock: [3_600_000_001n, null],
          raw: [Uint8Array.of(0, 255), null],
          kind: ["a", null],
          tags: ['["x","y"]', null]
        })
        const wide = yield* ask("SELECT 170141183460469231731687303715884105727::HUGEINT AS a, 10::HUGEINT AS b")
        assert.deepStrictEqual(wide, { a: ["170141183460469231731687303715884105727"], b: [10n] })
        const empty = yield* ask("SELECT * FROM kinds WHERE false", [kinds])
        assert.deepStrictEqual(Object.keys(empty), Object.keys(rows))
      })
    )

    it.effect("takes texts to the letter, also those that begin with a byte order mark", () =>
      Effect.gen(function* () {
        const texts = ["\ufeffa", "\ufeff", "\ufeff\ufeffb", "", "a", null, "\u{1f3f0}"]
        const lengths = texts.map((text) => (text === null ? null : BigInt(utf8.encode(text).length)))
        for (const type of [Arrow.utf8(), Arrow.largeUtf8()]) {
          const content = stream({ text: Arrow.columnFromArray(texts, type) })
          const rows = yield* ask("SELECT strlen(text) AS bytes FROM texts", [{ name: "texts", content }])
          assert.deepStrictEqual(rows, { bytes: lengths })
        }
      })
    )

    it.effect("as many cells as a result may have are a result, however small they are", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const session = yield* (yield* SqlExecutor).open
          const bytes = yield* session.query("SELECT i % 3 = 0 AS third FROM range(40000000) t(i)", [])
          const column = Arrow.tableFromIPC(new Uint8Array(bytes)).getChild("third")
          assert.strictEqual(column.length, 40_000_000)
          assert.deepStrictEqual(
            [0, 1, 20_000_000, 39_999_999].map((row) => column.at(row)),
            [true, false, false, true]
          )
        })
      )
    )

    it.effect("tells columns apart that the engine would not", () =>
      Effect.gen(function* () {
        const one = Arrow.columnFromArray([1], Arrow.int32())
        const twins = { name: "twins", content: stream({ A: one, a: one, "": one }) }
        assert.deepStrictEqual(Object.keys(yield* ask("SELECT * FROM twins", [twins])), ["A", "a_1", "column_3"])
        assert.deepStrictEqual(Object.keys(yield* ask("SELECT 1 AS n, 2 AS n")), ["n", "n_1"])
      })
    )

    it.effect("reads files by their paths", () =>
      Effect.gen(function* () {
        const csv = utf8.encode("city,people\nBern,134794\nBasel,173232\n")
        const files: ReadonlyArray<SqlTable> = [
          { name: "uploads/cities.csv", content: csv },
          { name: "uploads/cities.csv.gz", content: gzipSync(csv) },
          { name: "outputs/more.ndjson", content: utf8.encode('{"city":"Chur","people":38000}\n') }
        ]
        const rows = yield* ask(
          `SELECT city, people FROM 'uploads/cities.csv'
           UNION ALL SELECT city, people FROM 'outputs/more.ndjson' ORDER BY people`,
          files
        )
        assert.deepStrictEqual(rows, { city: ["Chur", "Bern", "Basel"], people: [38_000n, 134_794n, 173_232n] })
        const packed = yield* ask("SELECT sum(people) AS people FROM 'uploads/cities.csv.gz'", files)
        assert.deepStrictEqual(packed, { people: [308_026n] })
      })
    )

    it.effect("says what can be queried where a statement asks for a table that is not there", () =>
      Effect.gen(function* () {
        assert.include((yield* refused("SELECT * FROM sale", [sales])).message, "the tables are sales")
        const without = yield* refused("SELECT * FROM sale")
        assert.include(without.message, "the dataframes among the program's variables")
      })
    )

    it.effect("looks only at the tables that a statement reads", () =>
      Effect.gen(function* () {
        const broken = { name: "broken", content: utf8.encode("no arrow at all") }
        assert.deepStrictEqual(yield* ask("SELECT count(*) AS n FROM sales", [sales, broken]), { n: [4n] })
        const error = yield* refused("SELECT * FROM broken", [sales, broken])
        assert.strictEqual(error.reason, "invalid")
        assert.include(error.message, '"broken"')
      })
    )

    it.effect("forgets everything after a statement", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const session = yield* (yield* SqlExecutor).open
          yield* session.query("SELECT * FROM sales", [sales])
          const error = yield* Effect.flip(session.query("SELECT * FROM sales", []))
          assert.deepInclude(error, { reason: "invalid" })
        })
      )
    )

    const impossible: ReadonlyArray<string> = [
      "SELECT * FROM '/etc/passwd'",
      "SELECT * FROM read_csv('/etc/passwd')",
      "SELECT * FROM read_text('/proc/self/environ')",
      "SELECT * FROM glob('/*')",
      "SELECT * FROM 'uploads/../../../etc/passwd.csv'",
      "COPY (SELECT 1) TO '/tmp/out.csv'",
      "COPY sales TO 'out.parquet'",
      "ATTACH '/tmp/other.db'",
      "INSTALL httpfs",
      "LOAD httpfs",
      "SET memory_limit = '100GB'",
      "SET lock_configuration = false",
      "RESET memory_limit",
      "PRAGMA threads = 64",
      "CREATE TABLE t AS SELECT 1",
      "DROP TABLE sales",
      "SELECT getenv('HOME')",
      "SELECT current_setting('temp_directory')",
      "SELECT * FROM duckdb_settings()",
      "SELECT * FROM duckdb_secrets()",
      "CREATE SECRET s (TYPE S3, KEY_ID 'a', SECRET 'b')",
      "SELECT * FROM query('SELECT 1')",
      "CALL pragma_version()",
      "SELECT 1; SELECT 2",
      "EXPORT DATABASE '/tmp/all'",
      ""
    ]

    for (const statement of impossible) {
      it.effect(`abuse 45, 17, 18: refuses ${JSON.stringify(statement)}`, () =>
        Effect.gen(function* () {
          const error = yield* refused(statement, [sales])
          assert.strictEqual(error.reason, "invalid")
          assert.notMatch(error.message, /castellan-files|root:|\/tmp\/castellan/)
        })
      )
    }

    it.effect("a statement does not decide how long its failure is", () =>
      Effect.gen(function* () {
        for (const statement of ["SELECT error(repeat('x', 3000000))", "SELECT repeat('é', 3000000)::INTEGER"]) {
          assert.isBelow((yield* refused(statement)).message.length, 20_000)
        }
      })
    )

    it.effect("abuse 20: a statement reaches no address of the machine", () =>
      Effect.scoped(
        Effect.gen(function* () {
          let connections = 0
          const server = yield* Effect.acquireRelease(
            Effect.callback<ReturnType<typeof createServer>>((resume) => {
              const listening = createServer(() => undefined)
              listening.on("connection", () => connections++)
              listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
            }),
            (listening) => Effect.sync(() => listening.close())
          )
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          for (const from of [
            `'http://127.0.0.1:${port}/a.csv'`,
            `read_parquet('http://127.0.0.1:${port}/a.parquet')`
          ]) {
            assert.strictEqual((yield* refused(`SELECT * FROM ${from}`)).reason, "invalid")
          }
          assert.strictEqual(connections, 0)
        })
      )
    )

    it.effect("streams that lie spoil only their own statement", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const session = yield* (yield* SqlExecutor).open
          const attempt = (content: Uint8Array) =>
            Effect.exit(session.query("SELECT count(*) FROM hostile", [{ name: "hostile", content }]))
          const good = sales.content
          // Every cut, and bytes turned over at many places: refused or read, never a defect, never a hang.
          for (let at = 0; at < good.length; at += 23) {
            yield* attempt(good.subarray(0, at))
            const turned = Uint8Array.from(good)
            turned[at] = (turned[at] ?? 0) ^ 0xff
            yield* attempt(turned)
          }
          assert.deepStrictEqual(read(yield* session.query("SELECT count(*) AS n FROM sales", [sales])), { n: [4n] })
        })
      )
    )
  }
)

const small = 192 * 1024 * 1024

it.layer(DuckDbSqlExecutor.layer({ memory: small, maximumResult: 1024 * 1024, maximumTables: 1024 * 1024 }), {
  timeout: "120 seconds",
  excludeTestServices: true
})("a bounded executor", (it) => {
  const bombs: Readonly<Record<string, string>> = {
    "abuse 8: a text of two thousand million letters": "SELECT length(repeat('x', 2000000000)) AS n",
    "abuse 8: many large texts": "SELECT list(repeat(chr(97 + (i % 26)::INTEGER), 50000000)) FROM range(64) t(i)",
    "a sort of more than there is room for": "SELECT i FROM range(400000000) t(i) ORDER BY hash(i)"
  }
  for (const [name, statement] of Object.entries(bombs)) {
    it.effect(`${name} is stopped, and the session asks again`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const session = yield* (yield* SqlExecutor).open
          const before = process.memoryUsage.rss()
          const error = yield* Effect.flip(session.query(statement, []))
          assert.include<SandboxError["reason"]>(["exhausted", "unavailable"], error.reason)
          assert.isBelow(process.memoryUsage.rss() - before, small)
          assert.deepStrictEqual(read(yield* session.query("SELECT 1 AS n", [])), { n: [1] })
        })
      )
    )
  }

  it.effect("a result beyond the limit is told, not cut", () =>
    Effect.gen(function* () {
      const error = yield* refused("SELECT i FROM range(1000000) t(i)")
      assert.strictEqual(error.reason, "exhausted")
      assert.include(error.message, "LIMIT")
      assert.strictEqual(
        (yield* refused("SELECT 1", [{ name: "t", content: new Uint8Array(2_000_000) }])).reason,
        "exhausted"
      )
    })
  )
})

/** Hundredths of a second of the processor that a process has used. */
const worked = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
  return Number(user) + Number(system)
}

/** Waits until a process has worked for a tenth of a second more. */
const atWork = (pid: number, from = worked(pid)): Effect.Effect<void> =>
  Effect.suspend(() =>
    worked(pid) > from + 10 ? Effect.void : Effect.andThen(Effect.sleep("10 millis"), atWork(pid, from))
  )

// Only what does not stop at all is killed after so long a grace.
it.layer(DuckDbSqlExecutor.layer({ grace: "60 seconds", timeout: "10 minutes" }), {
  timeout: "120 seconds",
  excludeTestServices: true
})("what would take for ever", (it) => {
  const endless: Readonly<Record<string, string>> = {
    "a cross join": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 1",
    "a recursive query": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT (n + 1) % 7 FROM t) SELECT count(*) FROM t",
    "abuse 5: an expression that takes for ever":
      "SELECT count(*) FROM range(100000000) t(i) WHERE regexp_matches(repeat('a', 2000) || i, '(a*)*b')"
  }
  for (const [name, statement] of Object.entries(endless)) {
    it.effect.skipIf(!linux)(`${name} stops with whoever waits for it`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const session = yield* (yield* SqlExecutor).open
          const before = new Set(children())
          yield* session.query("SELECT 1", [])
          const pid = children().find((child) => !before.has(child)) ?? 0
          const fiber = yield* Effect.forkChild(session.query(statement, []), { startImmediately: true })
          yield* atWork(pid)
          yield* Fiber.interrupt(fiber)
          assert.deepStrictEqual(read(yield* session.query("SELECT 1 AS n", [])), { n: [1] })
          // It was stopped, and not killed.
          assert.include(children(), pid)
        })
      )
    )
  }
})

it.layer(DuckDbSqlExecutor.layer({ timeout: "1 second" }), { timeout: "60 seconds", excludeTestServices: true })(
  "an executor with little time",
  (it) => {
    it.effect("says that a statement took too long", () =>
      Effect.gen(function* () {
        const error = yield* refused(
          "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range"
        )
        assert.strictEqual(error.reason, "exhausted")
        assert.include(error.message, "1s")
      })
    )
  }
)

/** Bytes in the folders of the children that run DuckDB. */
const kept = (): number => {
  let bytes = 0
  for (const pid of children()) {
    try {
      const folder = readlinkSync(`/proc/${pid}/cwd`)
      for (const name of readdirSync(folder)) bytes += statSync(join(folder, name)).size
    } catch {
      // It ended meanwhile, or the file did.
    }
  }
  return bytes
}

/** The most that was kept while something ran. */
const mostKept = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let most = 0
    const look = Effect.sync(() => {
      most = Math.max(most, kept())
    })
    const looking = yield* Effect.forkChild(Effect.forever(Effect.andThen(look, Effect.sleep("5 millis"))))
    const result = yield* effect
    yield* Fiber.interrupt(looking)
    return { result, most }
  })

it.layer(DuckDbSqlExecutor.layer({ memory: 512 * 1024 * 1024, spill: 16 * 1024 * 1024, timeout: "10 minutes" }), {
  timeout: "120 seconds",
  excludeTestServices: true
})("the disk", (it) => {
  it.effect.skipIf(!linux)("a packed file takes no more of it than it has", () =>
    Effect.gen(function* () {
      // Numbers that no encoding of tables makes small, again and again: what packs makes them so.
      const block = Array.from({ length: 300 }, () => `${Math.random()},${Math.random()},${Math.random()}\n`).join("")
      const content = gzipSync(`a,b,c\n${block.repeat(1000)}`)
      const { most, result } = yield* mostKept(
        ask("SELECT count(*) AS n FROM 'uploads/a.csv.gz'", [{ name: "uploads/a.csv.gz", content }])
      )
      assert.deepStrictEqual(result, { n: [300_000n] })
      assert.isBelow(most, content.length + 2_000_000)
    })
  )

  it.effect.skipIf(!linux)("what does not fit into memory is spilled up to a bound, and then stopped", () =>
    Effect.gen(function* () {
      // The engine's own bound is not kept by a sort, which would go on and be refused for its result.
      const error = yield* refused("SELECT i FROM range(100000000) t(i) ORDER BY hash(i)")
      assert.strictEqual(error.reason, "exhausted")
      assert.include(error.message, "memory")
    })
  )
})

it.layer(DuckDbSqlExecutor.layer(), { timeout: "60 seconds", excludeTestServices: true })("processes", (it) => {
  it.effect.skipIf(!linux)("are one for each session, apart from the others, and end with it", () =>
    Effect.gen(function* () {
      const executor = yield* SqlExecutor
      const before = new Set(children())
      const started = () => children().filter((pid) => !before.has(pid))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = [yield* executor.open, yield* executor.open]
          assert.lengthOf(started(), 0)
          yield* one.query("SELECT 1", [])
          yield* one.query("SELECT 2", [])
          assert.lengthOf(started(), 1)
          yield* other.query("SELECT 3", [])
          assert.lengthOf(started(), 2)
          for (const pid of started()) {
            assert.strictEqual(readFileSync(`/proc/${pid}/environ`, "latin1"), "")
            const spill = readlinkSync(`/proc/${pid}/cwd`)
            assert.deepStrictEqual(readdirSync(spill), [])
          }
        })
      )
      assert.lengthOf(started(), 0)
    })
  )

  it.effect.skipIf(!linux)("are gone with a session that is closed while it asks", () =>
    Effect.gen(function* () {
      const executor = yield* SqlExecutor
      const before = new Set(children())
      const started = () => children().filter((pid) => !before.has(pid))
      const scope = yield* Scope.make()
      const session = yield* Scope.provide(executor.open, scope)
      yield* session.query("SELECT 1", [])
      const endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range"
      const asking = yield* Effect.forkChild(session.query(endless, []), { startImmediately: true })
      yield* atWork(started()[0] ?? 0)
      yield* Scope.close(scope, Exit.void)
      assert.lengthOf(started(), 0)
      assert.deepInclude(yield* Effect.flip(Fiber.join(asking)), { reason: "unavailable" })
      // Nor does one come for who asks too late.
      assert.deepInclude(yield* Effect.flip(session.query("SELECT 1", [])), { reason: "unavailable" })
      assert.lengthOf(started(), 0)
    })
  )

  it.effect.skipIf(!linux)("that are killed while they work are replaced", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const session = yield* (yield* SqlExecutor).open
        const before = new Set(children())
        yield* session.query("SELECT 1", [])
        const pid = children().find((child) => !before.has(child)) ?? 0
        const endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range"
        const asking = yield* Effect.forkChild(session.query(endless, []), { startImmediately: true })
        yield* atWork(pid)
        process.kill(pid, "SIGKILL")
        assert.deepInclude(yield* Effect.flip(Fiber.join(asking)), { reason: "unavailable" })
        assert.deepStrictEqual(read(yield* session.query("SELECT 1 AS n", [])), { n: [1] })
      })
    )
  )
})

it.layer(DuckDbSqlExecutor.layer({ concurrency: 2, timeout: "10 minutes" }), {
  timeout: "60 seconds",
  excludeTestServices: true
})("turns", (it) => {
  it.effect.skipIf(!linux)("are not all taken by one session, however many statements without end it asks for", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const executor = yield* SqlExecutor
        const before = new Set(children())
        const [greedy, other] = [yield* executor.open, yield* executor.open]
        yield* greedy.query("SELECT 1", [])
        const endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range"
        for (let asked = 0; asked < 4; asked++) {
          yield* Effect.forkScoped(greedy.query(endless, []), { startImmediately: true })
        }
        const worker = children().find((pid) => !before.has(pid)) ?? 0
        yield* atWork(worker)
        assert.deepStrictEqual(read(yield* other.query("SELECT 42 AS n", [])), { n: [42] })
      })
    )
  )
})
