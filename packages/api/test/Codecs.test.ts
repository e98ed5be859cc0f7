/**
 * The resources on the wire: whatever a resource holds, it goes over the wire and comes back as the wire had it.
 */
import { ofAccess, toWantedAccess } from "@castellan/api/access/AccessWire"
import * as AccessWire from "@castellan/api/access/AccessWire"
import * as AgentWire from "@castellan/api/agent/AgentWire"
import * as ApiKeyWire from "@castellan/api/apikey/ApiKeyWire"
import * as AppWire from "@castellan/api/app/AppWire"
import * as AuditWire from "@castellan/api/audit/AuditWire"
import { LibraryChangeWire, ofLibraryChange } from "@castellan/api/change/LibraryChangeWire"
import * as ChangeWire from "@castellan/api/change/ChangeWire"
import * as ChatWire from "@castellan/api/chat/ChatWire"
import { ofConnectorTypes } from "@castellan/api/connector/ConnectorForms"
import {
  CreateConnectorRequest,
  TestConnectorRequest,
  toSource,
  toSourceOf
} from "@castellan/api/connector/ConnectorRequest"
import { ConnectorTypeListWire, ConnectorWire, ofConnector } from "@castellan/api/connector/ConnectorWire"
import * as RowPolicyWire from "@castellan/api/connector/RowPolicyWire"
import * as FolderPolicyWire from "@castellan/api/folderpolicy/FolderPolicyWire"
import * as MemberWire from "@castellan/api/member/MemberWire"
import * as OrganizationWire from "@castellan/api/organization/OrganizationWire"
import { BlockWire, ofBlock } from "@castellan/api/playbook/BlockWire"
import * as PlaybookRunWire from "@castellan/api/playbook/PlaybookRunWire"
import * as PlaybookWire from "@castellan/api/playbook/PlaybookWire"
import { ofReport, ReportWire } from "@castellan/api/playbook/ReportWire"
import * as RoleWire from "@castellan/api/role/RoleWire"
import * as RpcWire from "@castellan/api/rpc/RpcWire"
import * as ExecutionWire from "@castellan/api/sandcastle/ExecutionWire"
import * as SandcastleWire from "@castellan/api/sandcastle/SandcastleWire"
import * as BudgetWire from "@castellan/api/usage/BudgetWire"
import * as UsageReportWire from "@castellan/api/usage/UsageReportWire"
import { Access } from "@castellan/core/access/Access"
import { Agent } from "@castellan/core/agent/Agent"
import { AgentRun } from "@castellan/core/agent/AgentRun"
import { Trigger } from "@castellan/core/agent/Trigger"
import { ApiKey, ApiKeyHash, ApiKeyId } from "@castellan/core/apikey/ApiKey"
import { App } from "@castellan/core/app/App"
import { AuditEvent } from "@castellan/core/audit/AuditEvent"
import type { Change } from "@castellan/core/change/Change"
import { Chat } from "@castellan/core/chat/Chat"
import { Feedback } from "@castellan/core/chat/Feedback"
import { Connector, ConnectorType, connectorType } from "@castellan/core/connector/Connector"
import { Delivery } from "@castellan/core/delivery/Delivery"
import { FolderPolicy } from "@castellan/core/folderpolicy/FolderPolicy"
import { Member } from "@castellan/core/member/Member"
import { Organization } from "@castellan/core/organization/Organization"
import { Playbook } from "@castellan/core/playbook/Playbook"
import { PlaybookRun } from "@castellan/core/playbook/PlaybookRun"
import { Block } from "@castellan/core/report/Block"
import { Report } from "@castellan/core/report/Report"
import { Role } from "@castellan/core/role/Role"
import { RowPolicy } from "@castellan/core/rowpolicy/RowPolicy"
import { Execution } from "@castellan/core/sandcastle/Execution"
import { Sandcastle } from "@castellan/core/sandcastle/Sandcastle"
import { Budget } from "@castellan/core/usage/Budget"
import { UsageSum, UsageTotals } from "@castellan/core/usage/UsageSums"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import * as Domain from "./fixture/Domain.ts"

const now = Domain.at(0)
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const imageUrl = (): string => "https://example.test/chart.png"

