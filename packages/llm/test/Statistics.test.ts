import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import { ChartRenderer } from "@castellan/core/asset/ChartRenderer"
import * as VegaLite from "@castellan/core/analyst/tools/VegaLite"
import * as SandboxDescription from "@castellan/core/analyst/SandboxDescription"
import { RunPython } from "@castellan/core/analyst/Tool"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"
import * as OfflineAnalyst from "../src/OfflineAnalyst.ts"
import { allTools, converse } from "./fixture/Conversation.ts"
import * as Python from "./fixture/Python.ts"
import * as SampleWorld from "./fixture/SampleWorld.ts"
import { isLook } from "./golden/Golden.ts"
import { readFile } from "node:fs/promises"

const canRun = Python.interpreter !== undefined
if (!canRun) {
  process.stderr.write("\nSKIPPED: programs of the offline analyst are not run, because there is no python3 here.\n\n")
}
const canDraw = Python.has("matplotlib")
if (canRun && !canDraw) {
  process.stderr.write("\nSKIPPED: figures are not drawn with matplotlib, because python3 does not have it here.\n\n")
}

const offeredWith = (packages: ReadonlyArray<string>) => [
  ...allTools,
  {
    name: RunPython.name,
    description: `${RunPython.description} ${SandboxDescription.pythonSentences({
      isolation: "none",
      statefulPython: true,
      realBash: true,
      packages,
      gentleInterrupt: true,
      persistent: false,
      limits: { cpu: "none", memory: "none", processes: "none", disk: "none", network: "none", time: "none" }
    })}`,
    parameters: { type: "object" }
  }
]

const Figures = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const figuresOf = Schema.decodeUnknownSync(Figures)

/** Asks in the sample's world with a sandbox; answers with what came of it and what its program printed. */
const asked = Effect.fnUntraced(function* (question: string, packages: ReadonlyArray<string> = []) {
  const { sample } = yield* SampleWorld.SampleWorld
  const ran: Array<Python.Ran> = []
  const python = Python.sandbox({ pandas: packages.includes("pandas"), seen: (one) => ran.push(one) })
  const outcome = yield* converse({ ...sample, python }, [question], { offered: offeredWith(packages) })
  const [one] = ran
  assert.isDefined(one, `${question}: no program was run; it said: ${outcome.text}`)
  return { ...outcome, ran: one, sql: sample.sql }
})

/** The line of figures that a program printed. */
const printed = ({ output }: Python.Ran) => output.split("\n").find((line) => line.startsWith("{"))

type Expected = ReadonlyArray<number>

/** What a statement answers in its first row, as numbers. */
const row = (statement: string) =>
  Effect.gen(function* () {
    const { sample } = yield* SampleWorld.SampleWorld
    const { rows } = yield* sample.sql(statement)
    return (rows[0] ?? []).map(Number)
  })

const column = (statement: string) =>
  Effect.gen(function* () {
    const { sample } = yield* SampleWorld.SampleWorld
    const { rows } = yield* sample.sql(statement)
    return rows.map((cells) => Number(cells.at(-1)))
  })

