/**
 * Units that questions name, and how they convert: only between units of one quantity.
 */

/** A unit of measure. */
export interface Unit {
  readonly name: string
  /** What it measures; only units of one quantity convert. */
  readonly quantity: string
  /** How many of the quantity's base unit it is. */
  readonly factor: number
  /** The words for it, folded, singular and plural. */
  readonly words: ReadonlyArray<string>
}

const unit = (name: string, quantity: string, factor: number, words: string): Unit => ({
  name,
  quantity,
  factor,
  words: words.split("|")
})

/** The units that are understood. */
export const units: ReadonlyArray<Unit> = [
  unit("seconds", "time", 1, "second|seconds|sec|secs"),
  unit("minutes", "time", 60, "minute|minutes|min|mins"),
  unit("hours", "time", 3600, "hour|hours|hr|hrs"),
  unit("days", "time", 86_400, "day|days"),
  unit("years", "years", 1, "year|years|yrs"),
  unit("meters", "length", 1, "metre|metres|meter|meters"),
  unit("kilometers", "length", 1000, "kilometre|kilometres|kilometer|kilometers|km|kms"),
  unit("miles", "length", 1609.344, "mile|miles|mi"),
  unit("feet", "length", 0.3048, "foot|feet|ft"),
  unit("millimeters", "length", 0.001, "millimetre|millimetres|millimeter|millimeters|mm"),
  unit("centimeters", "length", 0.01, "centimetre|centimetres|centimeter|centimeters|cm"),
  unit("inches", "length", 0.0254, "inch|inches"),
  unit("grams", "mass", 1, "gram|grams|g"),
  unit("kilograms", "mass", 1000, "kilogram|kilograms|kilo|kilos|kg|kgs"),
  unit("pounds", "mass", 453.592_37, "pound|pounds|lb|lbs"),
  unit("USD", "money", 1, "dollar|dollars|usd|bucks"),
  unit("EUR", "euros", 1, "euro|euros|eur"),
  unit("GBP", "sterling", 1, "gbp|pounds sterling"),
  unit("%", "percent", 1, "percent"),
  unit("mph", "speed", 1609.344, "mph|miles per hour|miles an hour"),
  unit("km/h", "speed", 1000, "kmh|kph|kilometers per hour|kilometres per hour"),
  unit("m/s", "speed", 3600, "meters per second|metres per second"),
  unit("°C", "celsius", 1, "celsius|degrees celsius|degrees centigrade|c"),
  unit("°F", "fahrenheit", 1, "fahrenheit|degrees fahrenheit|f"),
  unit("degrees", "degrees", 1, "degree|degrees"),
  unit("mpg", "mpg", 1, "mpg|miles per gallon"),
  unit("hp", "power", 1, "hp|horsepower"),
  unit("people", "people", 1, "people|persons|inhabitants"),
  unit("points", "points", 1, "points|point|stars"),
  unit("votes", "votes", 1, "votes"),
  unit("deaths", "deaths", 1, "deaths|fatalities|dead")
]

const byWord: ReadonlyMap<string, Unit> = new Map(
  units.flatMap((one) => [one.name.toLowerCase(), ...one.words].map((word) => [word, one] as const))
)

/** The unit that a word, or a field's `unit`, names. */
export const unitNamed = (word: string): Unit | undefined => {
  const folded = word.trim().toLowerCase()
  return byWord.get(folded) ?? byWord.get(folded.replace(/^us\s?\$$|^us dollars?$|^\$$|^u\.s\. dollars?$/, "usd"))
}

/**
 * A number of one unit in another, or `undefined` where they do not measure the same. `degrees` fits whichever scale
 * the field has.
 */
export const convert = (value: number, from: Unit, to: Unit): number | undefined => {
  if (from.name === to.name) return value
  if (from.name === "degrees" && (to.name === "°C" || to.name === "°F")) return value
  if (from.name === "°C" && to.name === "°F") return (value * 9) / 5 + 32
  if (from.name === "°F" && to.name === "°C") return ((value - 32) * 5) / 9
  if (from.quantity !== to.quantity) return undefined
  // Rounded past the noise of binary fractions: 2 hours are 120 minutes, not 119.99999999999999.
  return Number(((value * from.factor) / to.factor).toPrecision(12))
}
