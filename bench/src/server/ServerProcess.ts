/**
 * A server in a process of its own, held to its core, that the runner can ask for its processor time.
 */
import { Deferred, Effect, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { command } from "./Cores.ts"
import { answerOf, type Order, type Ready, type Usage, usageCommand, usageOf } from "./Protocol.ts"

/** A server that listens. */
export interface ServerProcess {
  /** The name in the tables. */
  readonly name: string
  readonly port: number
  /** A credential that it accepts. */
  readonly bearer: string
  /** What it has used up since its start. */
  readonly usage: Effect.Effect<Usage, BenchmarkFailure>
  /** Has it do something that no client could ask for. */
  readonly order: (command: string, input?: string) => Effect.Effect<string, BenchmarkFailure>
  /** Has it run, or stand still: what it does when nobody asks anything is no matter of whom it shares a core with. */
  readonly run: (running: boolean) => Effect.Effect<void>
}

/** Time for a server to listen, and for it to obey. */
const patience = "30 seconds"

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** A benchmark's server has nothing to lose: it is not asked to stop. */
const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (ended(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** Starts a program as a server, and stops it with the scope. Its errors are printed as they come. */
export const start: (
  name: string,
  program: URL,
  core: number | undefined,
  /** What the program is told on its command line. */
  given?: ReadonlyArray<string>
) => Effect.Effect<ServerProcess, BenchmarkFailure, Scope.Scope> = Effect.fnUntraced(function* (
  name,
  program,
  core,
  given = []
) {
  const failure = (message: string) => new BenchmarkFailure({ message: `the server ${name} ${message}` })
  const ready = Deferred.makeUnsafe<Ready, BenchmarkFailure>()
  const orders = new Map<number, Deferred.Deferred<string, BenchmarkFailure>>()

  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const [execPath, execArgv] = command(process.execPath, core)
      return fork(fileURLToPath(program), [...given], {
        execPath,
        execArgv: [...execArgv],
        stdio: ["ignore", "ignore", "inherit", "ipc"]
      })
    }),
    stop
  )

  const give = (id: number, outcome: Effect.Effect<string, BenchmarkFailure>) => {
    const order = orders.get(id)
    orders.delete(id)
    if (order !== undefined) Deferred.doneUnsafe(order, outcome)
  }
  const over = (message: string) => {
    const failed = Effect.fail(failure(message))
    Deferred.doneUnsafe(ready, failed)
    for (const id of orders.keys()) give(id, failed)
  }
  child.on("error", (error) => over(`cannot be started: ${error.message}`))
  child.on("exit", (code, signal) => over(`ended by itself with ${code ?? signal}`))
  child.on("message", (message) => {
    const answer = answerOf(message)
    if (answer === undefined) return over("said something that is not in the protocol")
    if (answer.type === "ready") Deferred.doneUnsafe(ready, Effect.succeed(answer))
    else if (answer.type === "done") give(answer.id, Effect.succeed(answer.output))
    else give(answer.id, Effect.fail(failure(`failed: ${answer.message}`)))
  })

  let next = 0
  const order = (what: string, input: string = ""): Effect.Effect<string, BenchmarkFailure> =>
    Effect.suspend(() => {
      const id = next++
      const outcome = Deferred.makeUnsafe<string, BenchmarkFailure>()
      if (ended(child)) return Effect.fail(failure("has ended"))
      orders.set(id, outcome)
      const message: Order = { type: "order", id, command: what, input }
      child.send(message)
      return Deferred.await(outcome)
    }).pipe(
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () => Effect.fail(failure(`did not answer to ${what} within ${patience}`))
      })
    )

  const { bearer, port } = yield* Deferred.await(ready).pipe(
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(failure(`did not listen within ${patience}`))
    })
  )
  const usage = Effect.flatMap(order(usageCommand), (output) => {
    const used = usageOf(output)
    return used === undefined ? Effect.fail(failure("does not tell its usage")) : Effect.succeed(used)
  })
  const run = (running: boolean): Effect.Effect<void> =>
    Effect.sync(() => {
      // Windows has no signal for it.
      if (process.platform !== "win32") child.kill(running ? "SIGCONT" : "SIGSTOP")
    })
  return { name, port, bearer, usage, order, run }
})
