/**
 * What a value of DuckDB becomes as a cell of a result.
 *
 * | DuckDB                                          | column    | cell                                                |
 * | ----------------------------------------------- | --------- | --------------------------------------------------- |
 * | BOOLEAN                                         | boolean   | a boolean                                           |
 * | integers of every width, BIGNUM                 | integer   | a number; the column is `decimal` when one of its values is outside ±(2^53 − 1) |
 * | FLOAT, DOUBLE                                   | number    | a number; NaN and the infinities are null, as in JSON; a FLOAT is its shortest decimal form |
 * | DECIMAL                                         | decimal   | exact text                                          |
 * | DATE                                            | date      | `YYYY-MM-DD`; years outside 0 to 9999 as `±YYYYYY`; infinity is null |
 * | TIME, TIME_NS                                   | time      | `HH:MM:SS[.f…]`                                     |
 * | TIMESTAMP of every precision                    | timestamp | ISO 8601 without a zone; infinity is null           |
 * | TIMESTAMP WITH TIME ZONE                        | timestamp | ISO 8601 in UTC, with `Z`; infinity is null         |
 * | LIST, ARRAY, STRUCT, MAP, UNION, VARIANT, JSON  | json      | JSON text; numbers in it are exact, a map is an object, a union an object of its one member |
 * | BLOB                                            | text      | `\x` and hexadecimal digits                         |
 * | TIME WITH TIME ZONE, INTERVAL, UUID, ENUM, BIT, VARCHAR, everything else | text | as DuckDB writes it |
 */
import type { ColumnType } from "@castellan/core/connector/ResultTable"
import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimeNSValue,
  DuckDBTimeValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue
} from "@duckdb/node-api"

/** What a column of a DuckDB type holds, before its values are seen. */
export const columnType = (type: DuckDBType): ColumnType => {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return "boolean"
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.BIGNUM:
      return "integer"
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
      return "number"
    case DuckDBTypeId.DECIMAL:
      return "decimal"
    case DuckDBTypeId.DATE:
      return "date"
    case DuckDBTypeId.TIME:
    case DuckDBTypeId.TIME_NS:
      return "time"
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_S:
    case DuckDBTypeId.TIMESTAMP_MS:
    case DuckDBTypeId.TIMESTAMP_NS:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return "timestamp"
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
    case DuckDBTypeId.STRUCT:
    case DuckDBTypeId.MAP:
    case DuckDBTypeId.UNION:
    case DuckDBTypeId.VARIANT:
      return "json"
    case DuckDBTypeId.VARCHAR:
      return type.alias === "JSON" ? "json" : "text"
    default:
      return "text"
  }
}

/** The type in the engine's own words, without the names of `ENUM` members, of which there may be thousands. */
export const sourceType = (type: DuckDBType): string => {
  if (type.alias !== undefined) return type.alias
  return type.typeId === DuckDBTypeId.ENUM ? "ENUM" : type.toString()
}

/** A number of a FLOAT column as the shortest decimal number that means the same FLOAT: 0.1, not 0.10000000149. */
export const shortestFloat = (value: number): number => {
  for (const digits of [6, 7, 8]) {
    const rounded = Number(value.toPrecision(digits))
    if (Math.fround(rounded) === value) return rounded
  }
  return value
}

const pad = (value: number, width: number): string => String(value).padStart(width, "0")

const yearText = (year: number): string => {
  if (year >= 0 && year <= 9999) return pad(year, 4)
  return `${year < 0 ? "-" : "+"}${pad(Math.abs(year), 6)}`
}

/**
 * The date of a number of days since 1970-01-01 in the proleptic Gregorian calendar, for every year. (`Date` covers
 * only a part of what DuckDB holds.) Counts in eras of 400 years that begin on the first of March.
 */
