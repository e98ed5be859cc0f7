/**
 * Statements that answer with documents. A failure of the database is a defect (`DatabaseFailure`).
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import * as DatabaseFailure from "./DatabaseFailure.ts"
import type { Document } from "./Document.ts"

/** A row with a document. */
export interface DocumentRow {
  readonly document: unknown
}

/** A statement, or what was made of one. */
export type Statement<Row> = Effect.Effect<ReadonlyArray<Row>, SqlError>

/** Carries out a statement whose answer is of no interest. */
export const run = (statement: Statement<unknown>): Effect.Effect<void> =>
  DatabaseFailure.orDefect(Effect.asVoid(statement))

/** The rows of a statement. */
export const rows = <Row>(statement: Statement<Row>): Effect.Effect<ReadonlyArray<Row>> =>
  DatabaseFailure.orDefect(statement)

/** The first row of a statement. */
export const row = <Row>(statement: Statement<Row>): Effect.Effect<Option.Option<Row>> =>
  Effect.map(rows(statement), (found) => Option.fromUndefinedOr(found[0]))

/** The documents of a statement's rows, in their order. */
export const all = <A>(document: Document<A>, statement: Statement<DocumentRow>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.flatMap(rows(statement), (found) => Effect.forEach(found, (one) => document.decode(one.document)))

/** The document of a statement's first row. */
export const first = <A>(document: Document<A>, statement: Statement<DocumentRow>): Effect.Effect<Option.Option<A>> =>
  Effect.flatMap(rows(statement), (found) =>
    found[0] === undefined ? Effect.succeedNone : Effect.asSome(document.decode(found[0].document))
  )
