/**
 * The widths of a TrueType font's glyphs: enough of the format to know how wide a text will be, and no more.
 *
 * Source: OpenType specification 1.9, tables `head`, `hhea`, `hmtx` and `cmap` (formats 4 and 12).
 */

/** How wide texts are in one font. */
export interface Metrics {
  /** The width of a text at a size of 1 pixel. Kerning, a few hundredths at most, is not counted. */
  readonly width: (text: string) => number
}

/** Maps a code point to a glyph; 0 is the glyph of what the font does not have. */
type GlyphOf = (codePoint: number) => number

/** Reads the widths of a font. */
export const read = (font: Uint8Array): Metrics => {
  const view = new DataView(font.buffer, font.byteOffset, font.byteLength)
  const tables = tablesOf(view)
  const unitsPerEm = view.getUint16(tables("head") + 18)
  const advances = view.getUint16(tables("hhea") + 34)
  const hmtx = tables("hmtx")
  const glyphOf = glyphs(view, tables("cmap"))

  // Glyphs beyond the last advance share it: that is how a monospaced tail is stored.
  const advance = (glyph: number): number => view.getUint16(hmtx + 4 * Math.min(glyph, advances - 1)) / unitsPerEm
  const widths = new Map<number, number>()

  const widthOf = (codePoint: number): number => {
    const known = widths.get(codePoint)
    if (known !== undefined) return known
    const glyph = glyphOf(codePoint)
    // What the font lacks is drawn by another font: ideographs and emoji are about as wide as they are high.
    const width = glyph === 0 ? (codePoint >= 0x1100 ? 1 : advance(0)) : advance(glyph)
    widths.set(codePoint, width)
    return width
  }

  return {
    width: (text) => {
      let width = 0
      for (const character of text) width += widthOf(character.codePointAt(0) ?? 0)
      return width
    }
  }
}

/** Where each table starts. */
const tablesOf = (view: DataView): ((tag: string) => number) => {
  const offsets = new Map<string, number>()
  for (let index = 0; index < view.getUint16(4); index++) {
    const record = 12 + 16 * index
    const tag = String.fromCharCode(...[0, 1, 2, 3].map((byte) => view.getUint8(record + byte)))
    offsets.set(tag, view.getUint32(record + 8))
  }
  return (tag) => {
    const offset = offsets.get(tag)
    if (offset === undefined) throw new Error(`the font has no table ${tag}`)
    return offset
  }
}

const glyphs = (view: DataView, cmap: number): GlyphOf => {
  const subtables = Array.from(
    { length: view.getUint16(cmap + 2) },
    (_, index) => cmap + view.getUint32(cmap + 8 + 8 * index)
  )
  // Format 12 covers all of Unicode, format 4 the first plane.
  const full = subtables.find((subtable) => view.getUint16(subtable) === 12)
  if (full !== undefined) return segmented(view, full)
  const basic = subtables.find((subtable) => view.getUint16(subtable) === 4)
  if (basic === undefined) throw new Error("the font has no character map that is read here")
  return firstPlane(view, basic)
}

const segmented =
  (view: DataView, table: number): GlyphOf =>
  (codePoint) => {
    let low = 0
    let high = view.getUint32(table + 12) - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      const group = table + 16 + 12 * middle
      if (codePoint < view.getUint32(group)) high = middle - 1
      else if (codePoint > view.getUint32(group + 4)) low = middle + 1
      else return view.getUint32(group + 8) + codePoint - view.getUint32(group)
    }
    return 0
  }

const firstPlane =
  (view: DataView, table: number): GlyphOf =>
  (codePoint) => {
    const doubled = view.getUint16(table + 6)
    const ends = table + 14
    const starts = ends + doubled + 2
    for (let at = 0; at < doubled; at += 2) {
      if (codePoint > view.getUint16(ends + at)) continue
      const start = view.getUint16(starts + at)
      if (codePoint < start) return 0
      const delta = view.getUint16(starts + doubled + at)
      const ranges = starts + 2 * doubled + at
      const range = view.getUint16(ranges)
      if (range === 0) return (codePoint + delta) & 0xffff
      const glyph = view.getUint16(ranges + range + 2 * (codePoint - start))
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff
    }
    return 0
  }
