import * as ExecutionOutput from "@castellan/core/sandcastle/ExecutionOutput"
import { truncated } from "@castellan/core/sandcastle/OutputPreview"
import { ExecEvent } from "@castellan/core/sandcastle/SandboxRuntime"
import * as ProcessorTime from "@castellan/testing/fixture/ProcessorTime"
import { assert, describe, it } from "@effect/vitest"

const { Error: Raised, Finished, KernelRestarted, Rich, Stderr, Stdout } = ExecEvent.cases

const gather = (events: ReadonlyArray<ExecEvent>, maxBytes = 1024 * 1024) =>
  events.reduce((output, event) => ExecutionOutput.add(output, event, maxBytes), ExecutionOutput.nothing)

const picture = (bytes: number) => Rich.make({ forms: [{ mediaType: "image/png", body: new Uint8Array(bytes) }] })

describe("ExecutionOutput.add", () => {
  it("takes no longer where streams take turns than where they do not, and loses nothing of either", () => {
    const turns = 100_000
    const events = Array.from({ length: turns }, (_, turn) =>
      turn % 2 === 0 ? Stdout.make({ text: "o" }) : Stderr.make({ text: "e" })
    )
    const took = ProcessorTime.start()
    const output = gather(events)
    assert.isBelow(took(), 3000)
    assert.strictEqual(ExecutionOutput.textOf(output, "stdout"), "o".repeat(turns / 2))
    assert.strictEqual(ExecutionOutput.textOf(output, "stderr"), "e".repeat(turns / 2))
    assert.deepStrictEqual(
      output.pieces.slice(0, 3).map(({ text }) => text),
      ["o", "e", "o"]
    )
  })

  it("holds as many displayed things as an answer can, and says that there were more", () => {
    const many = gather(Array.from({ length: ExecutionOutput.maximumDisplayed + 2 }, () => picture(1)))
    assert.strictEqual(many.displayed.length, ExecutionOutput.maximumDisplayed)
    assert.deepStrictEqual(many.pieces, [{ stream: "display", text: truncated }])
    const half = ExecutionOutput.maximumDisplayedBytes / 2
    const large = gather([picture(half), picture(half + 1), picture(half)])
    assert.deepStrictEqual(
      large.displayed.map(({ body }) => body.length),
      [half, half]
    )
    assert.deepStrictEqual(large.pieces, [{ stream: "display", text: truncated }])
  })

  it("keeps of an exception as much as can be read, its name and message last", () => {
    const output = gather([
      Raised.make({ name: "ValueError", message: "no such row", traceback: ["line 1", "x".repeat(1_000_000)] })
    ])
    assert.isBelow(output.error?.length ?? 0, 20_000)
    assert.match(output.error ?? "", /^line 1\nx+…\[truncated\]\nValueError: no such row$/)
    assert.strictEqual(gather([Raised.make({ name: "MemoryError", message: "", traceback: [] })]).error, "MemoryError")
    const short = gather([Raised.make({ name: "E", message: "m", traceback: ["line 1"] })])
    assert.strictEqual(short.error, "line 1\nE: m")
    assert.isBelow(
      gather([Raised.make({ name: "E", message: "m".repeat(1_000_000), traceback: [] })]).error?.length ?? 0,
      20_000
    )
  })
})

describe("ExecutionOutput.endingOf", () => {
  it("says of an execution that was stopped whether the session's variables went with it", () => {
    const finished = Finished.make({
      outcome: "interrupted",
      exitCode: 137,
      droppedBytes: 0,
      files: [],
      dataframes: []
    })
    const ending = (...events: ReadonlyArray<ExecEvent>) => ExecutionOutput.endingOf(gather([...events, finished]))
    assert.deepInclude(ending(), { _tag: "Interrupt", stateLost: false })
    assert.deepInclude(ending(KernelRestarted.make({ stateLost: false })), { _tag: "Interrupt", stateLost: false })
    assert.deepInclude(ending(KernelRestarted.make({ stateLost: true })), { _tag: "Interrupt", stateLost: true })
  })
})
