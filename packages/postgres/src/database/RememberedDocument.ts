/**
 * Documents that are read over and over, request by request, and seldom change: what a text was decoded to is remembered
 * by the text. Nothing is assumed of the database: a row is read each time, and one that changed is another text.
 */
import * as Effect from "effect/Effect"
import type { Document } from "./Document.ts"

/** Characters of texts that are remembered, at most: of those used lately, and as many again of those used before. */
const capacity = 2_000_000

/** Decodes the texts of one kind of document. */
export type RememberedDocument<A> = (text: string) => Effect.Effect<A>

/** How texts of a kind of document are decoded, each once for as long as it is used. */
export const make = <A>(document: Document<A>): RememberedDocument<A> => {
  // What was not used while as much again was is let go, without a list of who was used when.
  let recent = new Map<string, Effect.Effect<A>>()
  let before = new Map<string, Effect.Effect<A>>()
  let size = 0

  const remember = (text: string, value: Effect.Effect<A>): void => {
    if (size + text.length > capacity) {
      before = recent
      recent = new Map()
      size = 0
    }
    recent.set(text, value)
    size += text.length
  }

  return (text) => {
    const known = recent.get(text)
    if (known !== undefined) return known
    const older = before.get(text)
    if (older !== undefined) {
      remember(text, older)
      return older
    }
    return Effect.flatMap(
      Effect.sync((): unknown => JSON.parse(text)),
      (json) =>
        Effect.map(document.decode(json), (value) => {
          remember(text, Effect.succeed(value))
          return value
        })
    )
  }
}
