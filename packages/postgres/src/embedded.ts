/**
 * PostgreSQL in the process: `@castellan/postgres/embedded`.
 */
export * from "./embedded/EmbeddedDatabase.ts"
