/**
 * Texts are measured as wide as they are drawn.
 */
import * as Fonts from "../src/internal/theme/Fonts.ts"
import { assert, describe, it } from "@effect/vitest"
import { Resvg } from "@resvg/resvg-js"

/** The right end of a text that ends with a bar, as drawn: the bar's own sides are the same for every text. */
const drawnWidth = (text: string, size: number, weight: number): number => {
  const end = (content: string): number => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="100"><text x="10" y="50" font-family="Inter" font-size="${size}" font-weight="${weight}">${content}|</text></svg>`
    const box = new Resvg(svg, {
      font: { loadSystemFonts: false, fontFiles: [...Fonts.files], defaultFontFamily: Fonts.family }
    }).innerBBox()
    return box === undefined ? 0 : box.x + box.width
  }
  return end(text) - end("")
}

describe("Fonts", () => {
  const texts = [
    "Average delay (minutes)",
    "1,234,567.89",
    "Überraschung naïve Ærø",
    "Ελληνικά и кириллица",
    "WWWWWWWWWW",
    "iiiiiiiiii",
    "AVATAR To. Ty"
  ]
  const weights = [400, 500, 600, 700]
  it.each(texts.flatMap((text) => weights.map((weight) => ({ text, weight }))))(
    "$text at $weight",
    ({ text, weight }) => {
      const measured = Fonts.width(text, 40, weight)
      const drawn = drawnWidth(text, 40, weight)
      // Kerning draws some letters closer together than their widths say, and a few a little further apart.
      assert.isAtLeast(measured, drawn * 0.975 - 1)
      assert.isAtMost(measured, drawn * 1.08 + 1)
    }
  )

  it("a text without letters has no width", () => {
    assert.strictEqual(Fonts.width("", 40), 0)
  })

  it("weights are told apart as CSS names them", () => {
    const width = (weight?: number | string) => Fonts.width("Revenue", 40, weight)
    assert.strictEqual(width(), width("normal"))
    assert.strictEqual(width("bold"), width(700))
    assert.isAbove(width(600), width(400))
  })

  it("breaks a text at its spaces, and keeps a word that is too long", () => {
    assert.deepStrictEqual(Fonts.lines("one two three", 1000, 12), ["one two three"])
    assert.deepStrictEqual(Fonts.lines("one two three", Fonts.width("one two", 12) + 1, 12), ["one two", "three"])
    assert.deepStrictEqual(Fonts.lines("incomprehensibilities", 10, 12), ["incomprehensibilities"])
    assert.deepStrictEqual(Fonts.lines("   ", 10, 12), [])
  })
})