const dateText = (days: number): string => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${yearText(year)}-${pad(month, 2)}-${pad(day, 2)}`
}

/** A time of day from whole seconds since midnight and the units of a fraction, of which `digits` make a second. */
const timeText = (seconds: number, fraction: number, digits: number): string => {
  const clock = `${pad(Math.floor(seconds / 3600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`
  return fraction === 0 ? clock : `${clock}.${pad(fraction, digits).replace(/0+$/, "")}`
}

/** A time of day from units since midnight; `digits` of them make a second's fraction. */
const timeOfDay = (units: bigint, digits: number): string => {
  const perSecond = 10n ** BigInt(digits)
  return timeText(Number(units / perSecond), Number(units % perSecond), digits)
}

/** A moment from units since 1970-01-01T00:00:00; `digits` of them make a second's fraction. */
const timestampText = (units: bigint, digits: number): string => {
  const perSecond = 10n ** BigInt(digits)
  const remainder = units % perSecond
  const fraction = remainder < 0n ? remainder + perSecond : remainder
  const seconds = Number((units - fraction) / perSecond)
  const days = Math.floor(seconds / 86_400)
  return `${dateText(days)}T${timeText(seconds - days * 86_400, Number(fraction), digits)}`
}

const hexadecimal = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString("hex")}`

/** A moment or a day as text; null where it is infinite; undefined where the value is neither. */
const temporalText = (value: DuckDBValue): string | null | undefined => {
  if (value instanceof DuckDBDateValue) return value.isFinite ? dateText(value.days) : null
  if (value instanceof DuckDBTimestampValue) return value.isFinite ? timestampText(value.micros, 6) : null
  if (value instanceof DuckDBTimestampTZValue) return value.isFinite ? `${timestampText(value.micros, 6)}Z` : null
  if (value instanceof DuckDBTimestampMillisecondsValue) {
    return value.isFinite ? timestampText(value.millis, 3) : null
  }
  if (value instanceof DuckDBTimestampSecondsValue) return value.isFinite ? timestampText(value.seconds, 0) : null
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.isFinite ? timestampText(value.nanos, 9) : null
  if (value instanceof DuckDBTimeValue) return timeOfDay(value.micros, 6)
  if (value instanceof DuckDBTimeNSValue) return timeOfDay(value.nanos, 9)
  return undefined
}

/** A value as JSON text. */
const jsonText = (value: DuckDBValue): string => {
  if (value === null) return "null"
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "number":
      return Number.isFinite(value) ? String(value) : "null"
    case "bigint":
    case "boolean":
      return String(value)
    default:
  }
  if (value instanceof DuckDBDecimalValue) return value.toString()
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    return `[${value.items.map(jsonText).join(",")}]`
  }
  if (value instanceof DuckDBStructValue) {
    return `{${Object.entries(value.entries)
      .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
      .join(",")}}`
  }
  if (value instanceof DuckDBMapValue) {
    return `{${value.entries.map((entry) => `${JSON.stringify(keyText(entry.key))}:${jsonText(entry.value)}`).join(",")}}`
  }
  if (value instanceof DuckDBUnionValue) return `{${JSON.stringify(value.tag)}:${jsonText(value.value)}}`
  if (value instanceof DuckDBVariantValue) return jsonText(value.value)
  const text = plainText(value)
  return text === null ? "null" : JSON.stringify(text)
}

const keyText = (value: DuckDBValue): string => {
  if (typeof value === "string") return value
  return typeof value === "object" ? (plainText(value) ?? "null") : String(value)
}

/** A value as text that is not JSON; null where the text of the value means none. */
const plainText = (value: DuckDBValue): string | null => {
  if (value === null) return null
  const temporal = temporalText(value)
  if (temporal !== undefined) return temporal
  return value instanceof DuckDBBlobValue ? hexadecimal(value.bytes) : value.toString()
}

/** Reads the values of a column as cells. A wide integer comes as it is: its column decides what becomes of it. */
export const cellReader = (type: DuckDBType): ((value: DuckDBValue) => string | number | boolean | bigint | null) => {
  switch (columnType(type)) {
    case "boolean":
      return (value) => (typeof value === "boolean" ? value : null)
    case "integer":
      return (value) => (typeof value === "number" || typeof value === "bigint" ? value : null)
    case "number":
      return type.typeId === DuckDBTypeId.FLOAT
        ? (value) => (typeof value === "number" && Number.isFinite(value) ? shortestFloat(value) : null)
        : (value) => (typeof value === "number" && Number.isFinite(value) ? value : null)
    case "json":
      return type.typeId === DuckDBTypeId.VARCHAR
        ? (value) => (typeof value === "string" ? value : null)
        : (value) => (value === null ? null : jsonText(value))
    default:
      return (value) => (typeof value === "string" ? value : plainText(value))
  }
}
