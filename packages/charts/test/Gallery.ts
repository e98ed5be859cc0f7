/**
 * Charts of real data: what models and the offline analyst ask for, and what is hard to draw well.
 */
import type { ColumnType, ResultTable, Value } from "@castellan/core/connector/ResultTable"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const require = createRequire(import.meta.url)

type Row = Readonly<Record<string, Value>>

/** The package exports its program only; the files lie beside it. */
const folder = join(dirname(require.resolve("vega-datasets")), "..", "data")

const text = (file: string): string => readFileSync(join(folder, file), "utf8")

const json = (file: string): ReadonlyArray<Row> => JSON.parse(text(file))

const csv = (file: string): ReadonlyArray<Row> => {
  const [head = "", ...lines] = text(file).trim().split(/\r?\n/)
  const names = head.split(",")
  return lines.map((line) => {
    const cells = line.split(",")
    return Object.fromEntries(
      names.map((name, index) => {
        const cell = cells[index] ?? ""
        return [name, cell === "" ? null : Number.isNaN(Number(cell)) ? cell : Number(cell)]
      })
    )
  })
}

/** A result with typed columns. */
export const table = (
  columns: Readonly<Record<string, ColumnType>>,
  rows: ReadonlyArray<Row | ReadonlyArray<Value>>
): ResultTable => {
  const names = Object.keys(columns)
  return {
    columns: Object.entries(columns).map(([name, type]) => ({ name, type })),
    rows: rows.map((row) => (isList(row) ? row : names.map((name) => row[name] ?? null))),
    truncated: false
  }
}

const isList = (row: Row | ReadonlyArray<Value>): row is ReadonlyArray<Value> => Array.isArray(row)

/** Sums, means or counts of rows by keys: what a query would have answered. */
const grouped = (
  rows: ReadonlyArray<Row>,
  keys: ReadonlyArray<string>,
  measure: string,
  op: "sum" | "mean" | "count"
): ReadonlyArray<ReadonlyArray<Value>> => {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(keys.map((key) => row[key] ?? null)))
  return [...groups].map(([key, members]) => {
    const numbers = members.map((row) => Number(row[measure] ?? 0))
    const sum = numbers.reduce((total, number) => total + number, 0)
    const identity: ReadonlyArray<Value> = JSON.parse(key)
    return [...identity, op === "count" ? members.length : op === "sum" ? sum : sum / members.length]
  })
}

const stocks = csv("stocks.csv")
const weather = csv("seattle-weather.csv")
const movies = json("movies.json")
const cars = json("cars.json")
const barley = json("barley.json")
const gapminder = json("gapminder.json")
const unemployment = json("unemployment-across-industries.json")
const flights = json("flights-20k.json")
const disasters = csv("disasters.csv")

const monthOf = (day: Value): string => `${String(day).slice(0, 7)}-01`

export interface Example {
  readonly name: string
  readonly specification: Readonly<Record<string, unknown>>
  readonly data: ResultTable
}

const flightRows = flights.map((row) => ({
  ...row,
  day: String(row["date"]).slice(0, 10).replaceAll("/", "-"),
  hour: Number(String(row["date"]).slice(11, 13))
}))

