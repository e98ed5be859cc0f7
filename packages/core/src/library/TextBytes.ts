/**
 * Texts as bytes and back. A file is a text when it is valid UTF-8 without a NUL; everything else is binary, and is
 * never looked into.
 */
import * as Option from "effect/Option"

interface Decoder {
  readonly decode: (bytes: Uint8Array) => string
}
interface Encoder {
  readonly encode: (text: string) => Uint8Array
}
// Every runtime has these two; the core's library of types, which knows no runtime, does not.
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean }
) => Decoder
declare const TextEncoder: new () => Encoder

const encoder = new TextEncoder()
// The mark of byte order belongs to the text: without it the file would be another one.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A text as UTF-8. */
export const encode = (text: string): Uint8Array => encoder.encode(text)

/** The text that bytes hold; none where they are binary. */
export const decode = (bytes: Uint8Array): Option.Option<string> => {
  if (bytes.includes(0)) return Option.none()
  try {
    return Option.some(decoder.decode(bytes))
  } catch {
    // The decoder has no other way to say that these bytes are no UTF-8.
    return Option.none()
  }
}
