/**
 * A process with several servers on a real database, each with a use case that stops at a statement: right before it is
 * sent, or right after. When all have, the process is killed, with all that they were about.
 *
 * Arguments: where the database is, and when each use case stops, as JSON. It says what it has made ready, waits for a
 * line, and says of each use case that it was acknowledged, or how it failed.
 */
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Cause, Effect, Exit, Latch, Layer, Redacted, References, Schema } from "effect"
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import * as Deployments from "./Deployments.ts"
import { Life } from "./Dying.ts"
import * as DyingConnections from "./DyingConnections.ts"
import { useCases } from "./FaultedUseCases.ts"
import { applicationName, Said, Stops } from "./KilledServerTalk.ts"

const [, , url = "", stops = ""] = process.argv

const say = (said: typeof Said.Type) =>
  Effect.map(Schema.encodeEffect(Said)(said), (line) => writeSync(process.stdout.fd, `${line}\n`))

/** The word to begin. */
const word = Effect.callback<void>((resume) => {
  createInterface({ input: process.stdin }).once("line", () => resume(Effect.void))
})

const work = Effect.gen(function* () {
  const database = Redacted.make(url)
  const victims = yield* Effect.forEach(
    yield* Schema.decodeEffect(Stops)(stops),
    Effect.fnUntraced(function* (stop, index) {
      const useCase = useCases[stop.useCase]
      if (useCase === undefined) return yield* Effect.die(new Error(`no use case: ${stop.useCase}`))
      const isOver = Latch.makeUnsafe()
      // What is sent last is on its way; nothing is closed before the process is.
      const life = new Life(() => isOver.openUnsafe(), { leavesConnections: true })
      const services = yield* Layer.build(Deployments.server(DyingConnections.layer(database, life, applicationName)))
      const tenant = yield* Effect.provideContext(Fixture.tenant(), services)
      const prepared = yield* Effect.provideContext(useCase.prepare(tenant), services)
      yield* say({ _tag: "Ready", index, organizationId: tenant.organizationId, prepared })
      const carriedOut = Effect.provideContext(useCase.carryOut(prepared), services).pipe(
        Effect.exit,
        Effect.flatMap((exit) =>
          life.isOver
            ? Effect.void
            : say(
                Exit.isSuccess(exit)
                  ? { _tag: "Acknowledged", index }
                  : { _tag: "Failed", index, cause: Cause.pretty(exit.cause) }
              )
        ),
        Effect.andThen(isOver.open)
      )
      return { arm: () => life.arm(stop), carriedOut, isOver }
    }),
    { concurrency: 4 }
  )
  yield* word
  for (const { arm } of victims) arm()
  for (const { carriedOut } of victims) yield* Effect.forkDetach(carriedOut)
  for (const { isOver } of victims) yield* isOver.await
  process.kill(process.pid, "SIGKILL")
  return yield* Effect.never
})

await Effect.runPromise(work.pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None")))
