/**
 * The inner parts of a line of Markdown: what is strong, what is code, what is a link. It is read into a tree, so that
 * every rendering escapes what it writes and none of it is ever markup by chance.
 *
 * It takes what answers contain: `**strong**`, `*emphasis*`, `` `code` ``, `[links](https://…)` and backslashes.
 * Everything else, HTML above all, is text. A picture is its description: reports show pictures as blocks.
 */

/** A part of a line. */
export type Inline =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Code"; readonly text: string }
  | { readonly _tag: "Strong"; readonly parts: ReadonlyArray<Inline> }
  | { readonly _tag: "Emphasis"; readonly parts: ReadonlyArray<Inline> }
  | { readonly _tag: "Link"; readonly url: string; readonly parts: ReadonlyArray<Inline> }

/** How deep parts lie in one another; what lies deeper is text. */
const maximumDepth = 8

/** An address that a reader may be sent to: the web or a mailbox, nothing that runs. */
export const isSafeAddress = (url: string): boolean => /^(https?:\/\/|mailto:)[^\s"'<>\\`]+$/i.test(url)

const punctuation = /[!-/:-@[-`{-~]/
const wordCharacter = /[\p{L}\p{N}]/u

/** Reads one line, or a paragraph of several. */
export const parse = (source: string): ReadonlyArray<Inline> => parseWithin(source, 0)

const parseWithin = (source: string, depth: number): ReadonlyArray<Inline> => {
  const parts: Array<Inline> = []
  let text = ""
  let index = 0
  /** Marks that are not to be found any more: looking again would take long where there are many. */
  const missing = new Set<string>()

  const find = (mark: string, from: number): number => {
    if (missing.has(mark)) return -1
    const found = source.indexOf(mark, from)
    if (found === -1) missing.add(mark)
    return found
  }
  const add = (part: Inline, next: number): void => {
    if (text !== "") parts.push({ _tag: "Text", text })
    text = ""
    parts.push(part)
    index = next
  }
  const inner = (from: number, to: number): ReadonlyArray<Inline> =>
    depth + 1 < maximumDepth
      ? parseWithin(source.slice(from, to), depth + 1)
      : [{ _tag: "Text", text: source.slice(from, to) }]

  /** The end of what a mark opens here; -1 where it opens nothing. */
  const closing = (mark: string): number => {
    const from = index + mark.length
    const before = source[index - 1] ?? " "
    const first = source[from] ?? " "
    if (/\s/.test(first) || (mark.startsWith("_") && wordCharacter.test(before))) return -1
    const end = find(mark, from + 1)
    return end === -1 || /\s/.test(source[end - 1] ?? " ") ? -1 : end
  }

  const code = (): boolean => {
    const ticks = /^`+/.exec(source.slice(index, index + 8))?.[0] ?? "`"
    const end = find(ticks, index + ticks.length)
    if (end === -1) return false
    add({ _tag: "Code", text: source.slice(index + ticks.length, end).trim() }, end + ticks.length)
    return true
  }

  const marked = (): boolean => {
    const character = source[index] ?? ""
    const mark = source[index + 1] === character ? character + character : character
    const end = closing(mark)
    if (end === -1) return false
    const parsed = inner(index + mark.length, end)
    add({ _tag: mark.length === 2 ? "Strong" : "Emphasis", parts: parsed }, end + mark.length)
    return true
  }

  const link = (isImage: boolean): boolean => {
    const from = index + (isImage ? 2 : 1)
    const middle = find("](", from)
    const end = middle === -1 ? -1 : find(")", middle)
    if (end === -1) return false
    const url = source.slice(middle + 2, end).trim()
    const parsed = inner(from, middle)
    if (isImage || !isSafeAddress(url)) {
      if (text !== "") parts.push({ _tag: "Text", text })
      text = ""
      parts.push(...parsed)
      index = end + 1
    } else add({ _tag: "Link", url, parts: parsed }, end + 1)
    return true
  }

  while (index < source.length) {
    const character = source[index] ?? ""
    const next = source[index + 1] ?? ""
    if (character === "\\" && punctuation.test(next)) {
      text += next
      index += 2
      continue
    }
    if (character === "`" && code()) continue
    if ((character === "*" || character === "_") && marked()) continue
    if (character === "!" && next === "[" && link(true)) continue
    if (character === "[" && link(false)) continue
    text += character
    index += 1
  }
  if (text !== "") parts.push({ _tag: "Text", text })
  return parts
}

/** The parts as plain text. */
export const plain = (parts: ReadonlyArray<Inline>): string =>
  parts.map((part) => ("parts" in part ? plain(part.parts) : part.text)).join("")
