/**
 * ipykernel, driven by jupyter_client in a process of its own, which takes the times itself: the way to it over pipes is
 * in none of them.
 */
import { Effect, Schema, type Scope } from "effect"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as PythonProcess from "./PythonProcess.ts"
import type { PythonHost } from "./PythonSession.ts"

const Answer = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ id: Schema.Int, milliseconds: Schema.Finite }),
    Schema.Struct({ id: Schema.Int, error: Schema.String })
  ])
)

const decode = Schema.decodeUnknownEffect(Answer)

/** The driver of this machine's ipykernel, and a host of its kernels that run a program first; nothing without one. */
export const ipykernels: Effect.Effect<
  ((name: string, first: string | undefined) => PythonHost) | undefined,
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const started = yield* Effect.option(
    Effect.gen(function* () {
      const driver = yield* PythonProcess.start([PythonProcess.programOf("kernels.py")])
      yield* driver.next
      return driver
    })
  )
  if (started._tag === "None") return undefined
  const driver = started.value
  let last = 0

  /** One order at a time: the driver does one thing after another anyway. */
  const order = Effect.fnUntraced(function* (what: Readonly<Record<string, number | string>>) {
    last += 1
    const id = last
    yield* driver.send(JSON.stringify({ ...what, id }))
    const answer = yield* Effect.flatMap(driver.next, decode).pipe(
      Effect.mapError(({ message }) => new BenchmarkFailure({ message: `ipykernel: ${message}` }))
    )
    if (answer.id !== id) return yield* new BenchmarkFailure({ message: "ipykernel answered something else" })
    if ("error" in answer) return yield* new BenchmarkFailure({ message: `ipykernel: ${answer.error}` })
    return answer.milliseconds
  })

  return (name, first) => ({
    name,
    open: Effect.gen(function* () {
      const kernel = (last += 1)
      const opening = yield* Effect.acquireRelease(order({ op: "open", kernel }), () =>
        Effect.orDie(order({ op: "close", kernel }))
      )
      const importing = first === undefined ? 0 : yield* order({ op: "run", kernel, code: first })
      return {
        milliseconds: opening + importing,
        session: {
          run: (code) => order({ op: "run", kernel, code }),
          interrupt: (code) => order({ op: "interrupt", kernel, code })
        }
      }
    }),
    together: (_sessions, each, code) => order({ op: "together", each, code })
  })
})
