/**
 * What an execution shows or leaves behind, as assets: pictures, charts, tables, pages, files. All of it was made by
 * code that nobody vetted: it is bounded, checked to be what it says, and never run or followed.
 *
 * Source: decisions.md §4 ("Cell", `assets`), §7 (`files`); api-v2.md "Asset".
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AssetFormat } from "../../asset/Asset.ts"
import type { AssetBody } from "../../asset/AssetStore.ts"
import type { ChartRenderer } from "../../asset/ChartRenderer.ts"
import * as ResultText from "../../connector/ResultText.ts"
import type { RichBody } from "../../sandcastle/SandboxRuntime.ts"
import { excerpt } from "../../text/Excerpt.ts"
import * as CsvTable from "./CsvTable.ts"
import { beginsAs, formOf } from "./FileForm.ts"
import { contentRows, type NewAsset } from "./Publishing.ts"
import * as VegaLite from "./VegaLite.ts"

/** Characters of an asset's name. */
const nameLength = 120

/** Characters of a text that can be read without a fetch. */
const contentCharacters = 100_000

/** An asset, a word about why there is none, or neither where there is nothing to show. */
export type Produced =
  | { readonly _tag: "Asset"; readonly asset: NewAsset }
  | { readonly _tag: "Note"; readonly note: string }
  | { readonly _tag: "Nothing" }

const asset = (made: NewAsset): Produced => ({
  _tag: "Asset",
  asset: { ...made, name: excerpt(made.name, nameLength) }
})

const textIn = (forms: ReadonlyArray<RichBody>, mediaType: string): string | undefined => {
  const form = forms.find((candidate) => candidate.mediaType === mediaType)
  return typeof form?.body === "string" ? form.body : undefined
}

const pictures: ReadonlyArray<readonly [mediaType: string, format: AssetFormat]> = [
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/gif", "gif"]
]

/** The pictures among the forms, as far as they are what they say. */
const picturesIn = (forms: ReadonlyArray<RichBody>): ReadonlyArray<AssetBody> => [
  ...pictures.flatMap(([mediaType, format]) => {
    const body = forms.find((form) => form.mediaType === mediaType)?.body
    return body instanceof Uint8Array && beginsAs(format, body) ? [{ format, content: body }] : []
  }),
  ...[textIn(forms, "image/svg+xml")].flatMap((content) =>
    content === undefined ? [] : [{ format: "svg" as const, content }]
  )
]

/** A table as it was displayed: its rows as CSV, and its first rows to read. */
const tableOf = (name: string, csv: string, markdown: string | undefined): Produced => {
  const table = CsvTable.tableOf(csv, contentRows)
  const content = markdown ?? (table === undefined ? undefined : ResultText.markdown(table, contentRows))
  return asset({
    name,
    kind: "table",
    ...(content === undefined ? {} : { content: excerpt(content, contentCharacters) }),
    bodies: [{ format: "csv", content: csv }]
  })
}

const chartOf = (name: string, specification: string, charts: ChartRenderer["Service"]): Effect.Effect<Produced> => {
  const read = VegaLite.decode(specification)
  if (Result.isFailure(read)) {
    const note = "a chart could not be drawn: it must be a Vega-Lite specification with its rows in `data.values`"
    return Effect.succeed({ _tag: "Note", note })
  }
  return charts.render(VegaLite.specificationOf(read.success), VegaLite.dataOf(read.success)).pipe(
    Effect.map((chart) =>
      asset({
        name: VegaLite.titleOf(read.success) ?? name,
        kind: "chart",
        bodies: [
          { format: "png", content: chart.png },
          { format: "svg", content: chart.svg },
          { format: "json", content: chart.specification }
        ]
      })
    ),
    Effect.catch((error): Effect.Effect<Produced> =>
      Effect.succeed({ _tag: "Note", note: `a chart could not be drawn: ${error.message}` })
    )
  )
}

/**
 * What was displayed, in the form that tells most: a chart, a table (it has a form as CSV), a picture, a page. Plain
 * text is part of the output already.
 */
export const ofDisplay = (
  name: string,
  forms: ReadonlyArray<RichBody>,
  charts: ChartRenderer["Service"]
): Effect.Effect<Produced> => {
  const chart = forms.find((form) => VegaLite.isVegaLite(form.mediaType))?.body
  if (typeof chart === "string") return chartOf(name, chart, charts)
  const csv = textIn(forms, "text/csv")
  if (csv !== undefined) return Effect.succeed(tableOf(name, csv, textIn(forms, "text/markdown")))
  const bodies = picturesIn(forms)
  if (bodies.length > 0) return Effect.succeed(asset({ name, kind: "image", bodies }))
  const html = textIn(forms, "text/html")
  if (html === undefined) return Effect.succeed({ _tag: "Nothing" })
  return Effect.succeed(asset({ name, kind: "html", bodies: [{ format: "html", content: html }] }))
}

/** A file that was left, by its name below `/sandbox/files`. */
export const ofFile = (path: string, bytes: Uint8Array): NewAsset => {
  const name = excerpt(path.replace(/^outputs\//, ""), nameLength)
  const { content, format, kind } = formOf(path, bytes)
  const table = format === "csv" && typeof content === "string" ? CsvTable.tableOf(content, contentRows) : undefined
  const read =
    table === undefined
      ? kind === "text" && typeof content === "string"
        ? excerpt(content, contentCharacters)
        : undefined
      : ResultText.markdown(table, contentRows)
  return { name, kind, ...(read === undefined ? {} : { content: read }), bodies: [{ format, content }] }
}
