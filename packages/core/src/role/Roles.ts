/**
 * The use cases of roles.
 *
 * Source: api-v2.md "Roles"; decisions.md §3 ("Role and member administration").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { enforce } from "../access/Decision.ts"
import * as HeldNow from "../access/HeldNow.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Conflict, InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { Member } from "../member/Member.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { LanguageModels } from "../model/LanguageModels.ts"
import type { ModelNumber } from "../model/Model.ts"
import { ModelStore } from "../model/ModelStore.ts"
import { ScimGroupMappingStore } from "../scim/ScimGroupMappingStore.ts"
import type { Permission } from "./Permission.ts"
import { traced } from "../trace/Traced.ts"
import { Role, RoleId, RoleOrigin } from "./Role.ts"
import * as RolePatch from "./RolePatch.ts"
import * as RolePolicy from "./RolePolicy.ts"
import { recordOf } from "./RoleRecord.ts"
import { RoleEvent, transition } from "./RoleState.ts"
import { RoleStore } from "./RoleStore.ts"

/** A role to make. */
export interface RoleDraft {
  readonly name: string
  readonly description?: string
}

/** The use cases of roles. */
export class Roles extends Context.Service<
  Roles,
  {
    /** Every role of the organization, in the order of creation. */
    readonly list: Effect.Effect<ReadonlyArray<Role>, PermissionDenied | NotFound, CurrentPrincipal>
    /** One role, with its permissions. */
    readonly get: (id: RoleId) => Effect.Effect<Role, PermissionDenied | NotFound, CurrentPrincipal>
    /** Makes a role without any permission. A name that a role bears already is a conflict. */
    readonly create: (
      draft: RoleDraft
    ) => Effect.Effect<Role, InvalidRequest | PermissionDenied | NotFound | Conflict, CurrentPrincipal>
    /** Changes what the patch names, all of it or nothing. */
    readonly patch: (
      id: RoleId,
      patch: RolePatch.RolePatch
    ) => Effect.Effect<Role, InvalidRequest | PermissionDenied | NotFound | Conflict, CurrentPrincipal>
    /** Replaces the permissions. */
    readonly setPermissions: (
      id: RoleId,
      permissions: ReadonlyArray<Permission>
    ) => Effect.Effect<Role, PermissionDenied | NotFound, CurrentPrincipal>
    /** Deletes a role; its members hold it no longer. One that a SCIM group is mapped to is a conflict. */
    readonly remove: (id: RoleId) => Effect.Effect<void, PermissionDenied | NotFound | Conflict, CurrentPrincipal>
  }
>()("@castellan/core/role/Roles") {}

/** The role that was looked for. */
const existing: (found: Option.Option<Role>) => Effect.Effect<Role, NotFound> = Option.match({
  onNone: () => Effect.fail(new NotFound({ message: "role not found" })),
  onSome: Effect.succeed
})

/** The use cases over the stores. */
export const layer: Layer.Layer<
  Roles,
  never,
  LanguageModels | MemberStore | ModelStore | RoleStore | ScimGroupMappingStore | SecureRandom.SecureRandom | UseCase
