/**
 * What a file is saved as: the value of the field `Content-Disposition`. Names come from people, models and programs, so
 * nothing of one can end the field or begin another, and none leads out of the folder that a file is saved in.
 *
 * Source: RFC 6266; RFC 8187.
 */

/** Characters of a name, at most: no file system takes a longer one. */
const longestName = 200

/** The characters that `encodeURIComponent` leaves and RFC 8187 does not. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/gu, (character) => `%${character.charCodeAt(0).toString(16)}`)

/** A name without what is no part of one: signs that control, that turn the direction of writing, that name folders. */
const sound = (name: string): string =>
  [...name.toWellFormed().replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029/\\]/gu, "_")].slice(-longestName).join("")

/** The field for a name: in a form that every client reads, and in full for those that read it. */
export const make = (type: "attachment" | "inline", name: string): string => {
  const full = sound(name)
  const plain = full.replaceAll(/[^\x20-\x7e]|["%]/gu, "_")
  return `${type}; filename="${plain}"${plain === full ? "" : `; filename*=UTF-8''${encoded(full)}`}`
}
