/**
 * Charts from Vega-Lite specifications, as SVG and PNG, without a browser and without a network.
 *
 * The specification is read and bounded here; everything else happens in worker threads, which are started when the
 * first chart is asked for, end when nobody asks for a while, and are replaced when a drawing hangs.
 */
import { ChartRenderer, ChartSpecificationInvalid, type RenderedChart } from "@castellan/core/asset/ChartRenderer"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Pool from "effect/Pool"
import { sentence } from "../specification/Json.ts"
import * as SpecificationInput from "../specification/SpecificationInput.ts"
import * as DrawingThread from "./DrawingThread.ts"

/** What can be chosen. Everything has a default that suits a server. */
export interface Options {
  /** How many charts are drawn at the same time, each in a thread of its own. Default: 1. */
  readonly threads?: number
  /** How long one drawing may take, not counting the wait for a thread. Default: 10 seconds. */
  readonly timeLimit?: Duration.Input
  /** How long an idle thread is kept. Default: 5 minutes. */
  readonly idle?: Duration.Input
  /** TrueType or OpenType files for scripts that Inter does not cover, such as Chinese or Arabic. Default: none. */
  readonly fontFiles?: ReadonlyArray<string>
}

/** A renderer that draws in worker threads. */
export const layerWith = (options: Options = {}): Layer.Layer<ChartRenderer> =>
  Layer.effect(
    ChartRenderer,
    Effect.gen(function* () {
      const timeLimit = Duration.fromInputUnsafe(options.timeLimit ?? "10 seconds")
      const threads = yield* Pool.makeWithTTL({
        acquire: DrawingThread.make(options.fontFiles ?? []),
        min: 0,
        max: options.threads ?? 1,
        timeToLive: options.idle ?? "5 minutes"
      })

      const render = Effect.fn("ChartRenderer.render")(function* (
        input: unknown,
        data: ResultTable
      ): Effect.fn.Return<RenderedChart, ChartSpecificationInvalid> {
        const specification = yield* Effect.fromResult(SpecificationInput.read(input)).pipe(
          Effect.mapError((problem) => new ChartSpecificationInvalid({ message: sentence(problem) }))
        )
        const reply = yield* Effect.scoped(
          Effect.gen(function* () {
            const thread = yield* Pool.get(threads)
            const answer = thread.draw({ specification, data }).pipe(
              Effect.timeoutOrElse({
                duration: timeLimit,
                orElse: () => Effect.succeed({ _tag: "Exhausted", message: tooSlow(timeLimit) } as const)
              }),
              // A thread that was left in the middle of a drawing, or is gone, is of no use to the next one.
              Effect.onExit((exit) =>
                exit._tag === "Success" && exit.value._tag !== "Exhausted"
                  ? Effect.void
                  : Pool.invalidate(threads, thread)
              )
            )
            return yield* answer
          })
        )
        switch (reply._tag) {
          case "Drawn":
            return { specification: reply.specification, svg: reply.svg, png: reply.png }
          case "Refused":
            return yield* new ChartSpecificationInvalid({ message: reply.message })
          case "Exhausted":
            return yield* new ChartSpecificationInvalid({ message: sentence({ place: [], message: reply.message }) })
          case "Failed":
            return yield* Effect.die(new Error(reply.message))
          case "Ready":
            return yield* Effect.die(new Error("the drawing thread answered out of turn"))
        }
      })
      return ChartRenderer.of({ render })
    })
  )

const tooSlow = (limit: Duration.Duration): string =>
  `the chart takes longer than ${Duration.format(limit)} to draw: aggregate the data, or draw less`

/** A renderer with its defaults. */
export const layer: Layer.Layer<ChartRenderer> = layerWith()
