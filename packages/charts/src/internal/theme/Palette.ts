/**
 * The colours of Castellan's charts.
 *
 * The categorical colours differ in lightness as well as in hue, so that they stay apart for the colour-blind and in a
 * grey print; a test measures that. Sequential colours run from light to dark in one hue, diverging ones from blue
 * over a neutral to orange, the pair that all common forms of colour blindness keep apart.
 */

/** Text, lines and surfaces. */
export const ink = {
  title: "#14202e",
  text: "#3d4a5a",
  label: "#5c6878",
  axis: "#9aa5b3",
  grid: "#e8ecf1",
  surface: "#ffffff"
} as const

/** Colours of categories, in the order in which they are given out. */
export const categorical: ReadonlyArray<string> = [
  "#2f6fde",
  "#e7811d",
  "#44b8a1",
  "#aa4e7c",
  "#b68fff",
  "#663909",
  "#8fcef6",
  "#e3c32f",
  "#254261",
  "#e42a21",
  // Beyond ten no set of colours is told apart with ease; these at least do not repeat.
  "#a5c6fd",
  "#854603",
  "#006a5b",
  "#e8b0c8",
  "#6c4e9f",
  "#a58a73",
  "#53819f",
  "#907a01",
  "#7a8b9f",
  "#fdbdb3"
]

/** From little to much. */
export const sequential: ReadonlyArray<string> = [
  "#e3eefb",
  "#b5d1f5",
  "#7fadea",
  "#4a85da",
  "#2860b8",
  "#163f85",
  "#0b2556"
]

/** From below to above a middle. */
export const diverging: ReadonlyArray<string> = [
  "#1f4e99",
  "#4f86cf",
  "#9cc0ea",
  "#eef1f4",
  "#f7c08a",
  "#e5853a",
  "#a94f10"
]
