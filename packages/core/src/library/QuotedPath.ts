/**
 * Paths as git writes them in a diff: in quotes, with octal escapes, where they hold anything but plain ASCII.
 *
 * Source: git's `core.quotePath`.
 */
import * as TextBytes from "./TextBytes.ts"

const plain = /^[ !#-[\]-~]*$/u

/** A path as git writes it. */
export const quoted = (path: string): string => {
  if (plain.test(path)) return path
  const parts = Array.from(TextBytes.encode(path), (byte) => {
    if (byte === 0x22) return '\\"'
    if (byte === 0x5c) return "\\\\"
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`
  })
  return `"${parts.join("")}"`
}

/** A path after `---` or `+++`: git ends it with a tab where a space in it could be taken for the end. */
export const quotedHeader = (path: string): string => {
  const name = quoted(path)
  return name.includes(" ") && !name.startsWith('"') ? `${name}\t` : name
}