export const examples: ReadonlyArray<Example> = [
  {
    name: "stocks-lines",
    specification: {
      title: { text: "Google outgrew the others", subtitle: "Closing price, monthly, in US dollars" },
      mark: "line",
      encoding: {
        x: { field: "date", type: "temporal" },
        y: { field: "price", type: "quantitative" },
        color: { field: "symbol" }
      }
    },
    data: table({ symbol: "text", date: "text", price: "number" }, stocks)
  },
  {
    name: "long-names-bars",
    specification: {
      title: "Number of flights by destination, busiest 30 airports",
      mark: "bar",
      encoding: { y: { field: "destination_airport" }, x: { field: "flight_count" } }
    },
    data: table(
      { destination_airport: "text", flight_count: "integer" },
      grouped(flights, ["destination"], "delay", "count")
        .toSorted((left, right) => Number(right[1]) - Number(left[1]))
        .slice(0, 30)
        .map(([code, count], index) => [
          `${code} ${["International Airport", "Regional Airport of the Greater Metropolitan Area", "Municipal Field"][index % 3]}`,
          Number(count) * 131
        ])
    )
  },
  {
    name: "flights-by-hour",
    specification: {
      title: "Evening flights are the latest",
      mark: "bar",
      encoding: { x: { field: "hour", type: "ordinal" }, y: { field: "delay", aggregate: "mean" } }
    },
    data: table({ hour: "integer", delay: "integer" }, flightRows)
  },
  {
    name: "weather-months-stacked",
    specification: {
      title: "Weather in Seattle by month",
      mark: "bar",
      encoding: {
        x: { timeUnit: "month", field: "date" },
        y: { aggregate: "count" },
        color: {
          field: "weather",
          scale: {
            domain: ["sun", "fog", "drizzle", "rain", "snow"],
            range: ["#e7ba52", "#c7c7c7", "#aec7e8", "#1f77b4", "#9467bd"]
          }
        }
      }
    },
    data: table({ date: "date", weather: "text", temp_max: "number", precipitation: "number" }, weather)
  },
  {
    name: "weather-daily",
    specification: {
      title: "Highest temperature of the day",
      mark: "line",
      encoding: { x: { field: "date", type: "temporal" }, y: { field: "temp_max", title: "Temperature (°C)" } }
    },
    data: table({ date: "date", temp_max: "number" }, weather)
  },
  {
    name: "weather-monthly-bars",
    specification: {
      title: "Precipitation per month",
      mark: "bar",
      encoding: { x: { field: "month", type: "temporal" }, y: { field: "precipitation_mm", type: "quantitative" } }
    },
    data: table(
      { month: "date", precipitation_mm: "number" },
      grouped(
        weather.map((row) => ({ ...row, month: monthOf(String(row["date"]).replaceAll("/", "-")) })),
        ["month"],
        "precipitation",
        "sum"
      )
    )
  },
  {
    name: "three-days",
    specification: {
      title: "Flights per day",
      mark: "bar",
      encoding: { x: { field: "day", type: "temporal" }, y: { field: "flights", type: "quantitative" } }
    },
    data: table({ day: "date", flights: "integer" }, [
      ["2024-02-28", 4120],
      ["2024-02-29", 3871],
      ["2024-03-01", 4320]
    ])
  },
  {
    name: "movies-scatter",
    specification: {
      title: "Critics and audiences mostly agree",
      mark: "point",
      encoding: {
        x: { field: "Rotten Tomatoes Rating", type: "quantitative" },
        y: { field: "IMDB Rating", type: "quantitative" },
        color: { field: "Major Genre" }
      }
    },
    data: table({ "Rotten Tomatoes Rating": "number", "IMDB Rating": "number", "Major Genre": "text" }, movies)
  },
  {
    name: "movies-gross",
    specification: {
      title: "Worldwide gross by genre, all films of the data set together, in US dollars",
      mark: "bar",
      encoding: { x: { field: "Major Genre" }, y: { field: "Worldwide Gross", aggregate: "sum" } }
    },
    data: table(
      { "Major Genre": "text", "Worldwide Gross": "decimal" },
      movies.map((row) => ({
        "Major Genre": row["Major Genre"] ?? null,
        "Worldwide Gross": row["Worldwide Gross"] === null ? null : String(row["Worldwide Gross"])
      }))
    )
  },
  {
    name: "grouped-bars",
    specification: {
      title: "Barley yield by site",
      mark: "bar",
      encoding: {
        x: { field: "site" },
        xOffset: { field: "year" },
        y: { field: "yield", aggregate: "mean", title: "Average yield (bushels per acre)" },
        color: { field: "year", type: "nominal" }
      }
    },
    data: table({ site: "text", year: "integer", yield: "number" }, barley)
  },
  {
    name: "stacked-horizontal",
    specification: {
      title: "Barley yield by variety and site",
      mark: "bar",
      encoding: { y: { field: "variety" }, x: { field: "yield", aggregate: "sum" }, color: { field: "site" } }
    },
    data: table({ site: "text", variety: "text", yield: "number" }, barley)
  },
  {
    name: "percent-stacked-area",
    specification: {
      title: "Who the unemployed worked for",
      mark: "area",
      encoding: {
        x: { field: "date", type: "temporal", timeUnit: "yearmonth" },
        y: { field: "count", aggregate: "sum", stack: "normalize", title: "Share of the unemployed" },
        color: { field: "series" }
      }
    },
    data: table({ series: "text", date: "timestamp", count: "integer" }, unemployment)
  },
  {
    name: "single-bar",
    specification: { title: "Revenue", mark: "bar", encoding: { x: { field: "region" }, y: { field: "revenue" } } },
    data: table({ region: "text", revenue: "integer" }, [["North", 1_234_567]])
  },
  {
    name: "negative-values",
    specification: {
      title: "Change of profit against the year before",
      mark: "bar",
      encoding: {
        y: { field: "department" },
        x: { field: "change_usd" },
        color: { condition: { test: "datum.change_usd < 0", value: "#c2377e" }, value: "#2f6fde" }
      }
    },
    data: table({ department: "text", change_usd: "integer" }, [
      ["Sales", 320_000],
      ["Marketing", -120_500],
      ["Research and development", -480_000],
      ["Operations", 96_000],
      ["Support", -12_000],
      [null, 51_000]
    ])
  },
  {
    name: "negative-columns",
    specification: {
      title: "Temperature anomaly",
      mark: "bar",
      encoding: { x: { field: "year", type: "ordinal" }, y: { field: "anomaly", title: "Against the average (°C)" } }
    },
    data: table(
      { year: "integer", anomaly: "number" },
      csv("global-temp.csv").map((row) => [row["year"] ?? null, row["temp"] ?? null])
    )
  },
  {
    name: "percentages",
    specification: {
      title: "Share of flights that are late",
      mark: "bar",
      encoding: { x: { field: "carrier" }, y: { field: "late_share" } }
    },
    data: table({ carrier: "text", late_share: "number" }, [
      ["AA", 0.213],
      ["DL", 0.187],
      ["UA", 0.254],
      ["WN", 0.312],
      ["US", 0.176],
      ["HP", 0.29]
    ])
  },
  {
    name: "wide-spread",
    specification: {
      title: "Deaths by type of disaster",
      mark: "bar",
      encoding: { y: { field: "Entity" }, x: { field: "Deaths", aggregate: "sum" } }
    },
    data: table(
      { Entity: "text", Deaths: "integer" },
      disasters.filter((row) => row["Entity"] !== "All natural disasters")
    )
  },
  {
    name: "logarithmic",
    specification: {
      title: "Population and fertility of countries",
      mark: "circle",
      encoding: {
        x: { field: "pop", scale: { type: "log" }, title: "Population" },
        y: { field: "fertility", title: "Children per woman" },
        size: { field: "life_expect" },
        color: { field: "cluster", type: "nominal" }
      }
    },
    data: table(
      { country: "text", pop: "integer", fertility: "number", life_expect: "number", cluster: "integer" },
      gapminder.filter((row) => row["year"] === 2000)
    )
  },
  {
    name: "years-line",
    specification: {
      title: "Life expectancy",
      mark: "line",
      encoding: { x: { field: "year" }, y: { field: "life_expect" }, color: { field: "country" } }
    },
    data: table(
      { country: "text", year: "integer", life_expect: "number" },
      gapminder.filter((row) =>
        ["Brazil", "China", "India", "Nigeria", "Rwanda", "Germany", "Japan"].includes(String(row["country"]))
      )
    )
  },
  {
    name: "single-point",
    specification: {
      title: "Active users",
      mark: "line",
      encoding: { x: { field: "month", type: "temporal" }, y: { field: "users" } }
    },
    data: table({ month: "date", users: "integer" }, [["2026-10-01", 4200]])
  },
  {
    name: "gaps",
    specification: {
      title: "Active users, with months that are not known",
      mark: { type: "line", point: true },
      encoding: { x: { field: "month", type: "temporal" }, y: { field: "users" } }
    },
    data: table({ month: "date", users: "integer" }, [
      ["2026-01-01", 4200],
      ["2026-02-01", 4350],
      ["2026-03-01", null],
      ["2026-04-01", 4700],
      ["2026-05-01", 4650],
      ["2026-06-01", null],
      ["2026-07-01", null],
      ["2026-08-01", 5200],
      ["2026-09-01", 5600]
    ])
  },
  {
    name: "histogram",
    specification: {
      title: "How late flights are",
      mark: "bar",
      encoding: { x: { field: "delay", bin: { maxbins: 40 }, title: "Delay (minutes)" }, y: { aggregate: "count" } }
    },
    data: table({ delay: "integer" }, flights)
  },
  {
    name: "heatmap",
    specification: {
      title: "Average delay by weekday and hour",
      mark: "rect",
      encoding: {
        x: { field: "day", timeUnit: "day", type: "ordinal" },
        y: { field: "hour", type: "ordinal" },
        color: { field: "delay", aggregate: "mean" }
      }
    },
    data: table({ day: "date", hour: "integer", delay: "integer" }, flightRows)
  },
  {
    name: "pie",
    specification: {
      title: "Cars by origin",
      mark: "arc",
      encoding: { theta: { aggregate: "count" }, color: { field: "Origin" } }
    },
    data: table({ Origin: "text" }, cars)
  },
  {
    name: "facets",
    specification: {
      title: "Stocks, each by itself",
      mark: "area",
      encoding: { x: { field: "date", type: "temporal" }, y: { field: "price" }, facet: { field: "symbol" } }
    },
    data: table({ symbol: "text", date: "text", price: "number" }, stocks)
  },
  {
    name: "two-axes",
    specification: {
      title: "Rain and warmth in Seattle",
      encoding: { x: { field: "date", timeUnit: "month" } },
      layer: [
        {
          mark: { type: "bar", opacity: 0.5 },
          encoding: { y: { field: "precipitation", aggregate: "sum", title: "Precipitation (mm)" } }
        },
        {
          mark: { type: "line", color: "#f08a24" },
          encoding: { y: { field: "temp_max", aggregate: "mean", title: "Average high (°C)" } }
        }
      ],
      resolve: { scale: { y: "independent" } }
    },
    data: table({ date: "date", precipitation: "number", temp_max: "number" }, weather)
  },
  {
    name: "labelled-bars",
    specification: {
      title: "Cars by number of cylinders",
      encoding: { y: { field: "Cylinders", type: "nominal" }, x: { aggregate: "count" } },
      layer: [
        { mark: "bar" },
        { mark: { type: "text", align: "left", dx: 4 }, encoding: { text: { aggregate: "count" } } }
      ]
    },
    data: table({ Cylinders: "integer" }, cars)
  },
  {
    name: "box-plots",
    specification: {
      title: "Fuel economy by origin",
      mark: "boxplot",
      encoding: { x: { field: "Origin" }, y: { field: "Miles_per_Gallon" } }
    },
    data: table({ Origin: "text", Miles_per_Gallon: "number" }, cars)
  },
  {
    name: "hours",
    specification: {
      title: "Requests per hour",
      mark: "area",
      encoding: { x: { field: "at", type: "temporal" }, y: { field: "requests" } }
    },
    data: table(
      { at: "timestamp", requests: "integer" },
      Array.from({ length: 60 }, (_, index) => [
        `2026-03-${String(9 + Math.floor(index / 24)).padStart(2, "0")} ${String(index % 24).padStart(2, "0")}:00:00`,
        Math.round(9000 + 6000 * Math.sin(index / 4))
      ])
    )
  },
  {
    name: "repeat",
    specification: {
      title: "Cars, measure by measure",
      repeat: ["Horsepower", "Weight_in_lbs", "Acceleration"],
      spec: {
        mark: "point",
        encoding: { x: { field: { repeat: "repeat" } }, y: { field: "Miles_per_Gallon" }, color: { field: "Origin" } }
      }
    },
    data: table(
      {
        Horsepower: "integer",
        Weight_in_lbs: "integer",
        Acceleration: "number",
        Miles_per_Gallon: "number",
        Origin: "text"
      },
      cars
    )
  }
]
