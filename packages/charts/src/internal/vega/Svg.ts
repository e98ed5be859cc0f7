/**
 * The last look at a picture before it leaves: an SVG document that draws and does nothing else.
 *
 * Colours, shapes and texts may come from the data, so what the specification says is not all that matters. Here the
 * document itself is read: only elements that draw, no links, no handlers, no reference out of the document.
 */
import type { Problem } from "../specification/Json.ts"

/** The longest document, in characters. */
const longest = 8_000_000

/** The largest picture, in logical pixels. */
export const largest = { width: 3000, height: 5000 } as const

const elements: ReadonlySet<string> = new Set([
  "svg",
  "g",
  "path",
  "text",
  "tspan",
  "rect",
  "line",
  "defs",
  "clipPath",
  "linearGradient",
  "radialGradient",
  "stop"
])

const tag = /<(\/?)([^\s/>]+)((?:\s+[^\s=/>]+="[^"]*")*)\s*\/?>/g
const attribute = /([^\s=]+)="([^"]*)"/g

/** Characters that XML does not know, not even escaped. */
// oxlint-disable-next-line no-control-regex
const outsideXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** A document as XML: texts of the data may hold control characters and halves of characters. */
export const wellFormed = (svg: string): string => svg.toWellFormed().replaceAll(outsideXml, "\ufffd")

/** What is wrong with a document, if anything. */
export const check = (svg: string): Problem | undefined => {
  if (svg.length > longest) return problem("the chart draws too much: aggregate the data")
  const size = /^<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg)
  const width = Number(size?.[1])
  const height = Number(size?.[2])
  if (!(width <= largest.width && height <= largest.height)) {
    return problem(
      `the chart would be ${Math.round(width)} × ${Math.round(height)} pixels, at most ${largest.width} × ${largest.height} are drawn: show fewer categories`
    )
  }
  // Everything between two tags is text that Vega escaped; whatever the expression does not match is not a tag.
  let end = 0
  for (const match of svg.matchAll(tag)) {
    if (svg.slice(end, match.index).includes("<")) return problem("the chart would not be a plain picture")
    end = match.index + match[0].length
    const [, , name = "", attributes = ""] = match
    const found = elements.has(name) ? checkAttributes(attributes) : "the chart would hold more than shapes and texts"
    if (found !== undefined) return problem(found)
  }
  return undefined
}

const problem = (message: string): Problem => ({ place: [], message })

const checkAttributes = (attributes: string): string | undefined => {
  for (const [, name = "", value = ""] of attributes.matchAll(attribute)) {
    if (/^on|href$|^src$/i.test(name)) return "a chart may not hold links or scripts"
    if (name.startsWith("aria-") || name.startsWith("xmlns")) continue
    if (/url\s*\((?!\s*['"]?#)|javascript:|@import/i.test(value)) {
      return `a chart may not refer to anything outside itself, but a value of the data or the specification does (${name})`
    }
    if (/\b(NaN|undefined|Infinity)\b/.test(value))
      return `some value has no place in the chart (its ${name} is not a number)`
  }
  return undefined
}
