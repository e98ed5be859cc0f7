/**
 * A process that does use cases one after the other on an embedded database, says each when it is acknowledged, and is
 * killed: by whoever started it, or by its own hand at a statement.
 *
 * Arguments: the folder; the name of a use case, or `load`; the statement and `before` or `after`, where it dies by itself.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { Duration, Effect, References } from "effect"
import { applicationRole } from "../../src/database/PostgresDatabase.ts"
import { EngineHandle } from "../../src/embedded/internal/EngineHandle.ts"
import * as Deployments from "./Deployments.ts"
import { Life } from "./Dying.ts"
import { useCases } from "./FaultedUseCases.ts"

const [, , folder = "", what = "", statement = "", when = ""] = process.argv

const life = new Life(() => process.kill(process.pid, "SIGKILL"))
const handle = new EngineHandle({ folder })

const connections = PgClient.layer({
  stream: () => life.stream(() => handle.connect(applicationRole)),
  username: "postgres",
  database: "postgres",
  maxConnections: 1,
  multiplex: true,
  connectTimeout: Duration.infinity
})

const say = (line: string) =>
  Effect.promise(() => new Promise<void>((said) => process.stdout.write(`${line}\n`, () => said())))

/** Playbooks and keys, for ever. */
const load = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const admin = Fixture.adminOf(tenant)
  yield* say(`organization ${tenant.organizationId}`)
  const write = Effect.fnUntraced(function* () {
    for (;;) {
      const { id } = yield* Playbooks.use((playbooks) => playbooks.create)
      yield* say(`playbook ${id}`)
      const minted = yield* ApiKeys.use((keys) => keys.mint({ name: "key", inheritAllRoles: true }))
      const rotated = yield* ApiKeys.use((keys) => keys.rotate(minted.apiKey.id))
      yield* say(`key ${rotated.apiKey.id}`)
    }
  })
  yield* Effect.all([write(), write(), write()], { concurrency: "unbounded" }).pipe(
    Effect.provideService(CurrentPrincipal, admin)
  )
})

const once = Effect.gen(function* () {
  const useCase = useCases.find(({ name }) => name === what)
  if (useCase === undefined) return yield* Effect.die(new Error(`no use case: ${what}`))
  const tenant = yield* Fixture.tenant()
  const ready = useCase.carryOut(yield* useCase.prepare(tenant))
  yield* say(`organization ${tenant.organizationId}`)
  life.arm({ statement: Number(statement), when: when === "before" ? "before" : "after" })
  yield* ready
  yield* say("acknowledged")
})

await Effect.runPromise(
  (what === "load" ? load : once).pipe(
    Effect.provide(Deployments.server(connections)),
    Effect.provideService(References.MinimumLogLevel, "Error")
  )
)
process.exit(0)
