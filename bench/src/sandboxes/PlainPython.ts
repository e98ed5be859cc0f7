/**
 * Plain CPython: a process over pipes, with nothing around it.
 */
import { Effect } from "effect"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as PythonProcess from "./PythonProcess.ts"
import type { PythonHost, PythonSession } from "./PythonSession.ts"

/** What the other end says next must be this. */
const expect = (process: PythonProcess.PythonProcess, wanted: string): Effect.Effect<void, BenchmarkFailure> =>
  Effect.flatMap(process.next, (line) =>
    line === wanted
      ? Effect.void
      : Effect.fail(new BenchmarkFailure({ message: `CPython said ${line}, not ${wanted}` }))
  )

/** Milliseconds that something took. */
export const timed = <E, R>(work: Effect.Effect<unknown, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const started = performance.now()
    return Effect.map(work, () => performance.now() - started)
  })

/** Every session runs its programs one after the other, all sessions at once. */
export const allAtOnce: PythonHost["together"] = (sessions, each, code) =>
  timed(
    Effect.forEach(
      sessions,
      Effect.fnUntraced(function* (session) {
        for (let count = 0; count < each; count++) yield* session.run(code)
      }),
      { concurrency: "unbounded", discard: true }
    )
  )

const sessionOf = (process: PythonProcess.PythonProcess): PythonSession => ({
  run: (code) => timed(Effect.andThen(process.send(JSON.stringify(code)), expect(process, "completed"))),
  interrupt: Effect.fnUntraced(function* (code) {
    yield* process.send(JSON.stringify(code))
    yield* expect(process, "running")
    // It printed: now it has to come to what is interrupted.
    yield* Effect.sleep("50 millis")
    return yield* timed(Effect.andThen(process.signal("SIGINT"), expect(process, "interrupted")))
  })
})

/** A host of processes that import modules first. */
export const plainPython = (name: string, modules: ReadonlyArray<string>): PythonHost => ({
  name,
  open: Effect.gen(function* () {
    const started = performance.now()
    const process = yield* PythonProcess.start([PythonProcess.programOf("plain.py"), ...modules])
    yield* expect(process, "ready")
    return { session: sessionOf(process), milliseconds: performance.now() - started }
  }),
  together: allAtOnce
})