/** Every number in some figures, in the order in which they come. */
const numbersIn = (value: unknown): ReadonlyArray<number> => {
  if (typeof value === "number") return [value]
  if (Array.isArray(value)) return value.flatMap(numbersIn)
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

const near = (found: ReadonlyArray<number>, expected: Expected, what: string): void => {
  assert.strictEqual(found.length, expected.length, `${what}: ${found.join(", ")} for ${expected.join(", ")}`)
  found.forEach((value, index) => {
    const wanted = expected[index] ?? Number.NaN
    const size = Math.max(1e-6, Math.abs(value), Math.abs(wanted))
    assert.isAtMost(Math.abs(value - wanted) / size, 1e-6, `${what}, ${index}: ${value} for ${wanted}`)
  })
}

/** A question, the fields of the program's figures that are held against SQL, and the SQL. */
const golden: ReadonlyArray<{
  readonly ask: string
  readonly fields: ReadonlyArray<string>
  readonly sql: string
  /** What the answer says. */
  readonly says: ReadonlyArray<RegExp>
}> = [
  {
    ask: "correlation matrix of delay, distance and hour",
    fields: ["rows", "matrix"],
    sql: `select count(*), 1, corr(delay, distance), corr(delay, time), corr(delay, distance), 1, corr(distance, time),
      corr(delay, time), corr(distance, time), 1
      from (select delay, distance, hour(date) as time from flights_3m)`,
    says: [/strongest correlation is between arrival delay and hour of departure: \*\*0\.15\*\*/]
  },
  {
    ask: "how do production budget, worldwide gross and imdb rating correlate",
    fields: ["rows", "matrix"],
    sql: `select count(*), 1, corr(b, w), corr(b, r), corr(b, w), 1, corr(w, r), corr(b, r), corr(w, r), 1 from (
      select "Production Budget" as b, "Worldwide Gross" as w, "IMDB Rating" as r from movies
      where b is not null and w is not null and r is not null)`,
    says: [/strongest correlation is between production budget and worldwide gross/, /\| IMDB rating \|/]
  },
  {
    ask: "quantiles of delay",
    fields: ["rows", "mean", "deviation", "quantiles", "lowest", "highest"],
    sql: `select count(*), avg(delay), stddev_samp(delay), 0.01, quantile_cont(delay, 0.01), 0.05, quantile_cont(delay, 0.05),
      0.25, quantile_cont(delay, 0.25), 0.5, median(delay), 0.75, quantile_cont(delay, 0.75),
      0.95, quantile_cont(delay, 0.95), 0.99, quantile_cont(delay, 0.99), min(delay), max(delay) from flights_3m`,
    says: [
      /median of arrival delay is \*\*−1 minutes\*\*/,
      /\| 95 % \| 61 minutes \|/,
      /long tail is on the upper side/
    ]
  },
  {
    ask: "how skewed are imdb ratings",
    fields: ["rows", "mean", "skewness"],
    sql: `select count(r), avg(r), avg((r - m) ^ 3) / (avg((r - m) ^ 2) ^ 1.5)
      from (select "IMDB Rating" as r, avg("IMDB Rating") over () as m from movies where "IMDB Rating" is not null) group by m`,
    says: [/skewness is −0\.66: the tail is on the lower side/]
  },
  {
    ask: "linear regression of worldwide gross on production budget",
    fields: ["rows", "slope", "intercept", "explained"],
    sql: `select count(*), regr_slope(w, b), regr_intercept(w, b), regr_r2(w, b)
      from (select "Worldwide Gross" as w, "Production Budget" as b from movies where w is not null and b is not null)`,
    says: [/For each \$1 of production budget, worldwide gross changes by \*\*\$2\.80\*\*/, /44\.3 % of the variance/]
  },
  {
    ask: "regress delay on distance",
    fields: ["rows", "slope", "intercept", "explained"],
    sql: "select count(*), regr_slope(delay, distance), regr_intercept(delay, distance), regr_r2(delay, distance) from flights_3m",
    says: [/over 3,000,000 records/]
  },
  {
    ask: "outliers in delay of flights from Atlanta",
    fields: ["rows", "below", "above", "lower", "upper"],
    sql: `with chosen as (select f.delay from flights_3m f join airports a on f.origin = a.iata where a.city = 'Atlanta'),
      fences as (select quantile_cont(delay, 0.25) as q1, quantile_cont(delay, 0.75) as q3 from chosen)
      select count(*), count(*) filter (delay < q1 - 1.5 * (q3 - q1)), count(*) filter (delay > q3 + 1.5 * (q3 - q1)),
      any_value(q1 - 1.5 * (q3 - q1)), any_value(q3 + 1.5 * (q3 - q1)) from chosen, fences`,
    says: [/are outliers in arrival delay/, /Tukey/, /origin city is Atlanta|Atlanta/]
  },
  {
    ask: "which days are outliers in number of flights",
    fields: ["groups", "outliers", "lower", "upper"],
    sql: `with days as (select count(*) as n from flights_3m group by date::date),
      fences as (select quantile_cont(n, 0.25) as q1, quantile_cont(n, 0.75) as q3 from days)
      select count(*), count(*) filter (n < q1 - 1.5 * (q3 - q1) or n > q3 + 1.5 * (q3 - q1)),
      any_value(q1 - 1.5 * (q3 - q1)), any_value(q3 + 1.5 * (q3 - q1)) from days, fences`,
    says: [/\| 1 July 2001 \| 6 \|/]
  }
]

/** Trend and seasonal effects of a monthly series that begins in January, by loops of their own. */
const decomposed = (series: ReadonlyArray<number>) => {
  const trend = series.map((_, at) => {
    if (at < 6 || at + 6 >= series.length) return undefined
    let sum = 0
    for (let step = -6; step <= 6; step++) sum += (series[at + step] ?? 0) * (Math.abs(step) === 6 ? 0.5 : 1)
    return sum / 12
  })
  const effects = Array.from({ length: 12 }, (_, month) => {
    const gaps = series.flatMap((value, at) => {
      const level = trend[at]
      return at % 12 === month && level !== undefined ? [value - level] : []
    })
    return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  })
  const centre = effects.reduce((sum, effect) => sum + effect, 0) / 12
  return { trend: trend.flatMap((level) => level ?? []), effects: effects.map((effect) => effect - centre) }
}

it.layer(
  Layer.mergeAll(SampleWorld.layer, OfflineAnalyst.layer, VegaRenderer.layerWith({ timeLimit: "100 seconds" })),
  {
    timeout: 900_000,
    excludeTestServices: true
  }
)("statistics", (it) => {
  for (const { ask, fields, says, sql } of golden) {
    it.effect.skipIf(!canRun)(
      `“${ask}” has the figures that SQL has`,
      () =>
        Effect.gen(function* () {
          const { charts, ran, text } = yield* asked(ask)
          assert.isNull(ran.error, `${ran.error}`)
          const figures = figuresOf(printed(ran))
          near(numbersIn(fields.map((field) => figures[field])), yield* row(sql), ask)
          for (const words of says) assert.match(text, words)
          assert.match(text, /\*Read as: /)
          assert.deepStrictEqual(charts, [])
        }),
      { timeout: 900_000 }
    )
  }

  it.effect.skipIf(!canRun)(
    "“decompose the monthly co2 concentration since 1970” has the trend and the season of an independent computation",
    () =>
      Effect.gen(function* () {
        const { ran, text } = yield* asked("decompose the monthly co2 concentration since 1970 into trend and season")
        const figures = figuresOf(printed(ran))
        const series = yield* column(
          "select date_trunc('month', Date) as month, avg(CO2) from co2_concentration where Date >= '1970-01-01' group by 1 order by 1"
        )
        const { effects, trend } = decomposed(series)
        const highest = effects.indexOf(Math.max(...effects))
        const lowest = effects.indexOf(Math.min(...effects))
        near(
          numbersIn([
            figures["steps"],
            figures["trend_first"],
            figures["trend_last"],
            figures["peak"],
            figures["trough"]
          ]),
          [
            series.length,
            trend[0] ?? 0,
            trend.at(-1) ?? 0,
            highest,
            effects[highest] ?? 0,
            lowest,
            effects[lowest] ?? 0
          ],
          "decomposition"
        )
        assert.match(text, /highest in May, 3\.15 ppm above the trend, and lowest in October/)
        assert.match(text, /rises from 325\.7 ppm to 412\.2 ppm/)
      }),
    { timeout: 900_000 }
  )

  it.effect.skipIf(!canRun)(
    "a series with steps that have no value is not filled up: it says from when on none is missing",
    () =>
      Effect.gen(function* () {
        const { text } = yield* asked("seasonal decomposition of the monthly co2 concentration")
        assert.match(text, /5 of the steps have no value.*from 1964-05-01 on none is missing/)
        assert.notMatch(text, /trend of the/)
      }),
    { timeout: 900_000 }
  )

  const drawings = [
    "correlation matrix of delay, distance and hour",
    "quantiles of production budget",
    "outliers in delay",
    "linear regression of worldwide gross on production budget",
    "regress delay on distance",
    "decompose monthly average temperature in Seattle",
    "outliers in average delay by origin airport",
    "which days are outliers in number of flights"
  ]

  for (const question of drawings) {
    it.effect.skipIf(!canRun)(
      `“${question}” is drawn by the host where the sandbox has no packages, else with matplotlib, of the same figures`,
      () =>
        Effect.gen(function* () {
          const charts = yield* ChartRenderer
          const plain = yield* asked(question)
          assert.strictEqual(plain.ran.charts.length, 1, plain.text)
          const read = VegaLite.decode(JSON.stringify(plain.ran.charts[0]))
          assert.isTrue(Result.isSuccess(read))
          if (Result.isFailure(read)) return
          const made = yield* charts.render(VegaLite.specificationOf(read.success), VegaLite.dataOf(read.success))
          assert.isAbove(made.png.length, 5000)
          assert.isDefined(VegaLite.titleOf(read.success))
          assert.notInclude(plain.text, "could not be drawn")
          if (!canDraw) return
          const drawn = yield* asked(question, ["matplotlib", "numpy", ...(Python.has("pandas") ? ["pandas"] : [])])
          assert.isNull(drawn.ran.error, `${drawn.ran.error}`)
          assert.deepStrictEqual([drawn.ran.charts.length, drawn.ran.figures.length], [0, 1])
          assert.strictEqual(printed(drawn.ran), printed(plain.ran))
          assert.strictEqual(drawn.text, plain.text)
        }),
      { timeout: 900_000 }
    )
  }

  it.effect.skipIf(!canRun)(
    "are told truly by the page of the offline analyst: what is listed there is computed",
    () =>
      Effect.gen(function* () {
        const page = yield* Effect.promise(() =>
          readFile(new URL("../../../docs/offline-analyst.md", import.meta.url), "utf8")
        )
        const section = page.split(/^## /m).find((part) => part.startsWith("What it computes with a program")) ?? ""
        const listed = [...section.matchAll(/^- _(.+)_$/gm)].map((match) => match[1] ?? "")
        assert.isAbove(listed.length, 8)
        for (const question of listed) {
          const { ran, text } = yield* asked(question)
          assert.isNull(ran.error, `${question}: ${ran.error}`)
          assert.match(text, /\*Read as: /, question)
        }
      }),
    { timeout: 900_000 }
  )

  it.effect("without Python it says plainly that it cannot, and asks no query", () =>
    Effect.gen(function* () {
      const { sample } = yield* SampleWorld.SampleWorld
      for (const question of [...golden.map(({ ask }) => ask), "decompose monthly average temperature in Seattle"]) {
        const { queries, text } = yield* converse(sample, [question])
        assert.match(text, /this chat has no Python to run one, so I have no figures/, question)
        assert.deepStrictEqual(
          queries.filter((query) => !isLook(query)),
          []
        )
      }
    })
  )

  it.effect("a program that fails is told with its reason, and no figure is given", () =>
    Effect.gen(function* () {
      const { sample } = yield* SampleWorld.SampleWorld
      const failing = (message: string) =>
        converse({ ...sample, python: () => Effect.fail({ message }) }, ["quantiles of imdb rating"], {
          offered: offeredWith([])
        })
      const { text } = yield* failing(
        "Traceback\n  line 1\nMemoryError: no more\nNote: Python had to be restarted.\nOutput before it ended:\n{}"
      )
      assert.match(text, /the program that computes it failed, so I have no figures: MemoryError: no more\.$/)
      const forged = yield* converse(
        { ...sample, python: () => Effect.succeed({ output: '{"rows": "many", "mean": 1e999}\n' }) },
        ["quantiles of imdb rating"],
        { offered: offeredWith([]) }
      )
      assert.match(forged.text, /did not answer in the form that I know, so I have no figures/)
    })
  )

  it.effect.skipIf(!canRun)("a follow-up asks the same of other rows", () =>
    Effect.gen(function* () {
      const { sample } = yield* SampleWorld.SampleWorld
      const python = Python.sandbox({ pandas: false, seen: () => undefined })
      const { text } = yield* converse({ ...sample, python }, ["quantiles of delay", "only from Atlanta"], {
        offered: offeredWith([])
      })
      assert.match(text, /The median of arrival delay/)
      assert.match(text, /Atlanta/)
    })
  )

  it.effect("what names too many or too few numbers is asked back", () =>
    Effect.gen(function* () {
      const { sample } = yield* SampleWorld.SampleWorld
      for (const [question, said] of [
        ["linear regression of delay", /takes two numbers of the same rows/],
        ["correlation matrix of delay", /two to 8 numbers/],
        ["quantiles of delay by carrier", /./],
        ["decompose the average delay by origin airport", /./]
      ] as const) {
        const { programs, text } = yield* converse(sample, [question], { offered: offeredWith([]) })
        assert.match(text, said, question)
        assert.deepStrictEqual(programs, [], question)
      }
    })
  )

  it.effect("names of a model stay inside their quotes in a program", () =>
    Effect.gen(function* () {
      const { sample } = yield* SampleWorld.SampleWorld
      const evil = `Delay 🏰 é"]\n__import__("os").system("true") # \u2028'`
      const sources = sample.sources.map((source) => ({
        ...source,
        fields: source.fields.map((field) => (field.name === "imdb_rating" ? { ...field, label: evil } : field))
      }))
      const ran: Array<Python.Ran> = []
      const python = Python.sandbox({ pandas: false, seen: (one) => ran.push(one) })
      const { programs } = yield* converse({ ...sample, sources, python }, ["quantiles of imdb_rating"], {
        offered: offeredWith([])
      })
      assert.strictEqual(programs.length, 1)
      assert.notMatch(programs.join(), /^__import__/m)
      if (!canRun) return
      assert.isNull(ran[0]?.error)
      // They come out as they went in, letters beyond the first 65,536 too.
      assert.include(JSON.stringify(ran[0]?.charts), "Delay 🏰 é")
    })
  )
})