> = Layer.effect(
  Roles,
  Effect.gen(function* () {
    const store = yield* RoleStore
    const members = yield* MemberStore
    const asOfNow = HeldNow.make(members)
    const mappings = yield* ScimGroupMappingStore
    const models = yield* ModelStore
    const languageModels = yield* LanguageModels
    const useCase = yield* UseCase
    const random = yield* SecureRandom.SecureRandom

    const load = (principal: Principal, id: RoleId): Effect.Effect<Role, NotFound> =>
      Effect.flatMap(store.get(principal.organizationId, id), existing)

    const requireFreeName = Effect.fnUntraced(function* (principal: Principal, name: string) {
      const roles = yield* store.list(principal.organizationId)
      if (roles.some((role) => role.name === name)) {
        return yield* new Conflict({ message: `a role named "${name}" exists already` })
      }
    })

    const requireKnown = Effect.fnUntraced(function* (principal: Principal, named: ReadonlyArray<ModelNumber>) {
      const known = new Set(
        (yield* models.numbered(principal.organizationId, languageModels.served)).map((model) => model.number)
      )
      const unknown = named.filter((number) => !known.has(number))
      if (unknown.length > 0) {
        return yield* new InvalidRequest({
          message: `default_model_id, allowed_model_ids: there is no model ${unknown.join(", ")}`
        })
      }
    })

    /** The role after events that the policy has allowed: a refusal would be a defect. */
    const after = Effect.fnUntraced(function* (role: Role, events: ReadonlyArray<RoleEvent>) {
      const now = yield* DateTime.now
      let next = role
      for (const event of events) {
        next = Option.getOrElse(yield* Effect.orDie(Effect.fromResult(transition(next, event, now))), () => next)
      }
      return next
    })

    return Roles.of({
      list: useCase
        .read(
          { action: "list", target: { type: "role" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(RolePolicy.read(principal))
            return yield* store.list(principal.organizationId)
          })
        )
        .pipe(traced("Roles.list")),

      get: (id) =>
        useCase
          .read({ action: "read", target: { type: "role", id } }, (principal) =>
            Effect.tap(load(principal, id), () => enforce(RolePolicy.read(principal)))
          )
          .pipe(traced("Roles.get")),

      create: Effect.fn("Roles.create")(function* (draft) {
        const name = yield* Effect.fromResult(RolePatch.nameOf(draft.name))
        const description = yield* Effect.fromResult(RolePatch.descriptionOf(draft.description ?? ""))
        return yield* useCase.run(
          { action: "create", target: { type: "role" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(RolePolicy.create(principal))
            yield* requireFreeName(principal, name)
            const now = yield* DateTime.now
            const role = new Role({
              id: RoleId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
              organizationId: principal.organizationId,
              name,
              description,
              origin: RoleOrigin.cases.Custom.make({}),
              permissions: [],
              models: { allowModelChoice: true },
              createdAt: now,
              updatedAt: now
            })
            yield* store.save(role)
            return {
              answer: role,
              entries: [{ action: "create", target: { type: "role", id: role.id }, after: recordOf(role) }]
            }
          })
        )
      }),

      patch: Effect.fn("Roles.patch")(function* (id, given) {
        const patch = yield* Effect.fromResult(RolePatch.checked(given))
        return yield* useCase.run(
          { action: "update", target: { type: "role", id } },
          Effect.fnUntraced(function* (principal) {
            const role = yield* load(principal, id)
            const events = RolePatch.eventsOf(role, patch)
            yield* enforce(RolePolicy.administers(principal, "role:write"))
            for (const event of events) yield* enforce(RolePolicy.change(principal, role, event))
            yield* requireKnown(principal, RolePatch.modelsNamed(patch))
            for (const event of events) if (event._tag === "Rename") yield* requireFreeName(principal, event.name)
            if (events.length === 0) return { answer: role, entries: [] }
            const next = yield* after(role, events)
            yield* store.save(next)
            return {
              answer: next,
              entries: [
                { action: "update", target: { type: "role", id }, before: recordOf(role), after: recordOf(next) }
              ]
            }
          })
        )
      }),

      setPermissions: Effect.fn("Roles.setPermissions")(function* (id, permissions) {
        return yield* useCase.run(
          { action: "grant", target: { type: "role", id } },
          Effect.fnUntraced(function* (principal) {
            const role = yield* load(principal, id)
            const event = RoleEvent.cases.SetPermissions.make({ permissions })
            yield* enforce(RolePolicy.change(yield* asOfNow(principal), role, event))
            const next = yield* after(role, [event])
            yield* store.save(next)
            return {
              answer: next,
              entries: [
                { action: "grant", target: { type: "role", id }, before: recordOf(role), after: recordOf(next) }
              ]
            }
          })
        )
      }),

      remove: Effect.fn("Roles.remove")(function* (id) {
        yield* useCase.run(
          { action: "delete", target: { type: "role", id } },
          Effect.fnUntraced(function* (principal) {
            const role = yield* load(principal, id)
            yield* enforce(RolePolicy.change(principal, role, RoleEvent.cases.Delete.make({})))
            const groups = (yield* mappings.list(principal.organizationId)).filter(
              ({ target }) => target._tag === "Role" && target.id === id
            )
            if (groups.length > 0) {
              return yield* new Conflict({
                message: `the role is given by SCIM groups: ${groups.map(({ group }) => group).join(", ")}`
              })
            }
            const holders = yield* members.withRole(principal.organizationId, id)
            for (const holder of holders) {
              yield* members.save(new Member({ ...holder, roles: holder.roles.filter((held) => held !== id) }))
            }
            yield* store.remove(principal.organizationId, id)
            return {
              answer: undefined,
              entries: [
                {
                  action: "delete",
                  target: { type: "role", id },
                  before: { ...recordOf(role), members: holders.map((holder) => holder.id) }
                }
              ]
            }
          })
        )
      })
    })
  })
)
