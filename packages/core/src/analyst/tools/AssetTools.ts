/**
 * The tools that make assets: charts and tables of a run's results.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { Asset, type AssetFormat, AssetId, type AssetKind } from "../../asset/Asset.ts"
import type { AssetBody, AssetStore } from "../../asset/AssetStore.ts"
import type { ChartRenderer } from "../../asset/ChartRenderer.ts"
import { type CellId, CellContent } from "../../chat/Cell.ts"
import * as ResultText from "../../connector/ResultText.ts"
import { RunEvent } from "../../run/RunEvent.ts"
import type { RunContext } from "../RunContext.ts"
import { step, type StepOutcome } from "../Step.ts"
import { MakeChart, MakeTable, MakeText } from "../Tool.ts"
import { bind, type BoundTool } from "../Toolbox.ts"
import { ToolFailure } from "../ToolFailure.ts"

/** What the tools ask. */
export interface AssetToolPorts {
  readonly assets: AssetStore["Service"]
  readonly charts: ChartRenderer["Service"]
}

/** Rows of a table that can be read without fetching it. */
const tableRows = 50

interface NewAsset {
  readonly name: string
  readonly kind: AssetKind
  readonly content?: string
  readonly bodies: ReadonlyArray<AssetBody>
}

/** Keeps an asset's bodies first and tells of it afterwards: whoever hears of an asset can fetch it. */
const publish = Effect.fnUntraced(function* (
  context: RunContext,
  assets: AssetStore["Service"],
  cellId: CellId,
  made: NewAsset
) {
  const formats: ReadonlyArray<AssetFormat> = made.bodies.map((body) => body.format)
  const asset = new Asset({
    id: AssetId.make(yield* context.nextId),
    organizationId: context.run.organizationId,
    chatId: context.run.chatId,
    name: made.name,
    kind: made.kind,
    formats,
    ...(made.content === undefined ? {} : { content: made.content }),
    cellId,
    messageCellId: context.run.messageCellId,
    createdAt: yield* DateTime.now
  })
  yield* assets.put(asset, made.bodies)
  yield* context.emit(RunEvent.cases.Asset.make({ asset }))
  const outcome: StepOutcome<{ readonly asset: string }> = {
    value: { asset: asset.name },
    result: { assets: [asset.id] }
  }
  return outcome
})

/** `make_chart`: draws a result. */
const makeChart = (context: RunContext, { assets, charts }: AssetToolPorts): BoundTool =>
  bind(MakeChart, ({ name, result, specification }) =>
    step(
      context,
      {
        title: name,
        content: CellContent.cases.Tool.make({ toolName: MakeChart.name, input: JSON.stringify(specification) })
      },
      (cellId) =>
        Effect.gen(function* () {
          const table = yield* context.results.get(result)
          const chart = yield* Effect.mapError(
            charts.render(specification, table),
            (error) => new ToolFailure({ message: error.message })
          )
          return yield* publish(context, assets, cellId, {
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
      (cellId) =>
        Effect.gen(function* () {
          const table = yield* context.results.get(result)
          return yield* publish(context, assets, cellId, {
            name,
            kind: "table",
            content: ResultText.markdown(table, tableRows),
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
      (cellId) =>
        publish(context, assets, cellId, {
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
