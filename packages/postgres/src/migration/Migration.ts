/**
 * One step of the database's schema. Steps are numbered, applied in order, and never changed once released.
 */

/** A step of the schema. */
export interface Migration {
  /** Its number: one more than that of the step before. */
  readonly id: number
  /** What it is about, for people. */
  readonly name: string
  /** Its statements, one each, carried out in order and in one transaction. */
  readonly statements: ReadonlyArray<string>
}
