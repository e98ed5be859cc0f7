/**
 * A populated organization for the matrix: something of everything that the contract's operations are about, made by one
 * member, the maker, and known to a few others as far as the rules need it. Beside it a second organization, with an
 * administrator who has every permission there.
 */
import type { Access } from "@castellan/core/access/Access"
import { creatorOf } from "@castellan/core/access/Access"
import { ApiKeyStatus } from "@castellan/core/apikey/ApiKey"
import { AgentRunStore } from "@castellan/core/agent/AgentRunStore"
import { AgentStore } from "@castellan/core/agent/AgentStore"
import { TriggerStore } from "@castellan/core/agent/TriggerStore"
import { AppStore } from "@castellan/core/app/AppStore"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { Changes } from "@castellan/core/change/Changes"
import { Cell } from "@castellan/core/chat/Cell"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Feedback } from "@castellan/core/chat/Feedback"
import { DeliveryStore } from "@castellan/core/delivery/DeliveryStore"
import { FolderPolicy } from "@castellan/core/folderpolicy/FolderPolicy"
import { FolderPolicyStore } from "@castellan/core/folderpolicy/FolderPolicyStore"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { PlaybookStatus } from "@castellan/core/playbook/Playbook"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import { PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import { ReportStore } from "@castellan/core/report/ReportStore"
import * as Permission from "@castellan/core/role/Permission"
import type { Role } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { RowPolicyStore } from "@castellan/core/rowpolicy/RowPolicyStore"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { RunLog } from "@castellan/core/run/RunLog"
import { ScheduleStore } from "@castellan/core/schedule/ScheduleStore"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import { BudgetStore } from "@castellan/core/usage/BudgetStore"
import { UsageStore } from "@castellan/core/usage/UsageStore"
import { as } from "@castellan/testing/fixture/Acting"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as RowPolicySample from "@castellan/testing/fixture/RowPolicySample"
import * as Sample from "@castellan/testing/fixture/Sample"
import { DateTime, Effect, Redacted } from "effect"
import type { Filling } from "./Requests.ts"
import * as Served from "./Served.ts"

/** What the keys of the maker may do: each list of permissions is a role of its own; `admin` is the system role. */
export type Authority = ReadonlyArray<Permission.Permission> | "admin"

/** What a list tells the maker of: texts that its answer holds, mostly ids; and whom it must not tell of them. */
export interface Hidden {
  readonly told: ReadonlyArray<string>
  readonly from: ReadonlyArray<"stranger" | "restricted" | "foreign">
}

/** A populated organization, and who may call on it. */
export interface World {
  readonly tenant: Fixture.Tenant
  /** Both organizations. */
  readonly organizations: ReadonlyArray<OrganizationId>
  /** Bearer values, by who calls. */
  readonly keys: {
    /** Of the maker, with every permission and all that is theirs. */
    readonly maker: string
    /** Of the maker, without their own things. */
    readonly restricted: string
    /** Of a member with every permission, whom nothing is shared with. */
    readonly stranger: string
    /** Of a member with every permission, whom all is shown to. */
    readonly viewer: string
    /** Of the administrator, whom nothing is shared with. */
    readonly administrator: string
    /** Of the administrator of the other organization. */
    readonly foreign: string
    readonly expired: string
    readonly revoked: string
    readonly deactivated: string
  }
  /** A key of the maker with a certain authority, and no other. */
  readonly keyWith: (authority: Authority) => Effect.Effect<string, never, Served.Parts>
  /** A session of the maker whose role was deleted, and one that was renewed after its role was taken from the maker. */
  readonly sessions: Effect.Effect<
    { readonly deleted: string; readonly renewed: string; readonly unrenewed: string },
    never,
    Served.Parts | Served.Served
  >
  readonly filling: Filling
  /** What each list tells its maker of, and not others, by the name of the operation. */
  readonly hidden: { readonly [operation: string]: Hidden }
}

const all: ReadonlyArray<Permission.Permission> = Permission.all

/** Connectors are numbered by organization: one that the other organization does not come to. */
export const connectorId = 4711

const bytes = (text: string) => new TextEncoder().encode(text)

/** Adds a role to a member. */
const hold = Effect.fnUntraced(function* (member: Pick<Member, "id" | "organizationId">, role: Role) {
  const found = yield* Effect.flatMap(
    MemberStore.use((store) => store.get(member.organizationId, member.id)),
    Effect.fromOption
  ).pipe(Effect.orDie)
  yield* MemberStore.use((store) => store.save(new Member({ ...found, roles: [...found.roles, role.id] })))
})

/** A chat with a question, a statement, a chart and an end. */
const conversation = Effect.fnUntraced(function* (principal: ReturnType<typeof Fixture.principalOf>, access: Access) {
  const now = yield* DateTime.now
  const chat = yield* Sample.chat(principal, { access })
  const run = yield* Sample.run(principal, chat)
  const asset = yield* Sample.asset(run, { formats: ["png"] })
  const cell = new Cell({
    id: asset.cellId,
    content: { _tag: "Sql", query: "SELECT * FROM sales" },
    status: { _tag: "Completed", endedAt: now },
    result: { output: ["3 rows"] },
    createdAt: now
  })
  yield* ChatStore.use((store) => store.open(chat, run))
  yield* AssetStore.use((store) => store.put(asset, [{ format: "png", content: bytes("picture") }]))
  yield* RunLog.use((log) =>
    log.append(run, [
      RunEvent.cases.Metadata.make({
        messageCellId: run.messageCellId,
        createdAt: now,
        model: run.model,
        chatId: chat.id,
        isContinuation: false
      }),
      RunEvent.cases.Cell.make({ cell }),
      RunEvent.cases.Asset.make({ asset }),
      RunEvent.cases.Text.make({ text: "North." }),
      RunEvent.cases.Done.make({ status: "completed" })
    ])
  )
  const ended = new Run({ ...run, status: RunStatus.cases.Completed.make({ startedAt: now, endedAt: now }) })
  yield* ChatStore.use((store) => store.endRun(ended, now))
  yield* ChatStore.use((store) =>
    store.saveFeedback(
      new Feedback({
        organizationId: chat.organizationId,
        chatId: chat.id,
        memberId: principal.memberId,
        rating: "up",
        createdAt: now,
        updatedAt: now
      })
    )
  )
  return { asset, cell, chat }
})

/** A populated organization, and another. */
export const make = Effect.gen(function* () {
  const now = yield* DateTime.now
  const tenant = yield* Fixture.tenant()
  const other = yield* Fixture.tenant("Other")
  yield* Fixture.unlimited(tenant.organizationId)
  yield* Fixture.unlimited(other.organizationId)
  const within = tenant.organizationId

  const full = yield* Fixture.role(within, { name: "everything", permissions: all })
  const target = yield* Fixture.role(within, { name: "target" })
  const maker = yield* Fixture.member(within, { roles: [full, tenant.adminRole] })
  const everything = { roles: [full] }
  const [author, stranger, viewer, person, gone] = yield* Effect.all([
    Fixture.member(within, everything),
    Fixture.member(within, everything),
    Fixture.member(within, everything),
    Fixture.member(within, { roles: [target] }),
    Fixture.member(within, everything)
  ])
  const keyOf = (owner: Member, options: Sample.KeyOptions = {}) =>
    Fixture.key(owner, { fullMemberAccess: true, ...options })
  const snapshot = { assumedRoles: { _tag: "Snapshot", roles: [full.id] } } as const
  const makerKey = yield* keyOf(maker, snapshot)
  const authorKey = yield* keyOf(author)
  const restricted = yield* keyOf(maker, { ...snapshot, fullMemberAccess: false })
  const strangerKey = yield* keyOf(stranger)
  const viewerKey = yield* keyOf(viewer)
  const yesterday = DateTime.subtract(now, { days: 1 })
  const expired = yield* keyOf(maker, { ...snapshot, expiresAt: yesterday })
  const revoked = yield* keyOf(maker, {
    ...snapshot,
    status: ApiKeyStatus.cases.Revoked.make({ at: yesterday })
  })
  const deactivated = yield* keyOf(gone)
  yield* MemberStore.use((store) =>
    store.save(new Member({ ...gone, status: MemberStatus.cases.Deactivated.make({ at: yesterday }) }))
  )
  const victim = yield* keyOf(person, {
    fullMemberAccess: false,
    assumedRoles: { _tag: "Snapshot", roles: [] }
  })

  const principal = Fixture.principalOf(maker, [full], makerKey.apiKey)
  const authoring = Fixture.principalOf(author, [full], authorKey.apiKey)
  const access: Access = {
    isPublic: false,
    grants: [{ grantee: { _tag: "Member", id: viewer.id }, accessType: "viewer" }],
    creator: creatorOf(principal)
  }

  yield* Fixture.connector(within, { id: connectorId, access })
  yield* Effect.flatMap(RowPolicySample.rowPolicy(within, { connectorId, table: "orders" }), (policy) =>
    RowPolicyStore.use((store) => store.save(policy))
  )
  const { asset, cell, chat } = yield* conversation(principal, access)

  const configuration = { name: "Sales of the week", prompt: "How much did we sell?" }
  const playbook = yield* AutomationSample.playbook(principal, { access, configuration })
  const deployed = yield* AutomationSample.playbook(principal, {
    access,
    configuration,
    status: PlaybookStatus.cases.Deployed.make({ deployedAt: now })
  })
  const playbookRun = yield* AutomationSample.playbookRun(principal, playbook)
  const report = yield* AutomationSample.report(playbookRun)
  const delivery = yield* AutomationSample.delivery(report)
  yield* PlaybookStore.use((store) => Effect.andThen(store.save(playbook), store.save(deployed)))
  yield* ScheduleStore.use((store) =>
    store.save(AutomationSample.schedule(principal, deployed, DateTime.add(now, { days: 1 })))
  )
  yield* PlaybookRunStore.use((store) => store.open(playbookRun))
  yield* ReportStore.use((store) => store.add(report))
  yield* DeliveryStore.use((store) => store.add([delivery]))

  const agent = yield* AutomationSample.agent(principal, { access, connectorIds: [connectorId] })
  const trigger = yield* AutomationSample.trigger(agent)
  yield* AgentStore.use((store) => store.save(agent))
  yield* TriggerStore.use((store) => store.add(trigger))
  yield* Effect.flatMap(AutomationSample.agentRun(principal, agent), (run) =>
    AgentRunStore.use((store) => store.save(run))
  )

  const app = yield* AutomationSample.app(principal, [asset], { access })
  yield* AppStore.use((store) => store.save(app))

  const budget = yield* AdministrationSample.budget(within, { amount: 1_000_000 })
  yield* BudgetStore.use((store) => store.save(budget))
  yield* Effect.flatMap(AdministrationSample.scimGroupMapping(within), (mapping) =>
    ScimGroupMappingStore.use((store) => store.save(mapping))
  )
  yield* Effect.flatMap(AdministrationSample.usageRecord(within, { memberId: maker.id }), (record) =>
    UsageStore.use((store) => store.record(record))
  )

  const folder = LibraryPath.make("docs")
  yield* FolderPolicyStore.use((store) =>
    store.save(
      new FolderPolicy({
        organizationId: within,
        path: folder,
        owners: [maker.id, author.id].map((id) => ({ _tag: "Member" as const, id })),
        inheritOwners: true,
        requiredApprovals: 1,
        distinctApprovers: true,
        authorRoles: [],
        autoApprove: [],
        updatedAt: now
      })
    )
  )

  const keys = {
    maker: Redacted.value(makerKey.secret),
    restricted: Redacted.value(restricted.secret),
    stranger: Redacted.value(strangerKey.secret),
    viewer: Redacted.value(viewerKey.secret),
    administrator: Redacted.value(tenant.adminKey),
    foreign: Redacted.value(other.adminKey),
    expired: Redacted.value(expired.secret),
    revoked: Redacted.value(revoked.secret),
    deactivated: Redacted.value(deactivated.secret)
  }

  const propose = (
    by: typeof principal,
    path: string,
    more: { readonly draft?: boolean; readonly base?: string } = {}
  ) =>
    Changes.use((changes) =>
      changes.propose({
        staged: [{ _tag: "Write", path, content: bytes(`of ${by.memberId}\n`) }],
        title: "Say what sales are",
        description: "They are **net**.",
        draft: false,
        ...more
      })
    ).pipe(as(by), Effect.orDie)
  const open = yield* propose(authoring, "docs/open.md")
  const draft = yield* propose(principal, "docs/draft.md", { draft: true })
  const denied = yield* propose(authoring, "docs/denied.md")
  yield* Changes.use((changes) => changes.deny(denied.change.id, denied.change.gitRef)).pipe(
    as(authoring),
    Effect.orDie
  )
  const { id: base } = yield* Changes.use((changes) => changes.mount).pipe(as(principal), Effect.orDie)
  const merged = yield* propose(authoring, "docs/page.md")
  yield* Changes.use((changes) => changes.approve(merged.change.id, merged.change.gitRef)).pipe(
    as(principal),
    Effect.orDie
  )
  // On the version that had no such page: both made one.
  const reserved = yield* propose(principal, "docs/page.md", { base })
  const started = yield* Served.json("POST", "/v2/sandcastles", keys.maker)
  const sandbox = String(started["sandbox_id"])
  const own = `/v2/sandcastles/${sandbox}`
  yield* Served.json("POST", `${own}/execute`, keys.maker, {
    code: `open("library/docs/new.md", "w").write("new")`
  })
  yield* Served.json("POST", `${own}/execute`, keys.maker, {
    code: `open("uploads/carriers.csv", "w").write("WN")`
  })

  const keyWith = Effect.fnUntraced(function* (authority: Authority) {
    const role = authority === "admin" ? tenant.adminRole : yield* Fixture.role(within, { permissions: authority })
    if (authority !== "admin") yield* hold(maker, role)
    const assumedRoles = { _tag: "Snapshot", roles: [role.id] } as const
    return Redacted.value((yield* keyOf(maker, { assumedRoles })).secret)
  })

  const sessions = Effect.gen(function* () {
    const passing = yield* Fixture.role(within, { permissions: all })
    const taken = yield* Fixture.role(within, { permissions: all })
    yield* hold(maker, passing)
    yield* hold(maker, taken)
    const mint = (key: string) => Effect.map(Served.json("POST", "/v2/sessions", key), ({ token }) => String(token))
    const sessionOf = Effect.fnUntraced(function* (role: Role) {
      const { secret } = yield* keyOf(maker, { assumedRoles: { _tag: "Snapshot", roles: [role.id] } })
      return yield* mint(Redacted.value(secret))
    })
    const deleted = yield* sessionOf(passing)
    const unrenewed = yield* sessionOf(taken)
    yield* RoleStore.use((store) => store.remove(within, passing.id))
    const holding = yield* Effect.flatMap(
      MemberStore.use((store) => store.get(within, maker.id)),
      Effect.fromOption
    )
    yield* MemberStore.use((store) =>
      store.save(new Member({ ...holding, roles: holding.roles.filter((id) => id !== taken.id && id !== passing.id) }))
    )
    return { deleted, unrenewed, renewed: yield* mint(unrenewed) }
  }).pipe(Effect.orDie)

  const review = (change: typeof open.change) => ({
    parameters: { id: change.id },
    fields: { expected_git_ref: change.gitRef }
  })
  const filling: Filling = {
    ids: {
      agents: agent.id,
      "api-keys": victim.apiKey.id,
      apps: app.id,
      assets: asset.id,
      changes: open.change.id,
      chats: chat.id,
      connectors: String(connectorId),
      members: person.id,
      playbooks: playbook.id,
      roles: target.id,
      sandcastles: sandbox
    },
    parameters: {
      cell_id: cell.id,
      trigger_id: trigger.id,
      roleId: target.id,
      path: "uploads/carriers.csv",
      format: "png",
      expires: "4102444800",
      signature: "q8rJ1vY6pH2dX0sB9uZkT3fWmNc5LeA7"
    },
    fields: {
      allowed_model_ids: [1],
      appId: app.id,
      asset_ids: [asset.id],
      assumedRoles: [full.id],
      author_role_ids: [target.id],
      chat_id: chat.id,
      connector_id: connectorId,
      connector_ids: [connectorId],
      exempt_role_ids: [target.id],
      expected_git_ref: open.change.gitRef,
      model: chat.model,
      role_id: target.id,
      roleId: target.id,
      sandbox_id: sandbox,
      triggerId: trigger.id
    },
    operations: {
      "changes.submit": { parameters: { id: draft.change.id } },
      "changes.restore": review(denied.change),
      "connectors.create": { fields: { name: "another" } },
      "folderPolicies.delete": { parameters: { path: folder } },
      "playbooks.undeploy": { parameters: { id: deployed.id } },
      // Without a run behind it, which would go on after the request; runs have tests of their own.
      "playbooks.run": { fields: { dry_run: true } },
      "sandcastles.query": { fields: { query: "SELECT * FROM sales" } },
      "roles.create": { fields: { name: "another" } }
    }
  }
  const carried = (...told: ReadonlyArray<string>): Hidden => ({ told, from: ["stranger", "restricted", "foreign"] })
  const organizational = (...told: ReadonlyArray<string>): Hidden => ({ told, from: ["foreign"] })
  const world: World = {
    tenant,
    organizations: [within, other.organizationId],
    keys,
    keyWith,
    sessions,
    filling,
    hidden: {
      "agents.list": carried(agent.id),
      "apps.list": carried(app.id),
      "chats.list": carried(chat.id),
      "connectors.list": carried(String(connectorId)),
      "playbooks.list": carried(playbook.id, deployed.id),
      "sandcastles.list": carried(sandbox),
      // Owning a folder by name counts for restricted keys, too.
      "changes.list": {
        told: [open, draft, denied, merged, reserved].map(({ change }) => change.id),
        from: ["stranger", "foreign"]
      },
      // Whoever has the permission sees all of them, within the organization.
      "apiKeys.list": organizational(maker.id),
      "auditEvents.list": organizational(maker.id),
      "folderPolicies.list": organizational(author.id),
      "members.list": organizational(person.id),
      "organization.get": organizational(tenant.organizationId),
      "roles.list": organizational(target.id),
      "usage.listBudgets": organizational(budget.id),
      // A sum, which says no id: 100 tokens went in, and the other organization has used none.
      "usage.report": organizational('"input_tokens":100'),
      // What the deployment serves, which is no secret of anybody's.
      "connectors.types": organizational(),
      "models.list": organizational()
    }
  }
  return world
})
