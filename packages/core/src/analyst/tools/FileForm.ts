/**
 * What a file is, by its name and by its beginning. Programs name files as they like: a file that does not begin as one
 * of its kind does is a download, and nothing more.
 */
import * as Option from "effect/Option"
import type { AssetContent } from "../../asset/AssetStore.ts"
import type { AssetFormat, AssetKind } from "../../asset/Asset.ts"
import * as TextBytes from "../../library/TextBytes.ts"

/** What a file is as an asset. */
export interface FileForm {
  readonly kind: AssetKind
  readonly format: AssetFormat
  readonly content: AssetContent
}

type Named = readonly [kind: AssetKind, format: AssetFormat]

const byExtension: ReadonlyMap<string, Named> = new Map<string, Named>([
  ["csv", ["table", "csv"]],
  ["gif", ["image", "gif"]],
  ["htm", ["html", "html"]],
  ["html", ["html", "html"]],
  ["jpeg", ["image", "jpeg"]],
  ["jpg", ["image", "jpeg"]],
  ["json", ["download", "json"]],
  ["log", ["text", "txt"]],
  ["md", ["text", "txt"]],
  ["parquet", ["download", "parquet"]],
  ["pdf", ["pdf", "pdf"]],
  ["png", ["image", "png"]],
  ["py", ["text", "txt"]],
  ["sql", ["text", "txt"]],
  ["svg", ["image", "svg"]],
  ["txt", ["text", "txt"]],
  ["xlsx", ["download", "xlsx"]],
  ["zip", ["download", "zip"]]
])

/** How files of each format begin, in bytes; formats that are text are not among them. */
const beginnings: { readonly [Format in AssetFormat]?: ReadonlyArray<number> } = {
  gif: [0x47, 0x49, 0x46, 0x38],
  jpeg: [0xff, 0xd8, 0xff],
  parquet: [0x50, 0x41, 0x52, 0x31],
  pdf: [0x25, 0x50, 0x44, 0x46, 0x2d],
  png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  xlsx: [0x50, 0x4b, 0x03, 0x04],
  zip: [0x50, 0x4b, 0x03, 0x04]
}

/** Whether bytes begin as those of a format do; text formats have no beginning of their own. */
export const beginsAs = (format: AssetFormat, bytes: Uint8Array): boolean =>
  (beginnings[format] ?? []).every((byte, index) => bytes[index] === byte)

/** What a file is. */
export const formOf = (name: string, bytes: Uint8Array): FileForm => {
  const download: FileForm = { kind: "download", format: "bin", content: bytes }
  const dot = name.lastIndexOf(".")
  const named = dot === -1 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase())
  if (named === undefined) return download
  const [kind, format] = named
  if (beginnings[format] !== undefined) return beginsAs(format, bytes) ? { kind, format, content: bytes } : download
  const text = TextBytes.decode(bytes)
  return Option.isNone(text) ? download : { kind, format, content: text.value }
}
