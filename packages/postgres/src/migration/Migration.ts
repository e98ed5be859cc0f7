/**
 * One step of the database's schema. Steps are numbered, applied in order, and never changed once released.
 */
import { createHash } from "node:crypto"

/** A step that is carried out whole, in one transaction, or not at all. */
export interface TransactionalMigration {
  /** Its number: one more than that of the step before. */
  readonly id: number
  /** What it is about, for people. */
  readonly name: string
  /**
   * Its statements, one each, in their order. They should hold locks on tables with rows for no longer than a moment:
   * what reads or rewrites a whole table keeps its readers waiting. Indexes on such tables are steps of their own.
   */
  readonly statements: ReadonlyArray<string>
}

/** An index. */
export interface MigrationIndex {
  /** Its name, without the schema, which is that of its table. */
  readonly name: string
  /** What it is on, as after the name in `CREATE INDEX`: `ON castellan.chats (organization_id, updated_at)`. */
  readonly on: string
}

/**
 * A step that adds indexes to tables that are in use: readers and writers go on meanwhile, so it is in no transaction.
 * One that was cut off leaves an index that is of no use, which the next attempt makes anew.
 */
export interface IndexMigration {
  readonly id: number
  readonly name: string
  readonly indexes: ReadonlyArray<MigrationIndex>
}

/** A step of the schema. */
export type Migration = TransactionalMigration | IndexMigration

/** What tells a step from one that was changed after its release; how it is set in lines does not matter. */
export const checksumOf = (step: Migration): string => {
  const parts = "statements" in step ? step.statements : step.indexes.map(({ name, on }) => `${name} ${on}`)
  const text = parts.map((part) => part.replaceAll(/\s+/g, " ").trim()).join(";")
  return createHash("sha256").update(text).digest("hex")
}
