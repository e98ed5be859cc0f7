/**
 * Converts a text file into a database of its own, once, so that no statement parses text again: on 3 million rows
 * of CSV a grouping takes 15 ms instead of 760. The database is then attached read-only.
 */
import type { DuckDBConnection } from "@duckdb/node-api"
import { renameSync, rmSync, statSync } from "node:fs"
import type { TableFiles } from "./Message.ts"
import { literal } from "./SqlText.ts"

/** Writes the rows of a table into the database file `target`, as its table `main.data`. */
export const convert = async (connection: DuckDBConnection, table: TableFiles, target: string): Promise<void> => {
  const draft = `${target}.${process.pid}`
  rmSync(draft, { force: true })
  await connection.run(`ATTACH ${literal(draft)} AS draft`)
  try {
    await connection.run(`CREATE TABLE draft.main.data AS SELECT * FROM ${source(table)}`)
  } finally {
    await connection.run("DETACH draft")
  }
  renameSync(draft, target)
}

const source = (table: TableFiles): string => {
  const file = literal(table.files[0] ?? "")
  if (table.format === "csv") return `read_csv(${file})`
  if (table.format === "tsv") return `read_csv(${file}, delim = '\t')`
  return `read_json(${file}, maximum_object_size = ${objectSize(table.files[0] ?? "")})`
}

const megabyte = 1024 * 1024

/** The engine allocates a buffer of twice the largest object for each thread, so it is as small as the file allows. */
const objectSize = (file: string): number =>
  file.endsWith(".gz") ? 32 * megabyte : Math.min(Math.max(statSync(file).size + 1, megabyte), 64 * megabyte)
