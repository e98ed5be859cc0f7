/**
 * The room that a plot has on the page, and how it is shared out between plots.
 */
import { at, textAt, type JsonObject } from "../specification/Json.ts"
import type { Rows } from "./Rows.ts"
import type { Survey } from "./Survey.ts"

/** The width of a whole picture, in pixels, unless its contents need another. */
export const pictureWidth = 760

/** The space left and right of everything. */
export const margins = 44

/** The room that a plot may take, its labels included. */
export interface Room {
  readonly width: number
  readonly height: number
  /** Plots beside one another have less room for words. */
  readonly small: boolean
  /** Small multiples share their axes, and have their own words above them. */
  readonly faceted: boolean
}

/** What the decisions are based on. */
export interface Facts {
  readonly survey: Survey
  readonly rows: Rows
}

/** The room of a plot that is alone. */
export const whole: Room = { width: pictureWidth - margins, height: 340, small: false, faceted: false }

/** The room of each of several plots in so many columns. */
export const beside = (room: Room, columns: number): Room => ({
  width: Math.max(260, (room.width - 28 * (columns - 1)) / columns),
  height: Math.max(180, Math.min(room.height, columns === 1 ? 240 : 260)),
  small: true,
  faceted: false
})

/** The room of one small multiple of those in so many columns. */
export const multiple = (room: Room, columns: number): Room => ({
  width: Math.max(130, (room.width - 70 - 22 * (columns - 1)) / columns),
  height: columns === 1 ? 150 : 170,
  small: true,
  faceted: true
})

/** How many plots stand in one row. */
export const wrap = (count: number): number => (count <= 3 ? count : count === 4 ? 2 : count <= 9 ? 3 : 4)

/** How many different values a definition shows, as far as its field is a column. */
export const distinct = (rows: Rows, definition: JsonObject): number => {
  const field = textAt(definition, "field")?.replaceAll(/\\(.)/g, "$1")
  return field === undefined ? 1 : Math.max(1, new Set(rows.map((row) => at(row, field))).size)
}
