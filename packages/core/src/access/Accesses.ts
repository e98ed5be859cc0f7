/**
 * The use cases of access: who an object is shared with, alike for every kind of object that can be shared.
 *
 * Source: decisions.md §3 (`GET|PUT /v2/{type}/{id}/access`).
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { UseCase } from "../audit/UseCase.ts"
import { InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { RoleStore } from "../role/RoleStore.ts"
import type { Access, Grantee } from "./Access.ts"
import { AccessCarriers, type CarrierType } from "./AccessCarriers.ts"
import * as AccessChange from "./AccessChange.ts"
import * as AccessPolicy from "./AccessPolicy.ts"
import { recordOf } from "./AccessRecord.ts"
import { enforce, refusal } from "./Decision.ts"
import type { CurrentPrincipal, Principal } from "./Principal.ts"

/** The use cases of access. */
export class Accesses extends Context.Service<
  Accesses,
  {
    /** Who an object is shared with. */
    readonly get: (
      type: CarrierType,
      id: string
    ) => Effect.Effect<Access, PermissionDenied | NotFound, CurrentPrincipal>
    /** Replaces all that an object is shared by, or nothing of it. */
    readonly replace: (
      type: CarrierType,
      id: string,
      wanted: AccessChange.WantedAccess
    ) => Effect.Effect<Access, InvalidRequest | PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/access/Accesses") {}

const invalid = (fault: { readonly message: string }) => new InvalidRequest({ message: fault.message })

/** The use cases over everything that carries access. */
export const layer: Layer.Layer<Accesses, never, AccessCarriers | MemberStore | RoleStore | UseCase> = Layer.effect(
  Accesses,
  Effect.gen(function* () {
    const carriers = yield* AccessCarriers
    const members = yield* MemberStore
    const roles = yield* RoleStore
    const useCase = yield* UseCase

    const load = Effect.fnUntraced(function* (principal: Principal, type: CarrierType, id: string) {
      const carried = yield* carriers[type].load(principal, id)
      return Option.isNone(carried) ? yield* new NotFound({ message: `${type} not found` }) : carried.value
    })

    /** Which of the grantees there are in the organization. */
    const existing = Effect.fnUntraced(function* (
      { organizationId }: Principal,
      { grants }: AccessChange.WantedAccess
    ) {
      const memberIds = grants.flatMap(({ grantee }) => (grantee._tag === "Member" ? [grantee.id] : []))
      const found = new Set<string>()
      for (const member of yield* members.named(organizationId, memberIds)) found.add(member.id)
      for (const role of yield* roles.list(organizationId)) found.add(role.id)
      return (grantee: Grantee) => found.has(grantee.id)
    })

    return Accesses.of({
      get: Effect.fn("Accesses.get")(function* (type, id) {
        return yield* useCase.read(
          { action: "read", target: { type, id } },
          Effect.fnUntraced(function* (principal) {
            const { access } = yield* load(principal, type, id)
            const { read } = carriers[type].permissions
            const need = { permission: read, access: "viewer", object: type } as const
            yield* enforce(AccessPolicy.decide(principal, access, need, yield* DateTime.now))
            return access
          })
        )
      }),
      replace: Effect.fn("Accesses.replace")(function* (type, id, given) {
        const wanted = yield* Effect.fromResult(Result.mapError(AccessChange.check(given), invalid))
        return yield* useCase.run(
          { action: "grant", target: { type, id } },
          Effect.fnUntraced(function* (principal) {
            const now = yield* DateTime.now
            const { access, replace } = yield* load(principal, type, id)
            const { write } = carriers[type].permissions
            yield* enforce(AccessPolicy.share(principal, access, { permission: write, object: type }, now))
            const exists = yield* existing(principal, wanted)
            yield* Effect.fromResult(Result.mapError(AccessChange.checkNew(access, wanted, exists, now), invalid))
            const next = yield* Effect.fromResult(
              Result.mapError(AccessChange.replace(principal, access, wanted, now), refusal)
            )
            yield* replace(next)
            return {
              answer: next,
              entries: [{ action: "grant", target: { type, id }, before: recordOf(access), after: recordOf(next) }]
            }
          })
        )
      })
    })
  })
)
