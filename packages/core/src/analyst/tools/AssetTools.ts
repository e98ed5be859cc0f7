/**
 * The tools that make assets: charts and tables of a run's results.
 */
import * as Effect from "effect/Effect"
import type { AssetStore } from "../../asset/AssetStore.ts"
import type { ChartRenderer } from "../../asset/ChartRenderer.ts"
import { type CellId, CellContent } from "../../chat/Cell.ts"
import * as ResultText from "../../connector/ResultText.ts"
import type { RunContext } from "../RunContext.ts"
import { step, type StepOutcome } from "../Step.ts"
import { MakeChart, MakeTable, MakeText } from "../Tool.ts"
import { bind, type BoundTool } from "../Toolbox.ts"
import { ToolFailure } from "../ToolFailure.ts"
import { contentRows, type NewAsset, publish } from "./Publishing.ts"

/** What the tools ask. */
export interface AssetToolPorts {
  readonly assets: AssetStore["Service"]
  readonly charts: ChartRenderer["Service"]
}

/** Makes the one asset of a step. */
const published = (
  context: RunContext,
  assets: AssetStore["Service"],
  cellId: CellId,
  made: NewAsset
): Effect.Effect<StepOutcome<{ readonly asset: string }>> =>
  Effect.map(publish(context, assets, cellId, made), (asset) => ({
    value: { asset: asset.name },
    result: { assets: [asset.id] }
  }))

/** `make_chart`: draws a result. */
const makeChart = (context: RunContext, { assets, charts }: AssetToolPorts): BoundTool =>
  bind(MakeChart, ({ name, result, specification }) =>
    step(
      context,
      {
        title: name,
        content: CellContent.cases.Tool.make({ toolName: MakeChart.name, input: JSON.stringify(specification) })
      },
      ({ id }) =>
        Effect.gen(function* () {
          const table = yield* context.results.get(result)
          const chart = yield* Effect.mapError(
            charts.render(specification, table),
            (error) => new ToolFailure({ message: error.message })
          )
          return yield* published(context, assets, id, {
            name,
            kind: "chart",
            bodies: [
              { format: "png", content: chart.png },
              { format: "svg", content: chart.svg },
              { format: "json", content: chart.specification }
            ]
          })
        })
    )
  )

/** `make_table`: shows a result as a table. */
const makeTable = (context: RunContext, { assets }: AssetToolPorts): BoundTool =>
  bind(MakeTable, ({ name, result }) =>
    step(
      context,
      { title: name, content: CellContent.cases.Tool.make({ toolName: MakeTable.name, input: result }) },
      ({ id }) =>
        Effect.gen(function* () {
          const table = yield* context.results.get(result)
          return yield* published(context, assets, id, {
            name,
            kind: "table",
            content: ResultText.markdown(table, contentRows),
            bodies: [
              { format: "csv", content: ResultText.csv(table) },
              { format: "json", content: ResultText.json(table) }
            ]
          })
        })
    )
  )

/** `make_text`: a text to keep; it can be read without a fetch. */
const makeText = (context: RunContext, { assets }: AssetToolPorts): BoundTool =>
  bind(MakeText, ({ name, text }) =>
    step(
      context,
      { title: name, content: CellContent.cases.Tool.make({ toolName: MakeText.name, input: text }) },
      ({ id }) =>
        published(context, assets, id, {
          name,
          kind: "text",
          content: text,
          bodies: [{ format: "txt", content: text }]
        })
    )
  )

/** The tools that make assets. */
export const assetTools = (context: RunContext, ports: AssetToolPorts): ReadonlyArray<BoundTool> => [
  makeChart(context, ports),
  makeTable(context, ports),
  makeText(context, ports)
]
