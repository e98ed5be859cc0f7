/**
 * Identifiers: UUIDv7 strings, time-ordered; each resource brands its own.
 *
 * Source: decisions.md §1 ("UUID ids are UUIDv7").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A UUID in its canonical lower-case form. Any version is accepted from outside; new ones are version 7. */
export const Uuid = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, {
    title: "a UUID",
    description: "a UUID in canonical lower-case form"
  })
)

/** A new UUIDv7 from the clock and the secure random source of the context; each sorts after the one before. */
export const next: Effect.Effect<string, never, SecureRandom.SecureRandom> = SecureRandom.SecureRandom.use((random) =>
  random.uuidV7()
)
