/**
 * The renderer as a resource: its processes are started when they are needed, replaced when they hang, and ended with it;
 * and its pictures do not depend on where or when they are drawn.
 */
import * as VegaRenderer from "@castellan/charts/vega/VegaRenderer"
import { ChartRenderer } from "@castellan/core/asset/ChartRenderer"
import type { ResultTable } from "@castellan/core/connector/ResultTable"
import * as PassingTime from "@castellan/testing/fixture/PassingTime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { ChildProcess, execFile, type Serializable } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { join } from "node:path"
import { examples } from "./Gallery.ts"

const data: ResultTable = {
  columns: [
    { name: "region", type: "text" },
    { name: "revenue", type: "integer" }
  ],
  rows: [
    ["North", 120_000],
    ["South", 45_000]
  ],
  truncated: false
}

const bars = { mark: "bar", encoding: { x: { field: "region" }, y: { field: "revenue" } } }

/** A filter that takes longer than anybody waits: the expression backtracks exponentially. */
const endless = { ...bars, transform: [{ filter: `test(/^(a+)+$/, '${"a".repeat(40)}!')` }] }

/** A text that doubles until no memory is left: each row of each transform copies it whole. */
const enormous = {
  ...bars,
  transform: [
    { calculate: `'${"x".repeat(1000)}'`, as: "t0" },
    ...Array.from({ length: 24 }, (_, index) => ({
      calculate: `split(join([join(datum.t${index} ? [datum.t${index}] : [], ''), datum.t${index}], ''), '')`,
      as: `t${index + 1}`
    }))
  ]
}

/** Renderers whose limit only a hang reaches: how long a drawing takes is the machine's affair. */
const patient = VegaRenderer.layerWith({ timeLimit: "100 seconds" })

const render = (specification: unknown) => ChartRenderer.use((charts) => charts.render(specification, data))

/** The processes that this one has started and that still run. */
const children = Effect.sync(() => process.getActiveResourcesInfo().filter((kind) => kind === "ProcessWrap").length)

/** Hands over every process that this one starts, for as long as the scope is open. */
const started = (seen: (child: ChildProcess) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const listener = (message: unknown): void => {
        if (typeof message !== "object" || message === null || !("process" in message)) return
        if (message.process instanceof ChildProcess) seen(message.process)
      }
      subscribe("child_process", listener)
      return listener
    }),
    (listener) => Effect.sync(() => unsubscribe("child_process", listener))
  )

/**
 * Kills a process in the middle of its first drawing, as an operating system without memory does: it is held when it
 * is ready, so that it cannot answer, and killed when it has been asked.
 */
const killWhileDrawing = (child: ChildProcess): void => {
  child.once("message", () => {
    child.kill("SIGSTOP")
    const send = child.send.bind(child)
    child.send = (message: Serializable, ...rest: ReadonlyArray<unknown>) => {
      const sent = rest.findLast((argument) => typeof argument === "function")
      return send(message, (error) => {
        sent?.(error)
        child.kill("SIGKILL")
      })
    }
  })
}

/** Kills an idle process, and waits until everybody knows. */
const killIdle = (child: ChildProcess) =>
  Effect.promise(() => {
    const closed = once(child, "close")
    child.ref()
    child.kill("SIGKILL")
    return closed
  })

/** A logger that keeps what is logged. */
const recorder = () => {
  const lines: Array<string> = []
  return { lines, layer: Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]) }
}

/** Draws charts in a process of its own, under a time zone, and answers with what came out. */
const drawnUnder = (zone: string, names: ReadonlyArray<string>) =>
  Effect.tryPromise(
    (signal) =>
      new Promise<string>((resolve, reject) => {
        execFile(
          process.execPath,
          [join(import.meta.dirname, "draw.ts"), ...names],
          { env: { ...process.env, TZ: zone }, signal, maxBuffer: 64 * 1024 * 1024 },
          (error, stdout) => (error === null ? resolve(stdout) : reject(error))
        )
      })
  )

