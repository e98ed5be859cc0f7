/**
 * The port that keeps secrets: passwords and tokens of other systems. They are written, and read again only by the
 * adapter that needs them to connect; no answer of the service holds one. An adapter keeps them encrypted.
 *
 * Source: decisions.md §5 ("Secrets are write-only and encrypted at rest").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Uuid } from "../identifier/Uuid.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"

/** A secret's id: what a resource keeps in its place. */
export const SecretId = Uuid.pipe(Schema.brand("SecretId"))
export type SecretId = typeof SecretId.Type

/** Keeps secrets. An id of another organization is an unknown one. Writes are part of the transaction that runs. */
export class Secrets extends Context.Service<
  Secrets,
  {
    /**
     * Keeps a secret under an id that is new, or replaces the one that this organization has there. An id is a fresh
     * one of ours, so that another organization's is a defect.
     */
    readonly store: (
      organizationId: OrganizationId,
      id: SecretId,
      value: Redacted.Redacted<string>
    ) => Effect.Effect<void>
    /** The secret, for the adapter that connects with it. */
    readonly reveal: (
      organizationId: OrganizationId,
      id: SecretId
    ) => Effect.Effect<Option.Option<Redacted.Redacted<string>>>
    /** Removes the secret for good; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: SecretId) => Effect.Effect<void>
  }
>()("@castellan/core/secret/Secrets") {}

interface Kept {
  readonly organizationId: OrganizationId
  readonly value: Redacted.Redacted<string>
}

/** Keeps secrets in the memory of this process, unencrypted: for tests and for hosts that keep nothing. */
export const layerMemory: Layer.Layer<Secrets> = Layer.effect(
  Secrets,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<SecretId, Kept>()
    const get = (organizationId: OrganizationId, id: SecretId) =>
      Effect.map(
        table.get(id),
        Option.filter((kept) => kept.organizationId === organizationId)
      )
    return Secrets.of({
      store: Effect.fnUntraced(function* (organizationId, id, value) {
        const before = yield* table.get(id)
        if (Option.isSome(before) && before.value.organizationId !== organizationId) {
          return yield* Effect.die(new Error(`the secret ${id} belongs to another organization`))
        }
        yield* table.set(id, { organizationId, value })
      }),
      reveal: (organizationId, id) =>
        Effect.map(
          get(organizationId, id),
          Option.map(({ value }) => value)
        ),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
