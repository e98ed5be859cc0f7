/**
 * The use cases of members.
 *
 * Source: decisions.md §3 ("Role and member administration").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Decision, enforce } from "../access/Decision.ts"
import * as HeldNow from "../access/HeldNow.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditAction } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Conflict, InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { Role, RoleId } from "../role/Role.ts"
import * as RolePolicy from "../role/RolePolicy.ts"
import { RoleStore } from "../role/RoleStore.ts"
import { EmailAddress } from "./EmailAddress.ts"
import { Member, MemberId, MemberStatus } from "./Member.ts"
import * as MemberPolicy from "./MemberPolicy.ts"
import { isActiveAdmin, MemberEvent, type MemberRefusal, transition } from "./MemberState.ts"
import { MemberStore } from "./MemberStore.ts"
import { type MemberView, recordOf, viewOf } from "./MemberView.ts"

/** Somebody to invite. */
export interface Invitation {
  readonly email: string
  /** A role's id or name; the built-in role `member` when absent. */
  readonly role?: string
}

type Failure = PermissionDenied | NotFound | Conflict

/** The use cases of members. */
export class Members extends Context.Service<
  Members,
  {
    /** The active members of the organization, in the order of creation. */
    readonly list: Effect.Effect<ReadonlyArray<MemberView>, PermissionDenied | NotFound, CurrentPrincipal>
    /**
     * Makes a member of an e-mail address, who may sign in from then on. A deactivated one comes back, with the role of
     * the invitation alone; an active one is a conflict.
     */
    readonly invite: (invitation: Invitation) => Effect.Effect<MemberView, InvalidRequest | Failure, CurrentPrincipal>
    /** Makes a member that is no person, without any role. */
    readonly createServiceAccount: (account: {
      readonly name: string
    }) => Effect.Effect<MemberView, InvalidRequest | Failure, CurrentPrincipal>
    /** Deactivates a member, or deletes it for good. The last admin stays. */
    readonly remove: (
      id: MemberId,
      options?: { readonly hardDelete?: boolean }
    ) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** The roles of a member. */
    readonly roles: (id: MemberId) => Effect.Effect<ReadonlyArray<Role>, Failure, CurrentPrincipal>
    /** Gives a member a role; one that it holds already changes nothing. */
    readonly assign: (id: MemberId, role: RoleId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** Takes a role from a member; one that it does not hold is not found. The last admin keeps `admin`. */
    readonly unassign: (id: MemberId, role: RoleId) => Effect.Effect<void, Failure, CurrentPrincipal>
  }
>()("@castellan/core/member/Members") {}

const isEmailAddress = Schema.is(EmailAddress)

/** Where the addresses of service accounts are: a domain that receives nothing (RFC 2606). */
const serviceAccountDomain = "service-accounts.invalid"

/** A refused transition as a failure of a use case. */
const failureOf = (refusal: MemberRefusal): NotFound | Conflict =>
  refusal.reason === "not_held"
    ? new NotFound({ message: refusal.message })
    : new Conflict({ message: refusal.message })

/** The use cases over the stores. */
export const layer: Layer.Layer<Members, never, MemberStore | RoleStore | SecureRandom.SecureRandom | UseCase> =
  Layer.effect(
    Members,
    Effect.gen(function* () {
      const store = yield* MemberStore
      const asOfNow = HeldNow.make(store)
      const roles = yield* RoleStore
      const useCase = yield* UseCase
      const random = yield* SecureRandom.SecureRandom
      const nextId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
        MemberId.make(id)
      )

      const load = Effect.fnUntraced(function* (principal: Principal, id: MemberId) {
        const member = yield* store.get(principal.organizationId, id)
        return Option.isNone(member) ? yield* new NotFound({ message: "member not found" }) : member.value
      })

      const roleOf = (existing: ReadonlyArray<Role>, wanted: (role: Role) => boolean) => {
        const role = existing.find(wanted)
        return role === undefined ? Effect.fail(new NotFound({ message: "role not found" })) : Effect.succeed(role)
      }

      /** The member after an event, kept; none when it is gone. */
      const advance = Effect.fnUntraced(function* (member: Member, event: MemberEvent, existing: ReadonlyArray<Role>) {
        const adminRole = existing.find((role) => role.isAdmin)?.id
        const admins = adminRole === undefined ? [] : yield* store.withRole(member.organizationId, adminRole)
        const otherAdmins = admins.filter((one) => one.id !== member.id && isActiveAdmin(one, adminRole)).length
        const outcome = transition(member, event, { adminRole, otherAdmins }, yield* DateTime.now)
        const next = yield* Effect.fromResult(Result.mapError(outcome, failureOf))
        if (Option.isNone(next)) yield* store.remove(member.organizationId, member.id)
        else if (next.value !== member) yield* store.save(next.value)
        return next
      })

      /** A change of one role of one member. */
      const changeRole = (
        action: AuditAction,
        id: MemberId,
        roleId: RoleId,
        decide: (principal: Principal, role: Role) => Decision,
        event: MemberEvent
      ) =>
        useCase.run(
          { action, target: { type: "member", id } },
          Effect.fnUntraced(function* (principal) {
            const member = yield* load(principal, id)
            const existing = yield* roles.list(principal.organizationId)
            const role = yield* roleOf(existing, (one) => one.id === roleId)
            yield* enforce(decide(yield* asOfNow(principal), role))
            const next = yield* advance(member, event, existing)
            if (Option.isNone(next) || next.value === member) return { answer: undefined, entries: [] }
            return {
              answer: undefined,
              entries: [
                {
                  action,
                  target: { type: "member", id } as const,
                  before: recordOf(member),
                  after: recordOf(next.value)
                }
              ]
            }
          })
        )

      return Members.of({
        list: useCase
          .read(
            { action: "list", target: { type: "member" } },
            Effect.fnUntraced(function* (principal) {
              yield* enforce(MemberPolicy.read(principal))
              const existing = yield* roles.list(principal.organizationId)
              const members = yield* store.list(principal.organizationId)
              const active = members.filter((member) => member.status._tag === "Active")
              return active.map((member) => viewOf(member, existing))
            })
          )
          .pipe(Effect.withSpan("Members.list")),

        invite: Effect.fn("Members.invite")(function* ({ email, role: wanted }) {
          const address = email.trim()
          if (!isEmailAddress(address)) {
            return yield* new InvalidRequest({ message: "email: must be an e-mail address" })
          }
          return yield* useCase.run(
            { action: "invite", target: { type: "member" } },
            Effect.fnUntraced(function* (principal) {
              const inviter = yield* asOfNow(principal)
              yield* enforce(RolePolicy.administers(inviter, "member:write"))
              const existing = yield* roles.list(principal.organizationId)
              const role = yield* roleOf(
                existing,
                wanted === undefined
                  ? ({ origin }) => origin._tag === "System" && origin.name === "member"
                  : // An id first: a role that is named like another's id must not be taken for it.
                    existing.some(({ id }) => id === wanted)
                    ? ({ id }) => id === wanted
                    : ({ name }) => name === wanted
              )
              yield* enforce(MemberPolicy.invite(inviter, role))
              const known = yield* store.byEmail(principal.organizationId, address)
              let member: Member
              if (Option.isSome(known)) {
                const event = MemberEvent.cases.Reinvite.make({ roles: [role.id] })
                member = Option.getOrElse(yield* advance(known.value, event, existing), () => known.value)
              } else {
                member = new Member({
                  id: yield* nextId,
                  organizationId: principal.organizationId,
                  email: address,
                  roles: [role.id],
                  isServiceAccount: false,
                  status: MemberStatus.cases.Active.make({}),
                  createdAt: yield* DateTime.now
                })
                yield* store.save(member)
              }
              return {
                answer: viewOf(member, existing),
                entries: [
                  {
                    action: "invite",
                    target: { type: "member", id: member.id },
                    ...(Option.isNone(known) ? {} : { before: recordOf(known.value) }),
                    after: recordOf(member)
                  }
                ]
              }
            })
          )
        }),

        createServiceAccount: Effect.fn("Members.createServiceAccount")(function* (account) {
          const name = account.name.trim()
          if (name === "" || name.length > 100) {
            return yield* new InvalidRequest({ message: "name: must have 1 to 100 characters" })
          }
          return yield* useCase.run(
            { action: "create", target: { type: "member" } },
            Effect.fnUntraced(function* (principal) {
              yield* enforce(MemberPolicy.createServiceAccount(principal))
              const id = yield* nextId
              const member = new Member({
                id,
                organizationId: principal.organizationId,
                email: `${id}@${serviceAccountDomain}`,
                name,
                roles: [],
                isServiceAccount: true,
                status: MemberStatus.cases.Active.make({}),
                createdAt: yield* DateTime.now
              })
              yield* store.save(member)
              return {
                answer: viewOf(member, []),
                entries: [{ action: "create", target: { type: "member", id }, after: recordOf(member) }]
              }
            })
          )
        }),

        remove: Effect.fn("Members.remove")(function* (id, { hardDelete = false } = {}) {
          const action = hardDelete ? "delete" : "deactivate"
          yield* useCase.run(
            { action, target: { type: "member", id } },
            Effect.fnUntraced(function* (principal) {
              const member = yield* load(principal, id)
              const existing = yield* roles.list(principal.organizationId)
              const adminRole = existing.find((role) => role.isAdmin)
              yield* enforce(MemberPolicy.remove(principal, member, adminRole))
              const event = hardDelete ? MemberEvent.cases.Delete.make({}) : MemberEvent.cases.Deactivate.make({})
              const next = yield* advance(member, event, existing)
              return {
                answer: undefined,
                entries: [
                  {
                    action,
                    target: { type: "member", id },
                    before: recordOf(member),
                    ...(Option.isNone(next) ? {} : { after: recordOf(next.value) })
                  }
                ]
              }
            })
          )
        }),

        roles: Effect.fn("Members.roles")(function* (id) {
          return yield* useCase.read(
            { action: "read", target: { type: "member", id } },
            Effect.fnUntraced(function* (principal) {
              const member = yield* load(principal, id)
              yield* enforce(MemberPolicy.readRoles(principal, member))
              return viewOf(member, yield* roles.list(principal.organizationId)).roles
            })
          )
        }),

        assign: Effect.fn("Members.assign")(function* (id, role) {
          yield* changeRole("assign", id, role, RolePolicy.assign, MemberEvent.cases.Assign.make({ role }))
        }),

        unassign: Effect.fn("Members.unassign")(function* (id, role) {
          yield* changeRole("unassign", id, role, RolePolicy.unassign, MemberEvent.cases.Unassign.make({ role }))
        })
      })
    })
  )
