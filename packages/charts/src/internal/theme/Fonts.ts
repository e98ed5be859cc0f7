/**
 * The typeface of the charts, shipped with the package: Inter, under the SIL Open Font License.
 *
 * No font of the machine is used, so that a chart looks the same on a laptop and in a bare container, and every text
 * is measured with the widths of the very font that draws it.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import * as TrueType from "./TrueType.ts"

const require = createRequire(import.meta.url)

const faceFile = (name: string): string => require.resolve(`@expo-google-fonts/inter/${name}/Inter_${name}.ttf`)

const regular = faceFile("400Regular")
const medium = faceFile("500Medium")
const semibold = faceFile("600SemiBold")
const bold = faceFile("700Bold")
const italic = faceFile("400Regular_Italic")

/** The family name inside the font files. */
export const family = "Inter"

/** The font files, for the program that draws. */
export const files: ReadonlyArray<string> = [regular, medium, semibold, bold, italic]

const loaded = new Map<string, TrueType.Metrics>()

const metricsOf = (file: string): TrueType.Metrics => {
  const known = loaded.get(file)
  if (known !== undefined) return known
  const metrics = TrueType.read(readFileSync(file))
  loaded.set(file, metrics)
  return metrics
}

/** The file that draws a weight, as CSS weighs: a number from 1 to 1000, `normal` or `bold`. */
const fileOf = (weight: number | string | undefined): string => {
  const number = weight === "bold" ? 700 : Number(weight ?? 400)
  if (number >= 650) return bold
  if (number >= 550) return semibold
  return number >= 450 ? medium : regular
}

/** The width of a text in pixels. */
export const width = (text: string, fontSize: number, weight?: number | string): number =>
  metricsOf(fileOf(weight)).width(text) * fontSize

/** Breaks a text into lines no wider than a width, at spaces; a single longer word stays whole. */
export const lines = (
  text: string,
  most: number,
  fontSize: number,
  weight?: number | string
): ReadonlyArray<string> => {
  const broken: Array<string> = []
  let line = ""
  for (const word of text.split(/\s+/).filter((each) => each !== "")) {
    const longer = line === "" ? word : `${line} ${word}`
    if (line !== "" && width(longer, fontSize, weight) > most) {
      broken.push(line)
      line = word
    } else line = longer
  }
  return line === "" ? broken : [...broken, line]
}