/** A resource, and how the wire has it. */
const row = <A, Wire>(
  name: string,
  resource: Schema.Codec<A, unknown>,
  of: (value: A) => Wire,
  wire: Schema.Codec<Wire, unknown>
) => ({ name, resource, of, wire })

/** Whether a value goes over the wire as JSON, and what comes back says the same. */
const survives = <Wire>(wire: Schema.Codec<Wire, unknown>, value: Wire) =>
  Effect.gen(function* () {
    const text = JSON.stringify(yield* Schema.encodeEffect(wire)(value))
    const received: unknown = JSON.parse(text)
    const read = yield* Schema.decodeUnknownEffect(wire, { onExcessProperty: "error" })(received)
    assert.strictEqual(JSON.stringify(yield* Schema.encodeEffect(wire)(read)), text)
    // Absent fields are omitted, never null: decisions.md §1.
    if (typeof received === "object" && received !== null) {
      for (const [name, field] of Object.entries(received)) {
        if (name !== "before" && name !== "after") assert.isNotNull(field)
      }
    }
  })

/** Sums count what there is: none is below nothing. */
const CountedSum = Schema.Struct({
  group: UsageSum.fields.group,
  totals: Schema.Struct({
    ...UsageTotals.fields,
    runs: Count,
    inputTokens: Count,
    outputTokens: Count,
    toolCalls: Count,
    durationMillis: Count,
    unpricedRuns: Count
  })
})

const capabilities = { canApprove: true, canDeny: false, canRestore: false, callerApproved: false }
const viewOf = (change: Change) => ({
  change,
  author: undefined,
  changeset: change.changeset,
  files: change.changeset.files,
  conflicts: change.status._tag === "Reserved" ? change.status.conflicts : [],
  approvalCount: 0,
  requiredApprovals: 1,
  capabilities
})

