/**
 * Our server for a benchmark: the product's HTTP surface over a deployment, with the first organization and 10,001 keys
 * in place, obeying the runner.
 */
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import * as NodeServer from "@castellan/http/server/NodeServer"
import * as Pretenuring from "@castellan/http/server/Pretenuring"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type { Stores } from "@castellan/core/memory/Stores"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import { keyCount } from "./Keys.ts"
import { type Commands, serving } from "./Serving.ts"

/** What every deployment of ours has. */
export type Deployed = CastellanHttp.Services | Stores | Digest.Digest | SecureRandom.SecureRandom

/** An organization with one key that the load uses, and 10,000 more that nobody does. */
const establish = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  yield* Fixture.unlimited(tenant.organizationId)
  const owner = { id: tenant.adminId, organizationId: tenant.organizationId, roles: [tenant.memberRole.id] }
  yield* Effect.forEach(Array.from({ length: keyCount - 1 }), () => Fixture.key(owner), { discard: true })
  return tenant
})

/**
 * Serves a deployment until the runner is gone. `commands` makes what the runner can have it do; `established` makes the
 * organization and its keys, one by one unless it knows better.
 */
export const serveCastellan = <Deployment>(
  deployment: Layer.Layer<Deployed | Deployment>,
  commands: (tenant: Fixture.Tenant) => Effect.Effect<Commands, never, Deployed | Deployment> = () =>
    Effect.succeed({}),
  established: Effect.Effect<Fixture.Tenant, never, Deployed | Deployment> = establish
): void => {
  const http = CastellanHttp.layer({ assetSecret: Redacted.make("a secret of more than 32 characters") })
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { port } = yield* NodeServer.NodeServer
      const tenant = yield* established
      serving(port, Redacted.value(tenant.adminKey), yield* commands(tenant))
    })
  ).pipe(
    Layer.provide(NodeServer.layer()),
    Layer.provide(http),
    Layer.provide(deployment),
    Layer.provide(Pretenuring.layerOff),
    Layer.launch,
    NodeRuntime.runMain
  )
}
