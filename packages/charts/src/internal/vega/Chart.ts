/**
 * One chart from beginning to end: specification and result in, picture out.
 *
 *     safety → schema → fields, types and time → rows → house style → layout → SVG → bitmap
 *
 * Each step either passes on something that the next one can rely on, or says what is wrong and where.
 */
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import { Resvg } from "@resvg/resvg-js"
import * as Result from "effect/Result"
import * as ChartData from "../data/ChartData.ts"
import * as Binding from "../specification/Binding.ts"
import {
  isArray,
  isObject,
  sentence,
  without,
  type Json,
  type JsonObject,
  type Problem
} from "../specification/Json.ts"
import * as Repeat from "../specification/Repeat.ts"
import * as Safety from "../specification/Safety.ts"
import * as Scope from "../specification/Scope.ts"
import * as SpecificationSchema from "../specification/SpecificationSchema.ts"
import * as Dressing from "../theme/Dressing.ts"
import * as Fonts from "../theme/Fonts.ts"
import * as Survey from "../theme/Survey.ts"
import * as Theme from "../theme/Theme.ts"
import * as Turning from "../theme/Turning.ts"
import * as Typesetting from "../theme/Typesetting.ts"
import type { Reply, Request } from "./Protocol.ts"
import * as Contents from "./Contents.ts"
import * as Scene from "./Scene.ts"
import * as Svg from "./Svg.ts"

/** Draws one chart. */
export const draw = async (request: Request): Promise<Reply> => {
  const prepared = prepare(request.specification, request.data)
  if (Result.isFailure(prepared)) return refused(prepared.failure)
  const { rows, specification } = prepared.success
  const complete = (view: JsonObject, config: JsonObject): JsonObject => ({
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    ...view,
    data: { values: rows },
    config
  })

  const dressed = Dressing.dress(specification, rows)
  const measured = await measure(complete(dressed, Theme.measuring))
  if (Result.isFailure(measured)) return refused(measured.failure)
  const turned = Turning.turned(dressed, measured.success)
  const again = turned === undefined ? measured : await measure(complete(turned, Theme.measuring))
  if (Result.isFailure(again)) return refused(again.failure)
  const final = complete(
    Typesetting.typeset(turned ?? dressed, again.success, rows, request.data.truncated),
    Theme.config
  )

  const scene = await layOut(final)
  if (Result.isFailure(scene)) return refused(scene.failure)
  const svg = Svg.wellFormed(await scene.success.view.toSVG())
  scene.success.close()
  const impure = Svg.check(svg)
  if (impure !== undefined) return refused(impure)
  return { _tag: "Drawn", specification: JSON.stringify(final), svg, png: bitmap(svg, request.fontFiles) }
}

/** Lays a chart out once, to learn what its scales cover and how much it draws. */
const measure = async (specification: JsonObject): Promise<Result.Result<Survey.Survey, Problem>> => {
  const scene = await layOut(specification)
  if (Result.isFailure(scene)) return Result.fail(scene.failure)
  const { close, compiled, view } = scene.success
  const amount = Contents.check(view)
  const survey = Survey.of(view, new Set((compiled.scales ?? []).map(({ name }) => name)))
  close()
  return amount === undefined ? Result.succeed(survey) : Result.fail(amount)
}

/** Lays out what was made of a specification here. That it still follows the schema is this package's promise. */
const layOut = (specification: JsonObject): Promise<Result.Result<Scene.Scene, Problem>> => {
  if (SpecificationSchema.isSpecification(specification)) return Scene.layOut(specification)
  const problem = SpecificationSchema.check(specification)
  return Promise.reject(new Error(problem === undefined ? "not a specification" : `typeset: ${sentence(problem)}`))
}

const refused = (problem: Problem): Reply => ({ _tag: "Refused", message: sentence(problem) })

/** What the house decides, whatever a specification says. */
const housekeeping = ["$schema", "config", "background", "padding", "autosize"] as const

/** A specification that is safe, valid and bound, and the rows that it draws. */
interface Prepared {
  readonly specification: JsonObject
  readonly rows: ReadonlyArray<JsonObject>
}

const prepare = (written: JsonObject, table: ResultTable): Result.Result<Prepared, Problem> =>
  Result.gen(function* () {
    const own = without(written, ...housekeeping)
    const unsafe = Safety.check(own)
    if (unsafe !== undefined) return yield* Result.fail(unsafe)
    const specification = withoutData(own)
    const invalid = SpecificationSchema.check(specification)
    if (invalid !== undefined) return yield* Result.fail(invalid)
    const expanded = yield* Repeat.expand(specification)
    const bound = yield* Binding.bind(expanded, ChartData.scopeOf(table), ChartData.distinctIn(table))
    // A type that follows from the column may be none that the channel takes: a shape shows no quantity.
    const unfit = SpecificationSchema.check(bound.specification)
    if (unfit !== undefined) return yield* Result.fail(unfit)
    const rows = yield* ChartData.rows(table, mentioned(bound.specification, table), bound.uses)
    return { specification: bound.specification, rows }
  })

/** Views inside a specification draw the same result: what they say about their data is nothing or a name. */
const withoutData = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "data")
      .map(([key, inner]): [string, Json] => {
        if (isArray(inner)) return [key, inner.map((each) => (isObject(each) ? withoutData(each) : each))]
        return [key, key === "spec" && isObject(inner) ? withoutData(inner) : inner]
      })
  )

/** The columns whose names occur in some text of the specification. One too many costs little, one too few a chart. */
const mentioned = (specification: JsonObject, table: ResultTable): ReadonlySet<string> => {
  const text = JSON.stringify(specification)
  const written = (name: string): string => JSON.stringify(name).slice(1, -1)
  return new Set(
    table.columns
      .map(({ name }) => name)
      .filter((name) => text.includes(written(name)) || text.includes(written(Scope.escaped(name))))
  )
}

const bitmap = (svg: string, fontFiles: ReadonlyArray<string>): Uint8Array => {
  const picture = new Resvg(svg, {
    background: "#ffffff",
    fitTo: { mode: "zoom", value: 2 },
    font: {
      loadSystemFonts: false,
      fontFiles: [...Fonts.files, ...fontFiles],
      defaultFontFamily: Fonts.family,
      sansSerifFamily: Fonts.family,
      serifFamily: Fonts.family,
      monospaceFamily: Fonts.family
    }
  })
  return picture.render().asPng()
}
