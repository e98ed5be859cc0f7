/**
 * Bytes of a row that may be more than one answer of the database holds, or than a server likes to hold for each of those
 * who read them: they are read in pieces, each a statement of its own, so that nothing waits for a slow reader.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Query from "./Query.ts"

/**
 * Bytes of a piece. Where the column is compressed, the database reads it from its beginning for each piece: many small
 * ones would cost more than the bytes themselves.
 */
export const pieceBytes = 4 * 1024 * 1024

/** The first piece, and how many bytes there are in all. */
export interface Beginning {
  readonly content: Uint8Array
  readonly size: number
}

/** The statement for a piece: as many bytes as a piece has, from a place on, counted from 1. */
export type PieceStatement = (from: number) => Query.Statement<{ readonly content: Uint8Array }>

const gone = new Error("the bytes were removed while they were read")

/** A piece that must be there, and as long as it has to be. */
const pieceAt = (statement: PieceStatement, read: number, size: number): Effect.Effect<Uint8Array> =>
  Effect.flatMap(Query.row(statement(read + 1)), (row) =>
    Option.isSome(row) && row.value.content.length === Math.min(pieceBytes, size - read)
      ? Effect.succeed(row.value.content)
      : Effect.die(gone)
  )

/** All of the bytes, piece by piece. */
export const pieces = ({ content, size }: Beginning, statement: PieceStatement): Stream.Stream<Uint8Array> =>
  Stream.concat(
    Stream.succeed(content),
    Stream.unfold(content.length, (read) =>
      read >= size
        ? Effect.undefined
        : Effect.map(pieceAt(statement, read, size), (piece) => [piece, read + piece.length] as const)
    )
  )

/** All of the bytes as one array, without a second copy of them all. */
export const whole = Effect.fnUntraced(function* ({ content, size }: Beginning, statement: PieceStatement) {
  if (content.length === size) return content
  const bytes = new Uint8Array(size)
  bytes.set(content)
  for (let read = content.length; read < size;) {
    const piece = yield* pieceAt(statement, read, size)
    bytes.set(piece, read)
    read += piece.length
  }
  return bytes
})
