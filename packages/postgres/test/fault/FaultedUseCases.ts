/** Use cases that are cut off in the middle, each with what it needs beforehand. */
import { Accesses } from "@castellan/core/access/Accesses"
import { type CurrentPrincipal, KeptPrincipal, type Principal } from "@castellan/core/access/Principal"
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import type { AuditAction } from "@castellan/core/audit/AuditEvent"
import { ChangeId } from "@castellan/core/change/Change"
import { Changes } from "@castellan/core/change/Changes"
import { Chats } from "@castellan/core/chat/Chats"
import { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import { CommitId } from "@castellan/core/library/ObjectId"
import * as TextBytes from "@castellan/core/library/TextBytes"
import { MemberId } from "@castellan/core/member/Member"
import { Members } from "@castellan/core/member/Members"
import { PlaybookId } from "@castellan/core/playbook/Playbook"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { RoleId } from "@castellan/core/role/Role"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as } from "@castellan/testing/fixture/Acting"
import type * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { DateTime, Effect, type Layer, Schema, Stream } from "effect"

/** Everything of a deployment. */
export type Services = Layer.Success<ReturnType<typeof Deployment.layer>>

/** A use case. */
export interface FaultedUseCase {
  readonly name: string
  /** What the audit log says of it. */
  readonly action: AuditAction
  /** Tables of what goes on once it is done, and is told elsewhere. */
  readonly afterwards: ReadonlyArray<string>
  /** Makes ready what it needs; answers with a text by which any process can carry it out. */
  readonly prepare: (tenant: Fixture.Tenant) => Effect.Effect<string, unknown, Services>
  /** Carries it out, once. */
  readonly carryOut: (prepared: string) => Effect.Effect<unknown, unknown, Services>
}

const useCase = <Needed>(of: {
  readonly name: string
  readonly action: AuditAction
  readonly afterwards?: ReadonlyArray<string>
  readonly needs: Schema.Codec<Needed, unknown>
  /** Who carries it out, and with what. */
  readonly prepare: (
    tenant: Fixture.Tenant
  ) => Effect.Effect<readonly [principal: Principal, needed: Needed], unknown, Services>
  readonly carryOut: (needed: Needed) => Effect.Effect<unknown, unknown, Services | CurrentPrincipal>
}): FaultedUseCase => {
  const text = Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({ principal: KeptPrincipal, needed: of.needs })))
  return {
    name: of.name,
    action: of.action,
    afterwards: of.afterwards ?? [],
    prepare: (tenant) =>
      Effect.flatMap(of.prepare(tenant), ([principal, needed]) => Schema.encodeEffect(text)({ principal, needed })),
    carryOut: (prepared) =>
      Effect.flatMap(Schema.decodeEffect(text)(prepared), ({ needed, principal }) => as(principal)(of.carryOut(needed)))
  }
}

/** Nobody answers, so that a question stays asked. */
export const script: NonNullable<Deployment.Scripts["script"]> = () => Stream.never

const policy = (of: Pick<Fixture.Tenant["adminRole"], "id">, requiredApprovals: number) =>
  FolderPolicies.use((policies) =>
    policies.save({
      path: "docs",
      owners: [{ _tag: "Role" as const, id: of.id }],
      inheritOwners: true,
      distinctApprovers: true,
      authorRoles: [],
      autoApprove: [],
      requiredApprovals
    })
  )

/** All of them. */
export const useCases: ReadonlyArray<FaultedUseCase> = [
  useCase({
    name: "a key is rotated",
    action: "rotate",
    needs: ApiKeyId,
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const { apiKey } = yield* as(admin)(
        ApiKeys.use((keys) => keys.mint({ name: "to rotate", inheritAllRoles: true }))
      )
      return [admin, apiKey.id]
    }),
    carryOut: (id) => ApiKeys.use((keys) => keys.rotate(id))
  }),
  useCase({
    name: "a change is approved and merged",
    action: "merge",
    needs: Schema.Struct({ id: ChangeId, gitRef: CommitId }),
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
      return [boss, { id: change.id, gitRef: change.gitRef }]
    }),
    carryOut: ({ gitRef, id }) => Changes.use((changes) => changes.approve(id, gitRef))
  }),
  useCase({
    name: "a folder's policy is replaced",
    action: "update",
    needs: RoleId,
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      yield* as(admin)(policy(tenant.adminRole, 1))
      return [admin, tenant.adminRole.id]
    }),
    carryOut: (id) => policy({ id }, 2)
  }),
  useCase({
    name: "shares are replaced",
    action: "grant",
    needs: Schema.Struct({ playbook: PlaybookId, role: RoleId }),
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const { id } = yield* Playbooks.use((playbooks) => playbooks.create).pipe(as(admin))
      return [admin, { playbook: id, role: tenant.memberRole.id }]
    }),
    carryOut: Effect.fnUntraced(function* ({ playbook, role }) {
      const expiresAt = DateTime.add(yield* DateTime.now, { days: 1 })
      return yield* Accesses.use((accesses) =>
        accesses.replace("playbook", playbook, {
          isPublic: true,
          grants: [{ grantee: { _tag: "Role", id: role }, accessType: "viewer", expiresAt }]
        })
      )
    })
  }),
  useCase({
    name: "a member is deleted",
    action: "delete",
    needs: MemberId,
    prepare: Effect.fnUntraced(function* (tenant) {
      const member = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole] })
      yield* Fixture.key(member)
      yield* Fixture.key(member)
      return [Fixture.adminOf(tenant), member.id]
    }),
    carryOut: (id) => Members.use((members) => members.remove(id, { hardDelete: true }))
  }),
  useCase({
    name: "a playbook is deployed",
    action: "deploy",
    needs: PlaybookId,
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      const { id } = yield* Playbooks.use((playbooks) => playbooks.create).pipe(as(admin))
      yield* Playbooks.use((playbooks) =>
        playbooks.update(id, { name: "Sales", prompt: "How did sales go?", cronString: "@hourly" })
      ).pipe(as(admin))
      return [admin, id]
    }),
    carryOut: (id) => Playbooks.use((playbooks) => playbooks.deploy(id))
  }),
  useCase({
    name: "a question is asked",
    action: "run",
    // The run is carried out from here on; one that nobody carries is taken up at a later start.
    afterwards: ["run_events", "run_leases", "run_logs"],
    needs: Schema.Null,
    prepare: (tenant) => Effect.succeed([Fixture.adminOf(tenant), null]),
    carryOut: () => Chats.use((chats) => chats.ask({ question: "How did sales go?", source: "api" }))
  }),
  useCase({
    name: "a sandcastle is started",
    action: "create",
    needs: Schema.Null,
    // The first one begins the organization's library, which stays whatever becomes of the sandcastle.
    prepare: Effect.fnUntraced(function* (tenant) {
      const admin = Fixture.adminOf(tenant)
      yield* Sandcastles.use((sandcastles) => sandcastles.start()).pipe(as(admin))
      return [admin, null]
    }),
    carryOut: () => Sandcastles.use((sandcastles) => sandcastles.start())
  })
]