describe("VegaRenderer", () => {
  it.effect("a drawing that hangs is ended, and the next one is drawn by a new process", () =>
    Effect.gen(function* () {
      const error = yield* PassingTime.join(yield* PassingTime.starting(Effect.flip(render(endless))))
      assert.match(error.message, /^The chart takes longer than 6s to draw/)
      assert.include((yield* render(bars)).svg, "North")
    }).pipe(Effect.provide(VegaRenderer.layerWith({ timeLimit: "6 seconds" })))
  )

  it.live("a drawing that needs too much memory is ended, and the next one is drawn", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(render(enormous))
      assert.strictEqual(error.message, "The chart needs more memory than a chart may use.")
      assert.include((yield* render(bars)).svg, "North")
    }).pipe(Effect.provide(patient))
  )

  it.live("a process that is killed while it draws is replaced, and the chart is drawn", () => {
    const log = recorder()
    return Effect.gen(function* () {
      const processes: Array<ChildProcess> = []
      yield* started((child) => {
        if (processes.push(child) === 1) killWhileDrawing(child)
      })
      assert.include((yield* render(bars)).svg, "North")
      assert.deepStrictEqual(
        processes.map(({ signalCode }) => signalCode),
        ["SIGKILL", null]
      )
      assert.match(log.lines.join("\n"), /a chart was not drawn.*SIGKILL/s)
    }).pipe(Effect.provide([patient, log.layer]))
  })

  it.live("a channel that cannot show what its column holds is refused, and not the fault of the renderer", () =>
    Effect.gen(function* () {
      const shapes = {
        mark: "point",
        encoding: { x: { field: "region" }, shape: { field: "revenue", aggregate: "mean" } }
      }
      const error = yield* Effect.flip(render(shapes))
      assert.strictEqual(error._tag, "ChartSpecificationInvalid")
      assert.include(error.message, "encoding.shape.type")
    }).pipe(Effect.provide(patient))
  )

  it.live("a chart whose processes are killed twice is refused, and the cause is in the log only", () => {
    const log = recorder()
    return Effect.gen(function* () {
      const processes: Array<ChildProcess> = []
      yield* started((child) => {
        if (processes.push(child) <= 2) killWhileDrawing(child)
      })
      const error = yield* Effect.flip(render(bars))
      assert.strictEqual(error._tag, "ChartSpecificationInvalid")
      assert.strictEqual(
        error.message,
        "The chart needs more than the renderer may use: aggregate the data, or draw less."
      )
      assert.lengthOf(log.lines.join("\n").match(/SIGKILL/g) ?? [], 2)
      assert.include((yield* render(bars)).svg, "North")
      assert.lengthOf(processes, 3)
    }).pipe(Effect.provide([patient, log.layer]))
  })

  it.live("processes that were killed while nobody asked for anything cost no chart", () => {
    const log = recorder()
    return Effect.gen(function* () {
      const processes: Array<ChildProcess> = []
      yield* started((child) => processes.push(child))
      yield* Effect.forEach([1, 2, 3], () => render(bars), { concurrency: "unbounded" })
      assert.lengthOf(processes, 3)
      yield* Effect.forEach(processes.slice(), killIdle)
      assert.include((yield* render(bars)).svg, "North")
      assert.isEmpty(log.lines)
    }).pipe(Effect.provide([VegaRenderer.layerWith({ processes: 3, timeLimit: "100 seconds" }), log.layer]))
  })

  it.live("an interrupted drawing gives its process up at once", () =>
    Effect.gen(function* () {
      yield* render(bars)
      const fiber = yield* Effect.forkChild(render(endless), { startImmediately: true })
      // Left alone, it would draw until its limit: longer than this test may take.
      yield* Fiber.interrupt(fiber)
      assert.include((yield* render(bars)).svg, "North")
    }).pipe(Effect.provide(VegaRenderer.layerWith({ timeLimit: "10 minutes" })))
  )

  it.effect("what is waiting behind a drawing that hangs is drawn after it", () =>
    Effect.gen(function* () {
      const hanging = yield* PassingTime.starting(Effect.flip(render(endless)))
      const waiting = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => render(bars), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      assert.match((yield* PassingTime.join(hanging)).message, /takes longer/)
      assert.lengthOf(yield* Fiber.join(waiting), 3)
    }).pipe(Effect.provide(VegaRenderer.layerWith({ timeLimit: "6 seconds" })))
  )

  it.live("several processes draw at the same time, and none is left when the renderer is gone", () =>
    Effect.gen(function* () {
      const before = yield* children
      yield* Effect.gen(function* () {
        yield* Effect.forEach([1, 2, 3, 4], () => render(bars), { concurrency: "unbounded" })
      }).pipe(Effect.provide(VegaRenderer.layerWith({ processes: 2, timeLimit: "100 seconds" })))
      assert.strictEqual(yield* children, before)
    })
  )

  it.live(
    "a chart, and its specification opened anywhere else, does not depend on the time zone",
    () =>
      Effect.gen(function* () {
        const names = examples
          .map(({ name }) => name)
          .filter((name) =>
            /stocks|month|day|week|hours|quarters|years-bars|schedule|band|heatmap$|threshold/.test(name)
          )
        const zones = ["UTC", "America/Los_Angeles", "Asia/Kolkata"]
        const [utc = "", ...others] = yield* Effect.forEach(zones, (zone) => drawnUnder(zone, names))
        assert.strictEqual(utc.trim().split("\n").length, names.length)
        for (const other of others) assert.strictEqual(other, utc)
      }),
    600_000
  )
})
