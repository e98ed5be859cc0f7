/**
 * The use cases of SCIM group mappings.
 *
 * Source: api-v2.md (`MigrateAllScimGroupMappings`); decisions.md §9.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { enforce } from "../access/Decision.ts"
import { requiresAdmin } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { NotFound, PermissionDenied } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Role, RoleId, RoleOrigin } from "../role/Role.ts"
import { recordOf } from "../role/RoleRecord.ts"
import { RoleStore } from "../role/RoleStore.ts"
import { ScimGroupMapping, ScimGroupTarget } from "./ScimGroupMapping.ts"
import { ScimGroupMappingStore } from "./ScimGroupMappingStore.ts"
import * as ScimMigration from "./ScimMigration.ts"

/** The use cases of SCIM group mappings. Each needs the admin role. */
export class ScimGroupMappings extends Context.Service<
  ScimGroupMappings,
  {
    /** Every mapping of the organization, in the order of creation. */
    readonly list: Effect.Effect<ReadonlyArray<ScimGroupMapping>, PermissionDenied | NotFound, CurrentPrincipal>
    /**
     * Turns every mapping to a role's name into one to the role, and makes a SCIM-managed role, without any permission,
     * where none has that name. Answers how many it moved: none, when it is done again.
     */
    readonly migrateAll: Effect.Effect<number, PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/scim/ScimGroupMappings") {}

/** The use cases over the stores. */
export const layer: Layer.Layer<
  ScimGroupMappings,
  never,
  RoleStore | ScimGroupMappingStore | SecureRandom.SecureRandom | UseCase
> = Layer.effect(
  ScimGroupMappings,
  Effect.gen(function* () {
    const store = yield* ScimGroupMappingStore
    const roles = yield* RoleStore
    const useCase = yield* UseCase
    const random = yield* SecureRandom.SecureRandom

    return ScimGroupMappings.of({
      list: useCase
        .read(
          { action: "list", target: { type: "scim_group_mapping" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(requiresAdmin(principal))
            return yield* store.list(principal.organizationId)
          })
        )
        .pipe(Effect.withSpan("ScimGroupMappings.list")),

      migrateAll: useCase
        .run(
          { action: "migrate", target: { type: "scim_group_mapping" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(requiresAdmin(principal))
            const { organizationId } = principal
            const now = yield* DateTime.now
            const existing = yield* roles.list(organizationId)
            const { missing, moves } = ScimMigration.plan(yield* store.list(organizationId), existing)
            const entries: Array<AuditEntry> = []
            const byName = new Map(existing.map((role) => [role.name, role.id]))
            for (const name of missing) {
              const role = new Role({
                id: RoleId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
                organizationId,
                name,
                description: "",
                origin: RoleOrigin.cases.Scim.make({}),
                permissions: [],
                models: { allowModelChoice: true },
                createdAt: now,
                updatedAt: now
              })
              yield* roles.save(role)
              byName.set(name, role.id)
              entries.push({ action: "create", target: { type: "role", id: role.id }, after: recordOf(role) })
            }
            for (const { mapping, roleName } of moves) {
              const id = byName.get(roleName)
              if (id === undefined) return yield* Effect.die(new Error(`the plan left out the role "${roleName}"`))
              yield* store.save(
                new ScimGroupMapping({ ...mapping, target: ScimGroupTarget.cases.Role.make({ id }), updatedAt: now })
              )
              entries.push({
                action: "migrate",
                target: { type: "scim_group_mapping", id: mapping.id },
                before: { group: mapping.group, roleName },
                after: { group: mapping.group, roleId: id }
              })
            }
            return { answer: moves.length, entries }
          })
        )
        .pipe(Effect.withSpan("ScimGroupMappings.migrateAll"))
    })
  })
)
