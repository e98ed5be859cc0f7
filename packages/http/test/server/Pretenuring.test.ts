import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"

/** Keeps whatever it makes, and has V8 say where it makes what is to be old from the start. */
const program = (before: string): string => `
  import { setFlagsFromString } from "node:v8"
  import { Effect, Layer } from "effect"
  import * as Pretenuring from ${JSON.stringify(new URL("../../src/server/Pretenuring.ts", import.meta.url).href)}
  ${before}
  setFlagsFromString("--trace-pretenuring-statistics")
  const make = (number) => ({ list: [number], object: { number } })
  const kept = []
  for (let number = 0; number < 300_000; number++) kept.push(make(number))
  console.log("kept " + kept.length)
`

const said = (before: string): Effect.Effect<string, Error> =>
  Effect.callback((resume) => {
    execFile(
      process.execPath,
      ["--input-type=module", "--eval", program(before)],
      { cwd: import.meta.dirname },
      (error, output) => resume(error === null ? Effect.succeed(output) : Effect.fail(error))
    )
  })

it.effect("without it, V8 decides what is to be old from the start", () =>
  Effect.gen(function* () {
    const output = yield* said("")
    assert.include(output, "=> tenure")
    assert.include(output, "kept 300000")
  })
)

it.effect("with it, V8 decides nothing of the kind", () =>
  Effect.gen(function* () {
    const output = yield* said("await Effect.runPromise(Effect.scoped(Layer.build(Pretenuring.layerOff)))")
    assert.notInclude(output, "tenure")
    assert.include(output, "kept 300000")
  })
)