describe("whatever it holds, on the wire", () => {
  const prop = <A, Wire>({ name, of, resource, wire }: ReturnType<typeof row<A, Wire>>) =>
    it.effect.prop(`${name} survives`, [resource], ([value]) => survives(wire, of(value)), {
      arbitrary: { runs: 40 }
    })

  prop(row("access", Access, ofAccess, AccessWire.AccessWire))
  prop(row("an agent", Agent, AgentWire.ofAgent, AgentWire.AgentWire))
  prop(row("a run of an agent", AgentRun, AgentWire.ofAgentRun, AgentWire.AgentRunWire))
  prop(row("a queued run", AgentRun, RpcWire.ofQueued, RpcWire.TriggerAgentResponse))
  prop(row("a trigger", Trigger, AgentWire.ofTrigger, AgentWire.TriggerWire))
  prop(row("a key", ApiKey, (key) => ApiKeyWire.ofApiKey(key, now), ApiKeyWire.ApiKeyWire))
  prop(row("an app", App, (app) => AppWire.ofApp(app, Domain.sign), AppWire.AppWire))
  prop(row("an app of the RPC surface", App, (app) => RpcWire.ofRpcApp(app, "https://x.test"), RpcWire.GetAppResponse))
  prop(row("an audit event", AuditEvent, AuditWire.ofAuditEvent, AuditWire.AuditEventWire))
  prop(row("a chat that was changed", Chat, ChatWire.ofUpdatedChat, ChatWire.UpdatedChatWire))
  prop(row("feedback", Feedback, ChatWire.ofFeedback, ChatWire.FeedbackWire))

  it.effect.each(Object.values(Domain.changes))("a change that is $status._tag survives", (change) =>
    Effect.gen(function* () {
      const shown = ChangeWire.ofChange(viewOf(change))
      yield* survives(ChangeWire.ChangeWire, shown)
      yield* survives(LibraryChangeWire, ofLibraryChange(viewOf(change)))
      assert.strictEqual(shown.status, change.status._tag.toLowerCase())
      assert.strictEqual("conflicts" in shown, change.status._tag === "Reserved")
      assert.strictEqual(ofLibraryChange(viewOf(change)).has_conflicts, change.status._tag === "Reserved")
    })
  )

  prop(row("a connector", Connector, ofConnector, ConnectorWire))
  prop(row("a delivery", Delivery, PlaybookRunWire.ofDelivery, PlaybookRunWire.DeliveryWire))
  prop(
    row(
      "a folder policy",
      FolderPolicy,
      (policy) => FolderPolicyWire.ofFolderPolicy(policy),
      FolderPolicyWire.FolderPolicyWire
    )
  )
  prop(
    row(
      "a member",
      Member,
      (member) => MemberWire.ofMember({ member, roles: [], isAdmin: false }),
      MemberWire.MemberWire
    )
  )
  prop(row("an organization", Organization, OrganizationWire.ofOrganization, OrganizationWire.OrganizationWire))
  prop(row("a playbook", Playbook, PlaybookWire.ofPlaybook, PlaybookWire.PlaybookWire))
  prop(
    row(
      "a run of a playbook",
      PlaybookRun,
      (run) => PlaybookRunWire.ofPlaybookRun({ run, deliveries: [] }),
      PlaybookRunWire.PlaybookRunWire
    )
  )
  prop(row("a block", Block, (block) => ofBlock(block, imageUrl), BlockWire))
  prop(row("a report", Report, (report) => ofReport(report, "<p>", imageUrl), ReportWire))
  prop(row("a role", Role, RoleWire.ofRole, RoleWire.RoleWire))
  prop(row("a row policy", RowPolicy, RowPolicyWire.ofRowPolicy, RowPolicyWire.RowPolicyWire))
  prop(row("an execution", Execution, ExecutionWire.ofExecution, ExecutionWire.ExecutionWire))
  prop(row("a sandcastle", Sandcastle, SandcastleWire.ofSandcastle, SandcastleWire.SandcastleWire))
  prop(row("a budget", Budget, BudgetWire.ofBudget, BudgetWire.BudgetWire))
  prop(row("a sum of usage", CountedSum, UsageReportWire.ofUsageSum, UsageReportWire.UsageSumWire))

  it.effect.prop("a predicate is read as what it was written from", [RowPolicy], ([policy]) =>
    Effect.sync(() => {
      const sent = RowPolicyWire.ofPredicate(policy.predicate)
      assert.deepStrictEqual(RowPolicyWire.toPredicate(sent), policy.predicate)
    })
  )

  it.effect.prop("access is asked for as it was told", [Access], ([access]) =>
    Effect.sync(() => {
      const { grants, is_public } = ofAccess(access)
      const wanted = toWantedAccess({ is_public, grants })
      assert.deepStrictEqual(wanted, {
        isPublic: access.isPublic,
        grants: access.grants.map(({ accessType, expiresAt, grantee }) => ({
          grantee,
          accessType,
          ...(expiresAt === undefined ? {} : { expiresAt })
        }))
      })
    })
  )

  it.effect.prop("no hash of a key is told", [ApiKey], ([key]) =>
    Effect.sync(() => {
      const sent = JSON.stringify(ApiKeyWire.ofApiKey(key, now))
      assert.notInclude(sent, key.hash)
    })
  )
})

describe("a key on the wire", () => {
  const key = new ApiKey({
    id: ApiKeyId.make("01980c50-2b00-7a10-8c00-1f2e3d4c5b20"),
    organizationId: Domain.organizationId,
    owner: Domain.memberId,
    assumedRoles: { _tag: "Live" },
    fullMemberAccess: false,
    hash: ApiKeyHash.make("0".repeat(64)),
    status: { _tag: "Active" },
    rotatedFrom: [],
    createdAt: Domain.at(0),
    expiresAt: Domain.at(500)
  })

  it.each([
    ["is active before it expires", 499, "active"],
    ["is expired at the very moment", 500, "expired"]
  ] as const)("%s", (_, milliseconds, status) => {
    assert.strictEqual(ApiKeyWire.ofApiKey(key, Domain.at(milliseconds)).status, status)
  })

  it("is revoked, whatever the clock says", () => {
    const revoked = new ApiKey({ ...key, status: { _tag: "Revoked", at: Domain.at(100) } })
    assert.deepInclude(ApiKeyWire.ofApiKey(revoked, Domain.at(600)), { status: "revoked", revoked_at: Domain.at(100) })
  })
})

