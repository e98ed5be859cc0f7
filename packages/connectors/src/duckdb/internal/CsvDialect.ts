/**
 * How a CSV or TSV file is written: found by the engine's sniffer, and mended where the sniffer gives up too much.
 */
import type { DuckDBConnection } from "@duckdb/node-api"
import { closeSync, openSync, readSync, statSync } from "node:fs"
import { literal } from "./SqlText.ts"

/** A file, and the SQL that reads it with every column as text. */
export interface TextSource {
  readonly sql: string
  readonly columns: ReadonlyArray<string>
  /** Whether a comma in a number stands for the decimal point. */
  readonly decimalComma: boolean
}

interface Dialect {
  readonly delimiter: string
  readonly quote: string
  readonly comment: string
  readonly skip: number
  readonly header: boolean
  readonly columns: ReadonlyArray<string>
}

/** How tolerant a reading is. The second accepts rows that are too short or too long, and stray quotes. */
type Tolerance = "strict" | "tolerant"

const tolerances: ReadonlyArray<Tolerance> = ["strict", "tolerant"]

const beginning = 64 * 1024

/** The first bytes of a file. */
const head = (file: string): Buffer => {
  const descriptor = openSync(file, "r")
  try {
    const bytes = Buffer.alloc(beginning)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, beginning, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** The encodings to try, the likely one first. A file that is no valid UTF-8 comes from an old program in the West. */
const encodings = (bytes: Buffer): ReadonlyArray<string> => {
  const [first, second] = bytes
  const utf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return utf16 ? ["utf-16"] : ["utf-8", "latin-1"]
}

/** One way to read a file; undefined where it does not suit. */
export type Read = (connection: DuckDBConnection) => Promise<TextSource | undefined>

/**
 * The ways to read a file, the most faithful first. The caller takes the first that reads all of it.
 *
 * @param delimiter the delimiter where the file's name tells it
 */
export const readings = (file: string, delimiter: string | undefined): ReadonlyArray<Read> => {
  const bytes = file.endsWith(".gz") ? Buffer.alloc(0) : head(file)
  return encodings(bytes).flatMap((encoding) =>
    tolerances.map((tolerance): Read => async (connection) => {
      const dialect = await sniff(connection, file, delimiter, encoding, tolerance)
      if (dialect === undefined || (tolerance === "strict" && losesRows(dialect, bytes))) return undefined
      return source(file, dialect, encoding, tolerance)
    })
  )
}

const kilobyte = 1024

/** The engine allocates buffers for the longest line for each thread, so it is as short as the file allows. */
const longestLine = (file: string): number =>
  Math.min(Math.max(statSync(file).size + 1, 64 * kilobyte), 8 * kilobyte * kilobyte)

const options = (file: string, delimiter: string | undefined, encoding: string, tolerance: Tolerance): string =>
  [
    `encoding = ${literal(encoding)}`,
    `max_line_size = ${longestLine(file)}, buffer_size = ${2 * longestLine(file)}`,
    ...(delimiter === undefined ? [] : [`delim = ${literal(delimiter)}`]),
    ...(tolerance === "strict" ? [] : ["null_padding = true", "strict_mode = false"])
  ].join(", ")

const sniff = async (
  connection: DuckDBConnection,
  file: string,
  delimiter: string | undefined,
  encoding: string,
  tolerance: Tolerance
): Promise<Dialect | undefined> => {
  const found = await connection
    .runAndReadAll(
      `SELECT Delimiter, Quote, Comment, SkipRows, HasHeader, list_transform(Columns, lambda c: c.name)
       FROM sniff_csv(${literal(file)}, ${options(file, delimiter, encoding, tolerance)})`
    )
    // What the sniffer makes nothing of, another reading may.
    .catch(() => undefined)
  const [row] = found?.getRowsJson() ?? []
  if (row === undefined) return undefined
  const [delim, quote, comment, skip, header, columns] = row
  const text = (value: unknown): string => (typeof value !== "string" || value === "(empty)" ? "" : value)
  return {
    delimiter: text(delim) || ",",
    // The sniffer finds no quotes where its sample has none; further down there may be some.
    quote: text(quote) || '"',
    comment: text(comment),
    skip: Number(skip),
    header: header === true,
    columns: Array.isArray(columns) ? columns.map(String) : []
  }
}

/**
 * Whether the sniffer passed over lines that look like data. It skips notes above a table, and also everything above
 * the last rows of one shape in a file of ragged rows.
 */
const losesRows = (dialect: Dialect, bytes: Buffer): boolean => {
  if (dialect.skip === 0) return false
  const lines = bytes.toString("latin1").split(/\r\n|\n|\r/)
  const skipped = lines.slice(0, dialect.skip)
  return skipped.some((line) => line.includes(dialect.delimiter)) && lines.length - skipped.length <= skipped.length
}

const source = (file: string, dialect: Dialect, encoding: string, tolerance: Tolerance): TextSource => {
  const columns = names(dialect.columns)
  const types = columns.map((name) => `${literal(name)}: 'VARCHAR'`).join(", ")
  return {
    sql: `read_csv(${literal(file)}, auto_detect = false, ${options(file, dialect.delimiter, encoding, tolerance)},
      quote = ${literal(dialect.quote)}, escape = ${literal(dialect.quote)}, comment = ${literal(dialect.comment)},
      skip = ${dialect.skip}, header = ${dialect.header}, columns = {${types}})`,
    columns,
    decimalComma: dialect.delimiter === ";"
  }
}

/** Names of columns without space around them, each only once in any case of its letters. */
const names = (written: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return written.map((name, index) => {
    const plain = name.trim() || `column${index}`
    let free = plain
    for (let number = 1; taken.has(free.toLowerCase()); number++) free = `${plain}_${number}`
    taken.add(free.toLowerCase())
    return free
  })
}
