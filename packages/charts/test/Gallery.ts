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
        color: { condition: { test: "datum.change_usd < 0", value: "#aa4e7c" }, value: "#2f6fde" }
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
  },
  {
    name: "thirty-columns",
    specification: {
      title:
        "Budget of the ministries, and what became of it over the years, as far as the documents that were kept tell us about it",
      mark: "bar",
      encoding: { x: { field: "ministry" }, y: { field: "budget" } }
    },
    data: table(
      { ministry: "text", budget: "integer" },
      Array.from({ length: 30 }, (_, index) => [
        `Ministry of ${["Agriculture and Forestry", "Defence", "Education, Science and Culture", "Finance", "Health"][index % 5]} ${index + 1}`,
        ((index * 7919) % 1000) * 1_234_567
      ])
    )
  },
  {
    name: "threshold",
    specification: {
      title: "Warmest day of the month against the limit",
      layer: [
        {
          mark: "line",
          encoding: {
            x: { field: "date", timeUnit: "yearmonth" },
            y: { field: "temp_max", aggregate: "max", title: "Temperature (°C)" }
          }
        },
        { mark: { type: "rule", strokeDash: [4, 4], color: "#aa4e7c" }, encoding: { y: { datum: 30 } } },
        {
          mark: { type: "text", align: "left", dy: -6, color: "#aa4e7c" },
          encoding: { y: { datum: 30 }, x: { value: 4 }, text: { value: "Limit" } }
        }
      ]
    },
    data: table({ date: "date", temp_max: "number" }, weather)
  },
  {
    name: "weeks",
    specification: {
      title: "Orders per week",
      mark: "bar",
      encoding: { x: { field: "week", type: "temporal" }, y: { field: "orders" } }
    },
    data: table(
      { week: "date", orders: "integer" },
      [
        "2026-01-05",
        "2026-01-12",
        "2026-01-19",
        "2026-01-26",
        "2026-02-02",
        "2026-02-09",
        "2026-02-16",
        "2026-02-23"
      ].map((week, index) => [week, 300 + ((index * 37) % 90)])
    )
  },
  {
    name: "quarters",
    specification: {
      title: "Revenue per quarter",
      mark: "bar",
      encoding: { x: { field: "quarter", type: "temporal" }, y: { field: "revenue_eur", type: "quantitative" } }
    },
    data: table(
      { quarter: "date", revenue_eur: "decimal" },
      [
        "2024-01-01",
        "2024-04-01",
        "2024-07-01",
        "2024-10-01",
        "2025-01-01",
        "2025-04-01",
        "2025-07-01",
        "2025-10-01"
      ].map((quarter, index) => [quarter, `${1_200_000 + index * 83_500}.25`])
    )
  },
  {
    name: "years-bars",
    specification: {
      title: "Deaths by natural disasters",
      mark: "bar",
      encoding: { x: { field: "Year", type: "temporal" }, y: { field: "Deaths" } }
    },
    data: table(
      { Year: "integer", Deaths: "integer" },
      disasters.filter((row) => row["Entity"] === "All natural disasters" && Number(row["Year"]) >= 1990)
    )
  },
  {
    name: "quarter-names",
    specification: {
      title: "Revenue by quarter",
      mark: "bar",
      encoding: { x: { field: "quarter" }, y: { field: "revenue" }, color: { field: "product" } }
    },
    data: table(
      { quarter: "text", product: "text", revenue: "integer" },
      ["Q3", "Q1", "Q4", "Q2"].flatMap((quarter, index) => [
        [quarter, "Subscriptions", 40_000 + index * 5000],
        [quarter, "Services", 22_000 - index * 3000]
      ])
    )
  },
  {
    name: "small-numbers",
    specification: {
      title: "Error rate of the service",
      mark: "line",
      encoding: { x: { field: "day", type: "temporal" }, y: { field: "errors_per_request" } }
    },
    data: table(
      { day: "date", errors_per_request: "number" },
      Array.from({ length: 28 }, (_, index) => [
        `2026-02-${String(index + 1).padStart(2, "0")}`,
        0.0012 + 0.0004 * Math.sin(index)
      ])
    )
  },
  {
    name: "narrow-range",
    specification: {
      title: "Exchange rate",
      mark: "line",
      encoding: { x: { field: "day", type: "temporal" }, y: { field: "rate" } }
    },
    data: table(
      { day: "date", rate: "number" },
      Array.from({ length: 28 }, (_, index) => [
        `2026-02-${String(index + 1).padStart(2, "0")}`,
        1.0812 + 0.004 * Math.sin(index / 3)
      ])
    )
  },
  {
    name: "large-negative",
    specification: {
      title: "Net result",
      mark: "area",
      encoding: { x: { field: "month", type: "temporal" }, y: { field: "net_result" } }
    },
    data: table(
      { month: "date", net_result: "integer" },
      Array.from({ length: 24 }, (_, index) => [
        `${2024 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}-01`,
        Math.round(-2_400_000_000 + 280_000_000 * index)
      ])
    )
  },
  {
    name: "grid-of-facets",
    specification: {
      title: "Yield by site and year",
      mark: "bar",
      encoding: {
        y: { field: "variety" },
        x: { field: "yield", aggregate: "sum" },
        row: { field: "year" },
        column: { field: "site" }
      }
    },
    data: table(
      { site: "text", year: "integer", variety: "text", yield: "number" },
      barley.filter((row) => ["Waseca", "Morris", "Duluth"].includes(String(row["site"])))
    )
  },
  {
    name: "dashboard",
    specification: {
      title: "Weather in Seattle",
      vconcat: [
        {
          mark: "area",
          title: "Warmth",
          encoding: {
            x: { field: "date", timeUnit: "yearmonth" },
            y: { field: "temp_max", aggregate: "mean", title: "Average high (°C)" }
          }
        },
        {
          hconcat: [
            { mark: "bar", encoding: { x: { aggregate: "count" }, y: { field: "weather" } } },
            { mark: "point", encoding: { x: { field: "precipitation" }, y: { field: "temp_max" } } }
          ]
        }
      ]
    },
    data: table({ date: "date", weather: "text", temp_max: "number", precipitation: "number" }, weather)
  },
  {
    name: "schedule",
    specification: {
      title: "Plan of the migration",
      mark: "bar",
      encoding: {
        y: { field: "task", sort: null },
        x: { field: "start", type: "temporal" },
        x2: { field: "finish" },
        color: { field: "team" }
      }
    },
    data: table({ task: "text", team: "text", start: "date", finish: "date" }, [
      ["Take stock of the tables", "Data", "2026-01-05", "2026-01-23"],
      ["Write the new model", "Data", "2026-01-19", "2026-02-20"],
      ["Move the reports", "Reporting", "2026-02-09", "2026-03-20"],
      ["Switch over", "Operations", "2026-03-16", "2026-03-27"]
    ])
  },
  {
    name: "heatmap-of-names",
    specification: {
      title: "Average gross by genre and rating",
      mark: "rect",
      encoding: {
        x: { field: "MPAA Rating" },
        y: { field: "Major Genre" },
        color: { field: "Worldwide Gross", aggregate: "mean" }
      }
    },
    data: table({ "MPAA Rating": "text", "Major Genre": "text", "Worldwide Gross": "number" }, movies)
  },
  {
    name: "truth",
    specification: {
      title: "Delayed flights",
      mark: "bar",
      encoding: { x: { field: "is_late" }, y: { aggregate: "count" }, color: { field: "is_late" } }
    },
    data: table(
      { is_late: "boolean" },
      flights.slice(0, 5000).map((row) => [Number(row["delay"]) > 15])
    )
  },
  {
    name: "band",
    specification: {
      title: "Fuel economy over the years, with its confidence",
      layer: [
        {
          mark: "errorband",
          encoding: {
            x: { field: "Year", timeUnit: "year" },
            y: { field: "Miles_per_Gallon", type: "quantitative", title: "Miles per gallon" }
          }
        },
        {
          mark: "line",
          encoding: { x: { field: "Year", timeUnit: "year" }, y: { field: "Miles_per_Gallon", aggregate: "mean" } }
        }
      ]
    },
    data: table({ Year: "date", Miles_per_Gallon: "number" }, cars)
  },
  {
    name: "many-series",
    specification: {
      title: "Unemployed by industry",
      mark: "line",
      encoding: { x: { field: "date", type: "temporal" }, y: { field: "count" }, color: { field: "series" } }
    },
    data: table({ series: "text", date: "timestamp", count: "integer" }, unemployment)
  },
  {
    name: "ages",
    specification: {
      title: "Customers by age",
      mark: "bar",
      encoding: { x: { field: "age_group" }, y: { field: "customers" } }
    },
    data: table({ age_group: "text", customers: "integer" }, [
      ["25-34", 900],
      ["65+", 300],
      ["18-24", 400],
      ["35-44", 1100],
      ["45-64", 700],
      ["< 18", 80]
    ])
  }
]
