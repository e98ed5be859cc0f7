/** Every benchmark runs, and what it compares says the same. Its times are not looked at. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { benchmarks } from "../src/Benchmarks.ts"
import { Progress } from "../src/report/Progress.ts"

describe("benchmarks", () => {
  for (const benchmark of benchmarks) {
    it.live(
      benchmark.name,
      () =>
        Effect.gen(function* () {
          // A benchmark fails by itself when an answer is not 2xx, not the same as the others', or lacks an event.
          const report = yield* benchmark.run({ size: "smoke", cores: undefined })
          const tables = report.sections.map(({ table }) => table)
          assert.isNotEmpty(tables)
          for (const { columns, rows } of tables) {
            assert.isAtLeast(rows.length, 2)
            assert.isTrue(rows.some(([name]) => /castellan/i.test(name ?? "")))
            for (const row of rows) {
              assert.strictEqual(row.length, columns.length)
              assert.notMatch(row.join(" "), /NaN|∞|undefined/)
            }
            const lost = columns.indexOf("lost")
            if (lost !== -1) for (const row of rows) assert.strictEqual(row[lost], "0")
          }
        }).pipe(
          Effect.scoped,
          Effect.provideService(Progress, () => {})
        ),
      // Long enough for a machine that is busy: only what hangs takes so long.
      600_000
    )
  }
})
