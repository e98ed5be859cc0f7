/**
 * An SVG document read back: which texts stand where, so that a test can see what a reader would see.
 */
import * as Fonts from "../src/internal/theme/Fonts.ts"

/** A point in the picture. */
export type Point = readonly [x: number, y: number]

/** A text of the picture, with the corners of the box that it fills. */
export interface Text {
  readonly text: string
  /** What it is for: `axis-label`, `title-text`, `mark`, … */
  readonly role: string
  readonly corners: ReadonlyArray<Point>
}

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly texts: ReadonlyArray<Text>
}

/** A plane transformation: x' = a·x + c·y + e, y' = b·x + d·y + f. */
type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

const identity: Matrix = [1, 0, 0, 1, 0, 0]

const times = (left: Matrix, right: Matrix): Matrix => {
  const [a, b, c, d, e, f] = left
  const [g, h, i, j, k, l] = right
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}

const moved = ([a, b, c, d, e, f]: Matrix, [x, y]: Point): Point => [a * x + c * y + e, b * x + d * y + f]

const step = /(translate|rotate|scale)\(([^)]*)\)/g

const matrixOf = (transform: string): Matrix =>
  [...transform.matchAll(step)].reduce<Matrix>((matrix, [, kind, list = ""]) => {
    const [first = 0, second = 0] = list.split(/[\s,]+/).map(Number)
    if (kind === "translate") return times(matrix, [1, 0, 0, 1, first, second])
    if (kind === "scale") return times(matrix, [first, 0, 0, second || first, 0, 0])
    const angle = (first * Math.PI) / 180
    return times(matrix, [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0])
  }, identity)

const unescaped = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&")

const attributesOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]))

/** What holds inside an element. */
interface Around {
  readonly matrix: Matrix
  readonly role: string
  readonly shown: boolean
  /** The attributes of the text around a line. */
  readonly text: ReadonlyMap<string, string>
  /** How far below the first line the next one is. */
  down: number
}

/** Reads a document that Vega wrote. */
export const read = (svg: string): Drawing => {
  const root = attributesOf(/^<svg[^>]*>/.exec(svg)?.[0] ?? "")
  const texts: Array<Text> = []
  const around: Array<Around> = [{ matrix: identity, role: "", shown: true, text: new Map(), down: 0 }]
  for (const [tag, closing, name = "", attributes = "", empty, content = ""] of svg.matchAll(
    /<(\/?)([\w]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>([^<]*)/g
  )) {
    const outer = around.at(-1)
    if (outer === undefined) throw new Error(`${tag} closes nothing`)
    if (name !== "g" && name !== "text" && name !== "tspan") continue
    if (closing === "/") {
      around.pop()
      continue
    }
    const given = attributesOf(attributes)
    const inner: Around = {
      matrix: times(outer.matrix, matrixOf(given.get("transform") ?? "")),
      role: /role-([\w-]+)/.exec(given.get("class") ?? "")?.[1] ?? outer.role,
      shown: outer.shown && given.get("opacity") !== "0" && given.get("display") !== "none",
      text: name === "text" ? given : outer.text,
      down: 0
    }
    outer.down += Number(given.get("dy") ?? 0)
    if (empty === "") around.push(inner)
    const line = unescaped(content).trim()
    if (name === "g" || line === "" || !inner.shown) continue
    const { down } = name === "tspan" ? outer : inner
    texts.push({ text: line, role: inner.role, corners: boxOf(line, inner.text, inner.matrix, down) })
  }
  return { width: Number(root.get("width")), height: Number(root.get("height")), texts }
}

const boxOf = (
  line: string,
  given: ReadonlyMap<string, string>,
  matrix: Matrix,
  down: number
): ReadonlyArray<Point> => {
  const size = Number.parseFloat(given.get("font-size") ?? "11")
  const width = Fonts.width(line, size, given.get("font-weight"))
  const anchor = given.get("text-anchor")
  const left = anchor === "end" ? -width : anchor === "middle" ? -width / 2 : 0
  // Letters without an ascender or a descender fill less; what counts is what the eye takes for the line.
  const corners: ReadonlyArray<Point> = [
    [left, down - 0.74 * size],
    [left + width, down - 0.74 * size],
    [left + width, down + 0.2 * size],
    [left, down + 0.2 * size]
  ]
  return corners.map((corner) => moved(matrix, corner))
}

/** Whether two boxes, turned or not, cover some common ground. */
export const overlap = (left: ReadonlyArray<Point>, right: ReadonlyArray<Point>): boolean =>
  ![...axesOf(left), ...axesOf(right)].some((axis) => {
    const [low, high] = spanOf(left, axis)
    const [from, to] = spanOf(right, axis)
    // A line between them keeps them apart; touching within half a pixel is not overlapping.
    return high <= from + 0.5 || to <= low + 0.5
  })

const axesOf = ([first = [0, 0], second = [0, 0], third = [0, 0]]: ReadonlyArray<Point>): ReadonlyArray<Point> => [
  normal(second[0] - first[0], second[1] - first[1]),
  normal(third[0] - second[0], third[1] - second[1])
]

const normal = (x: number, y: number): Point => [x / Math.hypot(x, y), y / Math.hypot(x, y)]

const spanOf = (corners: ReadonlyArray<Point>, [x, y]: Point): Point => {
  const places = corners.map((corner) => corner[0] * x + corner[1] * y)
  return [Math.min(...places), Math.max(...places)]
}
