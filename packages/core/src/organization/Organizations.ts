/**
 * The use cases of the organization's settings.
 *
 * Source: decisions.md §3 ("Rate limit", "Key expiry", "Model configuration").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import { LanguageModels } from "../model/LanguageModels.ts"
import { ModelStore } from "../model/ModelStore.ts"
import type { Organization } from "./Organization.ts"
import * as OrganizationPatch from "./OrganizationPatch.ts"
import * as OrganizationPolicy from "./OrganizationPolicy.ts"
import { OrganizationStore } from "./OrganizationStore.ts"

/** The use cases of the organization that the caller acts in. */
export class Organizations extends Context.Service<
  Organizations,
  {
    /** The organization with its settings. */
    readonly get: Effect.Effect<Organization, PermissionDenied | NotFound, CurrentPrincipal>
    /** Changes what the patch names, all of it or nothing. */
    readonly patch: (
      patch: OrganizationPatch.OrganizationPatch
    ) => Effect.Effect<Organization, InvalidRequest | PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/organization/Organizations") {}

/** The settings as the audit log has them. */
const recordOf = (organization: Organization): Schema.JsonObject => ({
  name: organization.name,
  ...(organization.defaultModel === undefined ? {} : { defaultModel: organization.defaultModel }),
  rateLimit: organization.rateLimit,
  keyExpirySeconds: organization.keyExpiry._tag === "Never" ? null : organization.keyExpiry.seconds
})

/** The use cases over the stores. */
export const layer: Layer.Layer<Organizations, never, LanguageModels | ModelStore | OrganizationStore | UseCase> =
  Layer.effect(
    Organizations,
    Effect.gen(function* () {
      const store = yield* OrganizationStore
      const models = yield* ModelStore
      const languageModels = yield* LanguageModels
      const useCase = yield* UseCase

      const load = Effect.fnUntraced(function* (principal: Principal) {
        const organization = yield* store.get(principal.organizationId)
        return Option.isNone(organization)
          ? yield* new NotFound({ message: "organization not found" })
          : organization.value
      })

      return Organizations.of({
        get: useCase
          .read(
            { action: "read", target: { type: "organization" } },
            Effect.fnUntraced(function* (principal) {
              const organization = yield* load(principal)
              yield* enforce(OrganizationPolicy.read(principal))
              return organization
            })
          )
          .pipe(Effect.withSpan("Organizations.get")),

        patch: Effect.fn("Organizations.patch")(function* (patch) {
          return yield* useCase.run(
            { action: "update", target: { type: "organization" } },
            Effect.fnUntraced(function* (principal) {
              const organization = yield* load(principal)
              const next = yield* Effect.fromResult(OrganizationPatch.apply(organization, patch))
              yield* enforce(OrganizationPolicy.change(principal))
              const wanted = patch.defaultModel
              if (wanted !== undefined && wanted !== 0) {
                const known = yield* models.numbered(principal.organizationId, languageModels.served)
                if (!known.some((model) => model.number === wanted)) {
                  return yield* new InvalidRequest({ message: `default_model_id: there is no model ${wanted}` })
                }
              }
              if (Equal.equals(next, organization)) return { answer: organization, entries: [] }
              yield* store.save(next)
              return {
                answer: next,
                entries: [
                  {
                    action: "update",
                    target: { type: "organization", id: organization.id },
                    before: recordOf(organization),
                    after: recordOf(next)
                  }
                ]
              }
            })
          )
        })
      })
    })
  )
