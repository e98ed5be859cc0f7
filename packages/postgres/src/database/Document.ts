/**
 * A resource as a row keeps it: whole, as JSON, by its schema. What statements look for, sort or check by stands in
 * columns beside it; whatever changes on its own (when a key was used last) stands in its column alone.
 *
 * The column's type is `json` and not `jsonb`: it keeps texts as they are, a NUL and half a surrogate pair too, which a
 * model or a program may well have written. Nothing is looked up inside of it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** How one kind of resource is kept. */
export interface Document<A> {
  /** The resource as JSON text. */
  readonly encode: (value: A) => string
  /** The resource of a column's value. What does not fit the schema is a defect that names the kind. */
  readonly decode: (value: unknown) => Effect.Effect<A>
}

/** How resources of a schema are kept. */
export const make = <S extends Schema.Top & { readonly EncodingServices: never; readonly DecodingServices: never }>(
  schema: S
): Document<S["Type"]> => {
  const codec = Schema.toCodecJson(schema)
  const encode = Schema.encodeSync(codec)
  const decode = Schema.decodeUnknownEffect(codec)
  return {
    encode: (value) => JSON.stringify(encode(value)),
    decode: (value) => Effect.orDie(decode(value))
  }
}
