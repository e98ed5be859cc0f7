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
  "#f08a24",
  "#1b9e8a",
  "#c2377e",
  "#8b6be0",
  "#8c5a2b",
  "#56b4e9",
  "#d9b91f",
  "#54606e",
  "#d1493f",
  // Beyond ten no set of colours is told apart with ease; these at least do not repeat.
  "#8fb4f2",
  "#f7c592",
  "#7fd0c2",
  "#e596bf",
  "#c5b3f2",
  "#c9a27c",
  "#1d4e79",
  "#8a7a12",
  "#a3adb8",
  "#8f1f1f"
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
