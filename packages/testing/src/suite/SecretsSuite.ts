/**
 * What every adapter of `Secrets` keeps to.
 */
import { Secrets } from "@castellan/core/secret/Secrets"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as AdministrationSample from "../fixture/AdministrationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"

/** Runs the contract of `Secrets` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<Secrets, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`Secrets (${name})`, (it) => {
    const revealed = (
      organization: Parameters<Secrets["Service"]["reveal"]>[0],
      id: Parameters<Secrets["Service"]["reveal"]>[1]
    ) => Secrets.use((secrets) => Effect.map(secrets.reveal(organization, id), Option.map(Redacted.value)))

    it.effect("reveals what was stored, whatever its characters, and knows nothing of any other id", () =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        const organization = yield* Sample.organizationId
        for (const value of [
          "",
          "pässwörd",
          "half \ud83d",
          "a\nb\u0000c",
          "🔑".repeat(1000),
          '{"private_key":"-----BEGIN"}'
        ]) {
          const id = yield* AdministrationSample.secretId
          yield* secrets.store(organization, id, Redacted.make(value))
          assert.deepStrictEqual(yield* revealed(organization, id), Option.some(value))
        }
        assert.deepStrictEqual(yield* revealed(organization, yield* AdministrationSample.secretId), Option.none())
      })
    )

    it.effect("replaces a secret of its own", () =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        const organization = yield* Sample.organizationId
        const id = yield* AdministrationSample.secretId
        yield* secrets.store(organization, id, Redacted.make("old"))
        yield* secrets.store(organization, id, Redacted.make("new"))
        assert.deepStrictEqual(yield* revealed(organization, id), Option.some("new"))
      })
    )

    it.effect("keeps organizations apart: none reads, replaces or removes another's secret", () =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const id = yield* AdministrationSample.secretId
        yield* secrets.store(ours, id, Redacted.make("ours"))
        assert.deepStrictEqual(yield* revealed(theirs, id), Option.none())
        assert.isTrue(Exit.isFailure(yield* Effect.exit(secrets.store(theirs, id, Redacted.make("theirs")))))
        yield* secrets.remove(theirs, id)
        assert.deepStrictEqual(yield* revealed(ours, id), Option.some("ours"))
      })
    )

    it.effect("forgets a removed secret for good", () =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        const organization = yield* Sample.organizationId
        const id = yield* AdministrationSample.secretId
        yield* secrets.store(organization, id, Redacted.make("gone"))
        yield* secrets.remove(organization, id)
        yield* secrets.remove(organization, id)
        assert.deepStrictEqual(yield* revealed(organization, id), Option.none())
      })
    )
  })
}
