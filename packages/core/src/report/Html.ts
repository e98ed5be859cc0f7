/**
 * HTML that is safe by the way it is made: text and attributes are escaped where they go in, elements and attributes
 * come from lists, and there is no way to put markup in as a string.
 */

/** The elements that reports are made of; mail clients show them all. */
export type ElementName =
  | "a"
  | "blockquote"
  | "body"
  | "br"
  | "code"
  | "div"
  | "em"
  | "h1"
  | "h2"
  | "h3"
  | "head"
  | "hr"
  | "html"
  | "img"
  | "li"
  | "meta"
  | "ol"
  | "p"
  | "pre"
  | "span"
  | "strong"
  | "table"
  | "tbody"
  | "td"
  | "th"
  | "thead"
  | "title"
  | "tr"
  | "ul"

/** The attributes that they may have; none of them runs anything. */
export type AttributeName =
  | "align"
  | "alt"
  | "border"
  | "cellpadding"
  | "cellspacing"
  | "charset"
  | "colspan"
  | "content"
  | "height"
  | "href"
  | "lang"
  | "name"
  | "role"
  | "src"
  | "style"
  | "valign"
  | "width"

const made: unique symbol = Symbol("@castellan/core/report/Html")

/** A piece of HTML. Only the functions of this module make one. */
export interface Html {
  readonly [made]: string
}

const piece = (html: string): Html => ({ [made]: html })

const escapes: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"]
])

/** What no text of a document may hold: control characters but tab and line ends, and halves of surrogate pairs. */
const unfit = /[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const escape = (text: string): string =>
  text.replaceAll(unfit, "\ufffd").replaceAll(/[&<>"']/g, (character) => escapes.get(character) ?? "")

const empty: ReadonlySet<ElementName> = new Set<ElementName>(["br", "hr", "img", "meta"])

/** Text, escaped. */
export const text = (words: string): Html => piece(escape(words))

/** Several pieces, one after another. */
export const all = (pieces: ReadonlyArray<Html>): Html => piece(pieces.map((one) => one[made]).join(""))

/** Nothing. */
export const none: Html = piece("")

/** An element with its attributes, escaped, around its children. */
export const element = (
  name: ElementName,
  attributes: { readonly [Name in AttributeName]?: string },
  ...children: ReadonlyArray<Html>
): Html => {
  const written = Object.entries(attributes)
    .map(([attribute, value]) => ` ${attribute}="${escape(value)}"`)
    .join("")
  return empty.has(name) ? piece(`<${name}${written} />`) : piece(`<${name}${written}>${all(children)[made]}</${name}>`)
}

/** A whole document as text. */
export const documentOf = (html: Html): string => `<!DOCTYPE html>\n${html[made]}\n`
