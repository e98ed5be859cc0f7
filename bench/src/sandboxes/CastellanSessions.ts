/**
 * Ours: sessions through the port, as a host application opens them.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as SandboxPool from "@castellan/core/sandcastle/SandboxPool"
import { type ExecEvent, SandboxRuntime, type SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { Context, Deferred, Duration, Effect, Layer, type Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { allAtOnce, timed } from "./PlainPython.ts"
import type { PythonHost, PythonSession } from "./PythonSession.ts"

const organizationId = OrganizationId.make("018f0000-0000-7000-8000-000000000001")

let count = 0

/** What a session is opened with: a tag that none had, and an empty library. */
export const spec = () => {
  count += 1
  return { id: SandcastleId.make(`bench-${count}`), organizationId, library: [], isNew: true }
}

/** Whatever goes wrong ends the benchmark. */
export const orFail = <A, E extends { readonly message: string }, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, BenchmarkFailure, R> =>
  Effect.mapError(work, ({ message }) => new BenchmarkFailure({ message: `Castellan: ${message}` }))

const ending = (events: Stream.Stream<ExecEvent, BenchmarkFailure>, wanted: string, told: (event: ExecEvent) => void) =>
  Effect.suspend(() => {
    let outcome = "nothing"
    return events.pipe(
      Stream.runForEach((event) =>
        Effect.sync(() => {
          told(event)
          if (event._tag === "Finished") outcome = event.outcome
        })
      ),
      Effect.flatMap(() =>
        outcome === wanted
          ? Effect.void
          : Effect.fail(new BenchmarkFailure({ message: `Castellan: a program came to ${outcome}, not ${wanted}` }))
      )
    )
  })

/** A session as it is measured. */
export const sessionOf = (session: SandboxSession): PythonSession => {
  const events = (code: string): Stream.Stream<ExecEvent, BenchmarkFailure> =>
    session
      .exec({ language: "python", code, within: "session", timeout: Duration.minutes(3) })
      .pipe(Stream.mapError(({ message }) => new BenchmarkFailure({ message: `Castellan: ${message}` })))
  return {
    run: (code) => timed(ending(events(code), "completed", () => undefined)),
    interrupt: Effect.fnUntraced(function* (code) {
      const running = yield* Deferred.make<void>()
      const [, milliseconds] = yield* Effect.all(
        [
          ending(events(code), "interrupted", (event) => {
            if (event._tag === "Stdout") Deferred.doneUnsafe(running, Effect.void)
          }),
          // Where the program ends before it printed, the other one fails.
          Effect.gen(function* () {
            yield* Deferred.await(running)
            // It printed: now it has to come to what is interrupted.
            yield* Effect.sleep("50 millis")
            return yield* timed(orFail(session.interrupt))
          })
        ],
        { concurrency: 2 }
      )
      return milliseconds
    })
  }
}

/** A host of sessions of a runtime. `before` is waited for, and not measured. */
export const castellanSessions = (
  name: string,
  runtime: SandboxRuntime["Service"],
  before: Effect.Effect<unknown> = Effect.void
): PythonHost => ({
  name,
  open: Effect.gen(function* () {
    yield* before
    const started = performance.now()
    const session = yield* orFail(runtime.open(spec()))
    return { session: sessionOf(session), milliseconds: performance.now() - started }
  }),
  together: allAtOnce
})

/** A host that makes the runtime anew for every session, self-test and all: what the first one takes. */
export const coldSessions = (
  name: string,
  layer: Layer.Layer<SandboxRuntime, { readonly message: string }>
): PythonHost => ({
  name,
  open: Effect.gen(function* () {
    const started = performance.now()
    const runtime = Context.get(yield* orFail(Layer.build(Layer.fresh(layer))), SandboxRuntime)
    const session = yield* orFail(runtime.open(spec()))
    return { session: sessionOf(session), milliseconds: performance.now() - started }
  }),
  together: allAtOnce
})

/** A host of sessions that a pool over a runtime has opened in advance. */
export const pooledSessions: (
  name: string,
  runtime: SandboxRuntime["Service"]
) => Effect.Effect<PythonHost, never, Scope.Scope> = Effect.fnUntraced(function* (name, runtime) {
  const services = yield* Layer.build(
    SandboxPool.layer({ size: 1 }).pipe(
      Layer.provide([Layer.succeed(SandboxRuntime, runtime), SecureRandom.layerWebCrypto])
    )
  )
  const pool = Context.get(services, SandboxPool.SandboxPool)
  const isFull = Effect.gen(function* () {
    while ((yield* pool.ready) < 1) yield* Effect.sleep("5 millis")
  })
  return castellanSessions(name, Context.get(services, SandboxRuntime), isFull)
})
