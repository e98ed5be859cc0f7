/**
 * What words about the world say about fields: which fields measure a quality (`longest`), whether values add up,
 * whether more of them is better. Everything here only chooses among readings that the answer then states.
 */

/** Words in the names of fields that measure a quality. */
export const concepts: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["length", ["distance", "length", "duration", "running time", "runtime", "trip distance", "miles"]],
  ["distance", ["distance", "miles", "mileage", "kilometers"]],
  ["price", ["price", "cost", "fare", "budget", "amount"]],
  ["weight", ["weight", "mass", "weight lbs"]],
  ["speed", ["speed", "velocity"]],
  ["temperature", ["temperature", "temp"]],
  ["precipitation", ["precipitation", "rain", "rainfall"]],
  ["wind", ["wind", "wind speed", "windspeed"]],
  ["deaths", ["deaths", "fatalities", "death", "casualties"]],
  ["delay", ["delay", "lateness"]],
  ["height", ["height"]],
  ["population", ["population", "pop", "inhabitants"]],
  ["rating", ["rating", "score"]],
  ["power", ["horsepower", "power"]],
  ["wealth", ["income", "gdp", "wealth", "gdp per capita"]],
  ["age", ["age"]],
  ["size", ["size", "population", "area", "height"]]
])

/** Words in the names of numbers that add up over rows. */
export const additive: ReadonlySet<string> = new Set(
  "gross sale revenue turnover income profit death fatality casualty injury count number quantity amount vote passenger order unit budget spend spending export import production visit view click download precipitation rain rainfall snowfall donation contribution damage".split(
    " "
  )
)

/** Words in the names of numbers that only make sense averaged. */
export const intensive: ReadonlySet<string> = new Set(
  "price rate rating score temperature temp speed velocity age delay duration percentage percent share ratio per average mean index expectancy fertility wind acceleration horsepower mileage mpg density height length width depth mass weight distance time displacement level concentration ppm humidity pressure yield".split(
    " "
  )
)

/** Words in the names of numbers of which less is better. */
export const lessIsBetter: ReadonlySet<string> = new Set(
  "delay cost death fatality casualty injury damage crime error loss emission pollution unemployment wait lateness accident".split(
    " "
  )
)

/** Words in the names of numbers of which more is better. */
export const moreIsBetter: ReadonlySet<string> = new Set(
  "rating score gross revenue sale profit income expectancy mpg mileage gallon economy efficiency punctuality vote yield".split(
    " "
  )
)

/** Words for the same thing in names and questions, so that `dep_delay` is found as departure delay. */
export const abbreviations: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["avg", ["average"]],
  ["temp", ["temperature"]],
  ["dep", ["departure"]],
  ["arr", ["arrival"]],
  ["dest", ["destination"]],
  ["orig", ["origin"]],
  ["pop", ["population"]],
  ["expect", ["expectancy"]],
  ["qty", ["quantity"]],
  ["num", ["number"]],
  ["amt", ["amount"]],
  ["pct", ["percentage"]],
  ["perc", ["percentage"]],
  ["min", ["minimum"]],
  ["max", ["maximum"]],
  ["lat", ["latitude"]],
  ["lon", ["longitude"]],
  ["lng", ["longitude"]],
  ["yr", ["year"]],
  ["dept", ["department"]],
  ["acct", ["account"]],
  ["cust", ["customer"]],
  ["desc", ["description"]],
  ["org", ["organization"]],
  ["prod", ["product"]]
])

/** Words that people use for one another whatever the data are about. */
export const equivalents: ReadonlyArray<ReadonlyArray<string>> = [
  ["movie", "film"],
  ["car", "automobile", "auto"],
  ["airline", "carrier"],
  ["precipitation", "rainfall"],
  ["runtime", "running time"],
  ["mpg", "miles per gallon"],
  ["horsepower", "hp"],
  ["ticker", "symbol"],
  ["customer", "client"],
  ["employee", "staff member"],
  ["death", "fatality"]
]

/** Words by which a field tells where something starts, and where it ends. */
export const roleWords: Readonly<Record<"origin" | "destination", ReadonlyArray<string>>> = {
  origin: ["origin", "from", "source", "departure", "start", "orig", "dep"],
  destination: ["destination", "to", "target", "arrival", "end", "dest", "arr"]
}

/** Names of fields that name a row. */
export const nameWords: ReadonlyArray<string> = ["name", "title", "label", "full name", "description"]