describe("a source of a request", () => {
  it.effect.each(ConnectorType.literals)("%s has the fields that its form tells", (type) =>
    Effect.gen(function* () {
      const [form] = ofConnectorTypes([type]).types
      assert.isDefined(form)
      if (form === undefined) return
      yield* survives(ConnectorTypeListWire, ofConnectorTypes([type]))
      const sample = { string: "value", integer: 1234, boolean: true } as const
      const fields = form.fields.map((field) => [field.name, sample[field.type]] as const)
      const secret = form.secret === undefined ? {} : { secret: "s" }
      const request = yield* Schema.decodeUnknownEffect(TestConnectorRequest)({
        type,
        config: Object.fromEntries(fields),
        ...secret
      })
      const source = toSource(request)
      assert.strictEqual(connectorType(source), type)
      // Every field that the form tells has come through, and none that it does not.
      assert.sameMembers(
        Object.keys(source).filter((name) => name !== "_tag"),
        form.fields.map(({ name }) => name)
      )
      for (const { name, required } of form.fields) {
        const config = Object.fromEntries(fields.filter(([field]) => field !== name))
        const decoded = Effect.isSuccess(Schema.decodeUnknownEffect(TestConnectorRequest)({ type, config, ...secret }))
        assert.strictEqual(yield* decoded, !required, name)
      }
      const without = yield* toSourceOf(type, request.config)
      assert.deepStrictEqual(toSource(without), source)
    })
  )

  it.effect("of an unknown kind is refused", () =>
    Effect.gen(function* () {
      const refused = Schema.decodeUnknownEffect(CreateConnectorRequest)({ name: "a", type: "floppy", config: {} })
      assert.isFalse(yield* Effect.isSuccess(refused))
    })
  )
})

describe("what a caller changes", () => {
  it.effect("of a playbook is what it sent, and nothing else", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownEffect(PlaybookWire.UpdatePlaybookRequest)
      assert.deepStrictEqual(PlaybookWire.toPlaybookPatch(yield* decode({})), {})
      const cleared = { name: "", cron_string: "", email_addresses: [], chat_channel_id: "" }
      assert.deepStrictEqual(PlaybookWire.toPlaybookPatch(yield* decode(cleared)), {
        name: "",
        cronString: "",
        emailAddresses: [],
        chatChannelId: ""
      })
    })
  )

  it.effect("of a role's and an organization's default model is cleared by 0", () =>
    Effect.gen(function* () {
      const role = yield* Schema.decodeUnknownEffect(RoleWire.UpdateRoleRequest)({ default_model_id: 0 })
      assert.deepStrictEqual(RoleWire.toRolePatch(role), { defaultModel: 0 })
      const organization = yield* Schema.decodeUnknownEffect(OrganizationWire.UpdateOrganizationRequest)({
        default_model_id: 0,
        key_expiry_seconds: 0,
        rate_limit: { burst: 5 }
      })
      assert.deepStrictEqual(OrganizationWire.toOrganizationPatch(organization), {
        defaultModel: 0,
        keyExpiry: { _tag: "Never" },
        rateLimit: { burst: 5 }
      })
    })
  )

  it.effect("of a folder's policy has the specification's defaults", () =>
    Effect.gen(function* () {
      const request = yield* Schema.decodeUnknownEffect(FolderPolicyWire.SaveFolderPolicyRequest)({
        path: "docs/",
        owners: []
      })
      assert.deepStrictEqual(FolderPolicyWire.toTerms(request), {
        path: request.path,
        owners: [],
        inheritOwners: true,
        requiredApprovals: 1,
        distinctApprovers: true,
        authorRoles: [],
        autoApprove: []
      })
      assert.strictEqual(request.path, "docs")
    })
  )

  it("of the audit log's filters is what it asked for", () => {
    const position = { at: DateTime.makeUnsafe("2026-03-02T09:30:00Z"), id: "x" }
    assert.deepStrictEqual(AuditWire.toAuditQuery({ outcome: "refused" }, position), {
      limit: 50,
      after: position,
      outcome: "Refused"
    })
  })
})
