/**
 * Charts from Vega-Lite specifications, as SVG and PNG, without a browser and without a network.
 *
 * The specification is read and bounded here; everything else happens in processes of their own, which are started
 * when the first chart is asked for, end when nobody asks for a while, and are replaced when a drawing hangs.
 */
import { ChartRenderer, ChartSpecificationInvalid, type RenderedChart } from "@castellan/core/asset/ChartRenderer"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Pool from "effect/Pool"
import { sentence } from "../internal/specification/Json.ts"
import * as SpecificationInput from "../internal/specification/SpecificationInput.ts"
import * as DrawingProcess from "../internal/vega/DrawingProcess.ts"
import type { Reply, Request } from "../internal/vega/Protocol.ts"

/** What can be chosen. Everything has a default that suits a server. */
export interface Options {
  /** How many charts are drawn at the same time, each in a process of its own. Default: 1. */
  readonly processes?: number
  /** How long one drawing may take, not counting the wait for a process. Default: 10 seconds. */
  readonly timeLimit?: Duration.Input
  /** How long an idle process is kept. Default: 5 minutes. */
  readonly idle?: Duration.Input
  /** TrueType or OpenType files for scripts that Inter does not cover, such as Chinese or Arabic. Default: none. */
  readonly fontFiles?: ReadonlyArray<string>
}

const invalid = (message: string): ChartSpecificationInvalid =>
  new ChartSpecificationInvalid({ message: sentence({ place: [], message }) })

/** A renderer that draws in processes of its own. */
export const layerWith = (options: Options): Layer.Layer<ChartRenderer> =>
  Layer.effect(
    ChartRenderer,
    Effect.gen(function* () {
      const timeLimit = Duration.fromInputUnsafe(options.timeLimit ?? "10 seconds")
      const fontFiles = options.fontFiles ?? []
      const processes = yield* Pool.makeWithTTL({
        acquire: DrawingProcess.make,
        min: 0,
        max: options.processes ?? 1,
        timeToLive: options.idle ?? "5 minutes"
      })

      /** Draws in a process of the pool. One that was left in the middle of a drawing does not go back. */
      const draw = Effect.fnUntraced(function* (request: Request) {
        const drawing = yield* Pool.get(processes)
        return yield* drawing.draw(request).pipe(
          Effect.timeoutOrElse({ duration: timeLimit, orElse: () => invalid(tooSlow(timeLimit)) }),
          Effect.onError(() => Pool.invalidate(processes, drawing))
        )
      }, Effect.scoped)

      /**
       * Draws in another process when one is lost. A process that was gone beforehand says nothing about the chart, and
       * the pool has one fewer of those each time. One lost while drawing may have been too large for a machine that
       * is short of memory: a second loss is put down to the chart, so that it costs the chart and not all the rest.
       */
      const drawAgain = (request: Request) =>
        draw(request).pipe(
          Effect.retry({ while: (error) => error._tag === "DrawingEnded" && error.reason === "beforehand" }),
          Effect.tapErrorTag("DrawingEnded", (error) => Effect.logWarning("a chart was not drawn", error)),
          Effect.retry({ times: 1, while: (error) => error._tag === "DrawingEnded" && error.reason === "lost" }),
          Effect.mapError((error) => {
            if (error._tag === "ChartSpecificationInvalid") return error
            return invalid(error.reason === "outOfMemory" ? tooLarge : tooDemanding)
          })
        )

      const render = Effect.fn("ChartRenderer.render")(function* (
        input: unknown,
        data: ResultTable
      ): Effect.fn.Return<RenderedChart, ChartSpecificationInvalid> {
        const specification = yield* Effect.mapError(
          Effect.fromResult(SpecificationInput.read(input)),
          (problem) => new ChartSpecificationInvalid({ message: sentence(problem) })
        )
        return yield* chartOf(yield* drawAgain({ specification, data, fontFiles }))
      })
      return ChartRenderer.of({ render })
    })
  )

const chartOf = (reply: Reply): Effect.Effect<RenderedChart, ChartSpecificationInvalid> => {
  switch (reply._tag) {
    case "Drawn":
      return Effect.succeed({ specification: reply.specification, svg: reply.svg, png: reply.png })
    case "Refused":
      return Effect.fail(new ChartSpecificationInvalid({ message: reply.message }))
    case "Failed":
      return Effect.die(new Error(reply.message))
    case "Ready":
      return Effect.die(new Error("the drawing process answered out of turn"))
  }
}

const tooSlow = (limit: Duration.Duration): string =>
  `the chart takes longer than ${Duration.format(limit)} to draw: aggregate the data, or draw less`

const tooLarge = "the chart needs more memory than a chart may use"

const tooDemanding = "the chart needs more than the renderer may use: aggregate the data, or draw less"

/** A renderer with its defaults. */
export const layer: Layer.Layer<ChartRenderer> = layerWith({})
