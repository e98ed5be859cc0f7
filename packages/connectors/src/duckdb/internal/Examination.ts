/**
 * Asks the gate about a statement, with what the engine's own parser makes of it.
 */
import type { DuckDBConnection } from "@duckdb/node-api"
import { EngineFailure } from "./EngineFailure.ts"
import { type Catalog, judge } from "./Gate.ts"

const maxStatement = 1_000_000

/** Whether a statement may run, and by which names it reads which tables; throws `EngineFailure` where it may not. */
export type Examine = (statement: string, catalog: Catalog) => Promise<ReadonlyMap<string, string>>

/** An examiner that parses on a connection of its own. */
export const make = async (connection: DuckDBConnection): Promise<Examine> => {
  const parser = await connection.prepare("SELECT json_serialize_sql(CAST($1 AS VARCHAR))")
  return async (statement, catalog) => {
    // The engine's interface ends a text at the first NUL, and would see another statement than we do.
    if (statement.includes("\0")) throw new EngineFailure("refused", "a statement cannot hold the character NUL")
    if (statement.length > maxStatement) {
      throw new EngineFailure("refused", `a statement cannot be longer than ${maxStatement} characters`)
    }
    parser.bindVarchar(1, statement)
    const serialized = await parser.runAndReadAll()
    const decision = judge(statement, String(serialized.getRowsJS()[0]?.[0]), catalog)
    switch (decision._tag) {
      case "Allowed":
        return decision.tables
      case "Refused":
        throw new EngineFailure("refused", decision.message)
      case "UnknownTable":
        throw new EngineFailure("failed", decision.message)
      case "Unparsable":
        // The parser's own error has the place; what does not parse does nothing.
        await connection.extractStatements(statement)
        throw new EngineFailure("refused", decision.message)
    }
  }
}
