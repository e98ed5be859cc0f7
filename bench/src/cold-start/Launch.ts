/**
 * A server from its start to the first request that it answers.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { get } from "node:http"
import { createServer } from "node:net"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { command } from "../server/Cores.ts"

/** How a server is started. */
export interface Launch {
  readonly name: string
  /** What comes after `node`. */
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/** How long nobody knows whether the server is ready. */
const pause = "5 millis"

/** Time for it to be ready, and for it to stop when it is asked to. */
const patience = "60 seconds"
const graceful = "15 seconds"

/** A port that was free a moment ago. */
const freePort: Effect.Effect<number, BenchmarkFailure> = Effect.callback((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() =>
      resume(
        address === null || typeof address === "string"
          ? Effect.fail(new BenchmarkFailure({ message: "there is no free port" }))
          : Effect.succeed(address.port)
      )
    )
  })
})

/** The status that a path is answered with; nothing as long as nobody answers. */
const statusOf = (port: number, path: string): Effect.Effect<number | undefined> =>
  Effect.callback((resume) => {
    const request = get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode))
    })
    request.on("error", () => resume(Effect.succeed(undefined)))
    return Effect.sync(() => void request.destroy())
  })

const end = (child: ChildProcess): Effect.Effect<void> => {
  const ended = Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })
  const signal = (name: NodeJS.Signals) => Effect.sync(() => void child.kill(name))
  return Effect.andThen(signal("SIGTERM"), ended).pipe(
    Effect.timeoutOrElse({ duration: graceful, orElse: () => Effect.andThen(signal("SIGKILL"), ended) })
  )
}

/** Milliseconds from the start of a server until `/readyz` is answered with 200; then it is stopped. */
export const launching = (launch: Launch, core: number | undefined): Effect.Effect<number, BenchmarkFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const port = yield* freePort
      const start = performance.now()
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const [program, before] = command(process.execPath, core)
          return spawn(program, [...before, ...launch.args], {
            cwd: launch.cwd,
            env: { ...process.env, ...launch.environment, HOST: "127.0.0.1", PORT: String(port) },
            stdio: ["ignore", "ignore", "inherit"]
          })
        }),
        end
      )
      const ready = Effect.gen(function* () {
        while ((yield* statusOf(port, "/readyz")) !== 200) {
          if (child.exitCode !== null) {
            return yield* new BenchmarkFailure({ message: `${launch.name} ended with ${child.exitCode}` })
          }
          yield* Effect.sleep(pause)
        }
        return performance.now() - start
      })
      return yield* Effect.timeoutOrElse(ready, {
        duration: patience,
        orElse: () => Effect.fail(new BenchmarkFailure({ message: `${launch.name} was not ready in ${patience}` }))
      })
    })
  )
