/** A server on a database that works on one question, has another in its queue, and says so, until it is killed. */
import * as Castellan from "@castellan/core/Castellan"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { type Script, ScriptedModel, stalling } from "@castellan/testing/scripted/ScriptedModel"
import * as ScriptedSandbox from "@castellan/testing/scripted/ScriptedSandbox"
import * as Effect from "effect/Effect"
import { Base64 } from "effect/encoding"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { KeptPrincipal } from "@castellan/core/access/Principal"
import { Run } from "@castellan/core/run/Run"
import * as PostgresDatabase from "../../src/database/PostgresDatabase.ts"
import * as PostgresStores from "../../src/PostgresStores.ts"
import * as RunNotifications from "../../src/run/RunNotifications.ts"

/** What the process says once it is at work. */
export const AtWork = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Struct({ principal: KeptPrincipal, working: Run, waiting: Run }))
)

const secretKeys = SecretKeys.layer({
  current: Redacted.make(`k1:${Base64.encode(new Uint8Array(32).fill(1))}`),
  former: []
})

/** A whole server over a database, whose model says what a script says. */
export const server = (
  url: Redacted.Redacted<string>,
  options: Castellan.CastellanOptions & { readonly script?: Script }
) => {
  const stores = PostgresStores.layer.pipe(
    Layer.provide(RunNotifications.layer),
    Layer.provide(secretKeys),
    Layer.provide(Deployment.layerCrypto),
    Layer.provide(PostgresDatabase.layer({ url }))
  )
  return Castellan.layer({
    sandbox: ScriptedSandbox.layer({}),
    sweeps: false,
    purges: false,
    recovers: false,
    ...options
  }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        stores,
        Deployment.layerPorts(options.script === undefined ? {} : { script: options.script }),
        Deployment.layerCrypto
      )
    ),
    Layer.fresh
  )
}

const work = Effect.gen(function* () {
  const principal = Fixture.adminOf(yield* Fixture.tenant())
  const working = yield* Conversation.ask(principal, "At work?")
  yield* ScriptedModel.use((model) => model.asked(1))
  const waiting = yield* Conversation.ask(principal, "In the queue?")
  process.stdout.write(`${yield* Schema.encodeEffect(AtWork)({ principal, working, waiting })}\n`)
  return yield* Effect.never
})

const [, main, url] = process.argv
if (main === import.meta.filename && url !== undefined) {
  const options = { concurrency: 1, lease: "2 seconds", script: () => stalling() } as const
  await Effect.runPromise(Effect.provide(work, server(Redacted.make(url), options)))
}
