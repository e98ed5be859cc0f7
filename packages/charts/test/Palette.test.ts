/**
 * The colours stay apart for readers who see colours differently.
 */
import * as Palette from "../src/internal/theme/Palette.ts"
import { assert, describe, it } from "@effect/vitest"

type Triple = readonly [number, number, number]

const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)

const rgbOf = (hex: string): Triple => {
  const channel = (from: number): number => linear(Number.parseInt(hex.slice(from, from + 2), 16) / 255)
  return [channel(1), channel(3), channel(5)]
}

const through = (matrix: readonly [Triple, Triple, Triple], [r, g, b]: Triple): Triple => {
  const row = ([x, y, z]: Triple): number => Math.min(1, Math.max(0, x * r + y * g + z * b))
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])]
}

/** How linear RGB looks to each eye; Machado, Oliveira and Fernandes (2009), severity 1. */
const eyes = {
  "usual sight": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1]
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881]
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039]
  ]
} as const satisfies Record<string, readonly [Triple, Triple, Triple]>

/** OKLab (Ottosson 2020): distances in it are about as large as they look. */
const lab = ([r, g, b]: Triple): Triple => {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  ]
}

const distance = (left: string, right: string, eye: keyof typeof eyes): number => {
  const [a, b, c] = lab(through(eyes[eye], rgbOf(left)))
  const [d, e, f] = lab(through(eyes[eye], rgbOf(right)))
  return Math.hypot(a - d, b - e, c - f)
}

const pairs = (colours: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  colours.flatMap((left, index) => colours.slice(index + 1).map((right) => [left, right] as const))

const luminance = (hex: string): number => {
  const [r, g, b] = rgbOf(hex)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** WCAG 2.2: the contrast of a colour with the white ground. */
const contrast = (hex: string): number => 1.05 / (luminance(hex) + 0.05)

const names: ReadonlyArray<keyof typeof eyes> = ["usual sight", "deuteranopia", "protanopia", "tritanopia"]

describe("Palette", () => {
  it.each(names)("the first six colours of categories are far apart: %s", (eye) => {
    for (const [left, right] of pairs(Palette.categorical.slice(0, 6))) {
      assert.isAbove(distance(left, right, eye), 0.12, `${left} and ${right}`)
    }
  })

  it.each(names)("the first ten can be told apart: %s", (eye) => {
    for (const [left, right] of pairs(Palette.categorical.slice(0, 10))) {
      assert.isAbove(distance(left, right, eye), 0.1, `${left} and ${right}`)
    }
  })

  it("no colour is given out twice", () => {
    assert.strictEqual(new Set(Palette.categorical).size, Palette.categorical.length)
  })

  it("marks and texts stand out from the ground", () => {
    for (const colour of Palette.categorical.slice(0, 10)) assert.isAbove(contrast(colour), 1.6, colour)
    for (const colour of [Palette.ink.title, Palette.ink.text, Palette.ink.label]) {
      assert.isAbove(contrast(colour), 4.5, colour)
    }
  })

  it.each(names)("a sequence only gets darker: %s", (eye) => {
    const lightness = Palette.sequential.map((colour) => lab(through(eyes[eye], rgbOf(colour)))[0])
    for (const [index, value] of lightness.slice(1).entries()) assert.isBelow(value, (lightness[index] ?? 0) - 0.04)
  })

  it.each(names)("the ends of a divergence are apart, its middle is light: %s", (eye) => {
    const [low = "", middle = "", high = ""] = [Palette.diverging[1], Palette.diverging[3], Palette.diverging[5]]
    assert.isAbove(distance(low, high, eye), 0.1)
    assert.isAbove(luminance(middle), Math.max(luminance(low), luminance(high)))
  })
})
