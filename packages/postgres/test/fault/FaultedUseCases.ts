/** Use cases that are cut off in the middle, each with what it needs beforehand. */
import { Accesses } from "@castellan/core/access/Accesses"
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import type { AuditAction } from "@castellan/core/audit/AuditEvent"
import { Changes } from "@castellan/core/change/Changes"
import { Chats } from "@castellan/core/chat/Chats"
import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import * as TextBytes from "@castellan/core/library/TextBytes"
import { Members } from "@castellan/core/member/Members"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import type * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { DateTime, Effect, type Layer, Stream } from "effect"

/** Everything of a deployment. */
export type Services = Layer.Success<ReturnType<typeof Deployment.layer>>

/** A use case that is ready to be carried out, once. */
type Ready = Effect.Effect<unknown, unknown, Services>

/** A use case. */
export interface FaultedUseCase {
  readonly name: string
  /** What the audit log says of it. */
  readonly action: AuditAction
  /** Tables of what goes on once it is done, and is told elsewhere. */
  readonly afterwards?: ReadonlyArray<string>
  /** Makes ready what it needs. */
  readonly prepare: (tenant: Fixture.Tenant) => Effect.Effect<Ready, unknown, Services>
}

const as =
  (principal: Principal) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, CurrentPrincipal>> =>
    Effect.provideService(effect, CurrentPrincipal, principal)

/** Nobody answers, so that a question stays asked. */
export const script: NonNullable<Deployment.Scripts["script"]> = () => Stream.never

/** All of them. */
export const useCases: ReadonlyArray<FaultedUseCase> = [
  {
    name: "a key is rotated",
    action: "rotate",
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const keys = yield* ApiKeys
      const { apiKey } = yield* keys.mint({ name: "to rotate", inheritAllRoles: true }).pipe(as(admin))
      return ApiKeys.use((all) => all.rotate(apiKey.id)).pipe(as(admin))
    })
  },
  {
    name: "a change is approved and merged",
    action: "merge",
    prepare: Effect.fnUntraced(function* (tenant) {
      const author = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] })
      const boss = yield* Fixture.someone(tenant, { roles: [tenant.adminRole] })
      const { change } = yield* Changes.use((changes) =>
        changes.propose({
          staged: [{ _tag: "Write", path: "docs/page.md", content: TextBytes.encode("text") }],
          title: "A change",
          description: "",
          draft: false
        })
      ).pipe(as(author))
      return Changes.use((changes) => changes.approve(change.id, change.gitRef)).pipe(as(boss))
    })
  },
  {
    name: "a folder's policy is replaced",
    action: "update",
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const terms = {
        path: "docs",
        owners: [{ _tag: "Role" as const, id: tenant.adminRole.id }],
        inheritOwners: true,
        distinctApprovers: true,
        authorRoles: [],
        autoApprove: []
      }
      const save = (requiredApprovals: number) =>
        FolderPolicies.use((policies) => policies.save({ ...terms, requiredApprovals })).pipe(as(admin))
      yield* save(1)
      return save(2)
    })
  },
  {
    name: "shares are replaced",
    action: "grant",
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const { id } = yield* Playbooks.use((playbooks) => playbooks.create).pipe(as(admin))
      const expiresAt = DateTime.add(yield* DateTime.now, { days: 1 })
      return Accesses.use((accesses) =>
        accesses.replace("playbook", id, {
          isPublic: true,
          grants: [{ grantee: { _tag: "Role", id: tenant.memberRole.id }, accessType: "viewer", expiresAt }]
        })
      ).pipe(as(admin))
    })
  },
  {
    name: "a member is deleted",
    action: "delete",
    prepare: Effect.fnUntraced(function* (tenant) {
      const member = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole] })
      yield* Fixture.key(member)
      yield* Fixture.key(member)
      return Members.use((members) => members.remove(member.id, { hardDelete: true })).pipe(as(Fixture.adminOf(tenant)))
    })
  },
  {
    name: "a playbook is deployed",
    action: "deploy",
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const { id } = yield* Playbooks.use((playbooks) => playbooks.create).pipe(as(admin))
      yield* Playbooks.use((playbooks) =>
        playbooks.update(id, { name: "Sales", prompt: "How did sales go?", cronString: "@hourly" })
      ).pipe(as(admin))
      return Playbooks.use((playbooks) => playbooks.deploy(id)).pipe(as(admin))
    })
  },
  {
    name: "a question is asked",
    action: "run",
    // The run is carried out from here on; one that nobody carries is taken up at a later start.
    afterwards: ["run_events", "run_leases", "run_logs"],
    prepare: (tenant) =>
      Effect.succeed(
        Chats.use((chats) => chats.ask({ question: "How did sales go?", source: "api" })).pipe(
          as(Fixture.adminOf(tenant))
        )
      )
  }
]
