/**
 * The lists of functions against the engine: what an upgrade brings is seen here before a statement can call it.
 */
import { assert, describe, it } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { functions, tableFunctions } from "../src/duckdb/internal/ReviewedFunctions.ts"

/** Functions of the engine that somebody looked at, and that no statement may call. */
const withheld = [
  // Files, settings, the environment, secrets, variables and what other sessions do.
  /^(current_(catalog|connection_id|database|query|query_id|role|schema|schemas|setting|transaction_id|user))$/,
  /^(getvariable|get_block_size|in_search_path|session_user|txid_current|user|parse_duckdb_log_message)$/,
  // Sequences, logs, waiting.
  /^(currval|nextval|write_log|sleep_ms|pg_sleep)$/,
  // SQL out of text, and plans.
  /^json_(deserialize_sql|serialize_plan|serialize_sql)$/,
  // The catalog of Postgres.
  /^(pg_(?!typeof$).*|has_.*_privilege|inet_.*|(obj|col|shobj)_description|format_(pg_)?type|map_to_pg_oid)$/,
  // Internals of the engine, and functions that change how others work.
  /^(__internal_.*|can_cast_implicitly|cast_to_type|combine|finalize|create_sort_key|get_type|make_type|replace_type)$/,
  /^(stats|vector_type|timetz_byte_comparable|variant_(bytes_to_variant|normalize|to_parquet_variant))$/,
  // Nobody has asked for these.
  /^(icu_collate_.*|icu_sort_key|st_.*)$/
]

const names = async (kinds: string): Promise<ReadonlyArray<string>> => {
  const instance = await DuckDBInstance.create(":memory:")
  const connection = await instance.connect()
  const found = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN (${kinds}) ORDER BY 1`
  )
  connection.closeSync()
  instance.closeSync()
  return found.getRowsJson().map(([name]) => String(name))
}

describe("functions", () => {
  it("are each allowed or withheld by somebody who looked at them", async () => {
    const engine = await names("'scalar', 'aggregate', 'macro'")
    const unknown = engine.filter((name) => !functions.has(name) && !withheld.some((pattern) => pattern.test(name)))
    assert.deepStrictEqual(unknown, [])
    const both = [...functions].filter((name) => withheld.some((pattern) => pattern.test(name)))
    assert.deepStrictEqual(both, [])
  })

  it("that are allowed exist", async () => {
    const engine = new Set(await names("'scalar', 'aggregate', 'macro', 'table'"))
    assert.deepStrictEqual(
      [...functions, ...tableFunctions].filter((name) => !engine.has(name)),
      []
    )
  })

  it("in the place of a table are only those that compute from their arguments", () => {
    assert.deepStrictEqual([...tableFunctions].toSorted(), [
      "generate_series",
      "json_each",
      "json_tree",
      "range",
      "repeat",
      "repeat_row",
      "unnest"
    ])
  })
})
