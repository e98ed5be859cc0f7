/**
 * What an asset is saved as: by its name, as whoever asked or the program that wrote it gave it, with the ending of the
 * format that it is fetched in.
 */
import type { AssetFormat } from "@castellan/core/asset/Asset"

/** The other endings of a format, beside its own. */
const alsoEnds: { readonly [Format in AssetFormat]?: RegExp } = {
  jpeg: /\.jpe?g$/iu,
  html: /\.html?$/iu,
  // Whatever a text or a file of which no more is known is, its name says it best.
  txt: /\.[a-z][a-z0-9]{0,9}$/iu,
  bin: /\.[a-z][a-z0-9]{0,9}$/iu
}

/** The ending that each format is saved with. */
const endingOf = (format: AssetFormat): string => (format === "jpeg" ? "jpg" : format)

/** The name of a file. */
export const make = (name: string, format: AssetFormat): string => {
  const ending = `.${endingOf(format)}`
  const hasEnding = name.toLowerCase().endsWith(ending) || alsoEnds[format]?.test(name) === true
  return hasEnding ? name : `${name}${ending}`
}
