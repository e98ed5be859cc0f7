import { Grantee } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Playbook, PlaybookConfiguration } from "@castellan/core/playbook/Playbook"
import type { PlaybookPatch } from "@castellan/core/playbook/PlaybookPatch"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { as, page, publish, ready, refused, run, runsOf } from "./PlaybookWorld.ts"

const world = Deployment.layer({ script: () => says("Fine.") })

const configuration = Schema.decodeUnknownSync(PlaybookConfiguration)

const created = (principal: Principal) => Playbooks.use((playbooks) => as(principal)(playbooks.create))

const update = (principal: Principal, id: Playbook["id"], patch: PlaybookPatch) =>
  Playbooks.use((playbooks) => as(principal)(playbooks.update(id, patch)))

const share = (playbook: Playbook, principal: Principal, accessType: "viewer" | "editor" | "owner") =>
  PlaybookStore.use((store) =>
    store.save(
      new Playbook({
        ...playbook,
        access: {
          ...playbook.access,
          grants: [{ grantee: Grantee.cases.Member.make({ id: principal.memberId }), accessType }]
        }
      })
    )
  )

describe("Playbooks", () => {
  it.effect("creates an empty draft", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* created(admin)
      assert.deepStrictEqual(playbook.status, { _tag: "Draft" })
      assert.deepStrictEqual(
        playbook.configuration,
        configuration({
          name: "",
          prompt: "",
          connectorIds: [],
          timeZone: "UTC",
          emailAddresses: [],
          taggedChatUserIds: [],
          datasetIds: [],
          selectedTemplateDataIds: []
        })
      )
      const { reports, ...view } = yield* Playbooks.use((playbooks) => as(admin)(playbooks.get(playbook.id, page)))
      assert.deepStrictEqual(view.playbook, playbook)
      assert.deepStrictEqual(reports, { items: [], totalCount: 0 })
    }).pipe(Effect.provide(world))
  )

  it.effect("changes what is sent, keeps what is omitted, and clears what is empty", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* Fixture.connector(tenant.organizationId)
      const { id } = yield* created(admin)
      yield* TestClock.adjust("1 minute")
      const full: PlaybookPatch = {
        name: "Weekly",
        prompt: "How?",
        cronString: " @daily ",
        timeZone: "Europe/Paris",
        connectorIds: [1, 1],
        datasetIds: ["b", "a", "b"],
        emailAddresses: ["Ann@example.org", "ann@EXAMPLE.org", "bob@example.org"],
        chatChannelId: "C1",
        taggedChatUserIds: ["U1", "U1", "U2"],
        selectedTemplateDataIds: ["t"]
      }
      const kept = configuration({
        name: "Weekly",
        prompt: "How?",
        cron: "@daily",
        timeZone: "Europe/Paris",
        connectorIds: [1],
        datasetIds: ["b", "a"],
        emailAddresses: ["Ann@example.org", "bob@example.org"],
        chatChannelId: "C1",
        taggedChatUserIds: ["U1", "U2"],
        selectedTemplateDataIds: ["t"]
      })
      const changed = yield* update(admin, id, full)
      assert.deepEqual(changed.configuration, kept)
      assert.strictEqual(DateTime.toEpochMillis(changed.updatedAt) - DateTime.toEpochMillis(changed.createdAt), 60_000)
      assert.deepEqual((yield* update(admin, id, {})).configuration, kept)
      assert.deepEqual((yield* update(admin, id, { name: "Daily" })).configuration, { ...kept, name: "Daily" })
      const cleared = yield* update(admin, id, {
        name: "",
        prompt: "",
        cronString: "",
        timeZone: "",
        connectorIds: [],
        datasetIds: [],
        emailAddresses: [],
        chatChannelId: "",
        taggedChatUserIds: [],
        selectedTemplateDataIds: []
      })
      assert.deepStrictEqual(cleared.configuration, (yield* created(admin)).configuration)
    }).pipe(Effect.provide(world))
  )

  it.effect("refuses what is malformed, naming the field, before it says anything of the playbook", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const stranger = yield* Fixture.someone(tenant, { roles: [] })
      const { id } = yield* created(Fixture.adminOf(tenant))
      const wrong: ReadonlyArray<readonly [PlaybookPatch, string]> = [
        [{ cronString: "61 * * * *" }, "cron_string: Expected a value between 0 and 59, not 61"],
        [
          { timeZone: "Mars/Olympus" },
          'timezone: "Mars/Olympus" is not the name of an IANA time zone, such as Europe/Paris'
        ],
        [{ emailAddresses: ["a@b.org", "nobody"] }, 'email_addresses[1]: "nobody" is not an e-mail address'],
        [
          { emailAddresses: ["a@b.org\r\nBcc: x@y.org"] },
          'email_addresses[0]: "a@b.org\\r\\nBcc: x@y.org" is not an e-mail address'
        ],
        [
          { emailAddresses: Array.from({ length: 51 }, (_, index) => `a${index}@b.org`) },
          "email_addresses: must have at most 50 entries"
        ],
        [{ chatChannelId: "a b" }, 'chat_channel_id: "a b" is not a chat channel\'s id'],
        [{ taggedChatUserIds: ["U1", ""] }, 'tagged_chat_user_ids[1]: "" is not a chat user\'s id'],
        [{ connectorIds: [1, 0] }, "connector_ids[1]: 0 is not a connector's id"],
        [
          { datasetIds: Array.from({ length: 101 }, (_, index) => `d${index}`) },
          "dataset_ids: must have at most 100 entries"
        ],
        [{ datasetIds: [""] }, 'dataset_ids[0]: "" is not an id of 1 to 255 characters'],
        [{ name: "x".repeat(201) }, "name: must be at most 200 characters"],
        [{ prompt: "x".repeat(50_001) }, "prompt: must be at most 50000 characters"]
      ]
      for (const [patch, message] of wrong) {
        assert.strictEqual(yield* refused(update(stranger, id, patch)), `invalid_request: ${message}`)
      }
      const most = {
        name: "x".repeat(200),
        prompt: "x".repeat(50_000),
        emailAddresses: Array.from({ length: 50 }, (_, index) => `a${index}@b.org`),
        datasetIds: Array.from({ length: 100 }, (_, index) => `d${index}`)
      }
      assert.strictEqual(yield* refused(update(stranger, id, most)), "not_found: playbook not found")
    }).pipe(Effect.provide(world))
  )

  it.effect("takes no connector that its author may not use", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* Fixture.connector(tenant.organizationId, { access: { isPublic: false, grants: [] } })
      const { id } = yield* created(admin)
      const unavailable = (connector: number) =>
        `permission_denied: permission denied: connector ${connector} is not available to you`
      assert.strictEqual(yield* refused(update(admin, id, { connectorIds: [1] })), unavailable(1))
      assert.strictEqual(yield* refused(update(admin, id, { connectorIds: [7] })), unavailable(7))
    }).pipe(Effect.provide(world))
  )

  it.effect("deploys, deploys again, undeploys and deletes", () =>
    Effect.gen(function* () {
      const playbooks = yield* Playbooks
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const { id } = yield* created(admin)
      const conflict = "conflict: cannot undeploy a playbook that is a draft"
      assert.strictEqual(yield* refused(as(admin)(playbooks.undeploy(id))), conflict)
      yield* TestClock.adjust("1 minute")
      const first = yield* as(admin)(playbooks.deploy(id))
      assert.deepStrictEqual(first, { playbookId: id, deployedAt: yield* DateTime.now })
      yield* TestClock.adjust("1 minute")
      const second = yield* as(admin)(playbooks.deploy(id))
      assert.isTrue(DateTime.isGreaterThan(second.deployedAt, first.deployedAt))
      assert.deepEqual((yield* as(admin)(playbooks.get(id, page))).playbook.status, {
        _tag: "Deployed",
        deployedAt: second.deployedAt
      })
      const { undeployedAt } = yield* as(admin)(playbooks.undeploy(id))
      assert.deepStrictEqual(undeployedAt, yield* DateTime.now)
      assert.strictEqual(yield* refused(as(admin)(playbooks.undeploy(id))), conflict)
      const { deletedAt } = yield* as(admin)(playbooks.delete(id))
      assert.deepStrictEqual(deletedAt, yield* DateTime.now)
      for (const again of [
        Effect.asVoid(playbooks.delete(id)),
        Effect.asVoid(playbooks.deploy(id)),
        Effect.asVoid(playbooks.undeploy(id)),
        Effect.asVoid(playbooks.get(id, page)),
        Effect.asVoid(playbooks.update(id, {}))
      ]) {
        assert.strictEqual(yield* refused(as(admin)(again)), "not_found: playbook not found")
      }
    }).pipe(Effect.provide(world))
  )

  it.effect("lets each do as much as their access and their permissions allow", () =>
    Effect.gen(function* () {
      const playbooks = yield* Playbooks
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const reading = yield* Fixture.role(tenant.organizationId, { permissions: ["playbook:read"] })
      const codes = Effect.fnUntraced(function* (principal: Principal, playbook: Playbook) {
        const { id } = playbook
        const attempts = [
          Effect.asVoid(playbooks.get(id, page)),
          Effect.asVoid(playbooks.update(id, { name: "x" })),
          Effect.asVoid(playbooks.deploy(id)),
          Effect.asVoid(playbooks.undeploy(id)),
          Effect.asVoid(playbooks.delete(id))
        ]
        const outcomes: Array<string> = []
        for (const attempt of attempts) {
          const outcome = yield* Effect.result(as(principal)(attempt))
          outcomes.push(Result.isSuccess(outcome) ? "done" : outcome.failure.code)
        }
        return outcomes
      })
      const [denied, hidden] = ["permission_denied", "not_found"]
      const member = () => Fixture.someone(tenant, { fullMemberAccess: true })
      const reader = yield* Fixture.someone(tenant, { fullMemberAccess: true, roles: [reading] })
      const cases: ReadonlyArray<readonly [Principal, "viewer" | "editor" | "owner" | "none", ReadonlyArray<string>]> =
        [
          [yield* member(), "none", [hidden, hidden, hidden, hidden, hidden]],
          [yield* member(), "viewer", ["done", denied, denied, denied, denied]],
          [yield* member(), "editor", ["done", "done", "done", "done", denied]],
          [yield* member(), "owner", ["done", "done", "done", "done", "done"]],
          [reader, "owner", ["done", denied, denied, denied, denied]],
          [yield* Fixture.someone(tenant), "owner", [hidden, hidden, hidden, hidden, hidden]]
        ]
      for (const [principal, access, expected] of cases) {
        const playbook = yield* created(admin)
        if (access !== "none") yield* share(playbook, principal, access)
        assert.deepStrictEqual(yield* codes(principal, playbook), expected, access)
      }
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      assert.strictEqual(
        yield* refused(created(powerless)),
        "permission_denied: permission denied: playbook:write is required"
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("lists what the caller may read, and shows only reports whose rows they may be shown", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const region = (name: string) => ({ text: `{"region":"${name}"}`, attributes: { region: name } })
      const north = yield* Fixture.someone(tenant, { clientMetadata: region("north") })
      const south = yield* Fixture.someone(tenant, { clientMetadata: region("south") })
      const playbook = yield* ready(admin)
      yield* publish(playbook)
      yield* created(admin)
      const listed = (principal: Principal) =>
        Playbooks.use((playbooks) => as(principal)(playbooks.list({ ...page, sortBy: "name", sortDirection: "asc" })))
      assert.strictEqual((yield* listed(admin)).totalCount, 2)
      assert.deepStrictEqual(
        (yield* listed(north)).items.map(({ id }) => id),
        [playbook.id]
      )
      const { report } = yield* run(north, playbook.id)
      const reportsOf = (principal: Principal) =>
        Playbooks.use((playbooks) =>
          Effect.map(as(principal)(playbooks.get(playbook.id, page)), ({ reports }) =>
            reports.items.map((view) => view.report.id)
          )
        )
      assert.deepStrictEqual(yield* reportsOf(north), [report.id])
      assert.deepStrictEqual(yield* reportsOf(south), [])
      assert.deepStrictEqual(yield* reportsOf(admin), [])
      // Nor what became of the run: an error may quote the data that it was about.
      assert.strictEqual((yield* runsOf(north, playbook.id)).totalCount, 1)
      assert.deepStrictEqual(yield* runsOf(south, playbook.id), { items: [], totalCount: 0 })
      assert.deepStrictEqual(yield* runsOf(admin, playbook.id), { items: [], totalCount: 0 })
    }).pipe(Effect.provide(world))
  )

  it.effect("puts each change on the record, and each refusal, and nothing of what was not found", () =>
    Effect.gen(function* () {
      const playbooks = yield* Playbooks
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const { id } = yield* created(admin)
      yield* update(admin, id, { prompt: "How?" })
      yield* as(admin)(playbooks.deploy(id))
      yield* as(admin)(playbooks.undeploy(id))
      yield* as(admin)(playbooks.delete(id))
      yield* Effect.flip(update(admin, id, { prompt: "?" }))
      const viewer = yield* Fixture.someone(tenant)
      const shown = yield* created(admin)
      yield* publish(shown)
      yield* Effect.flip(as(viewer)(playbooks.deploy(shown.id)))
      const { items } = yield* AuditStore.use((audit) => audit.list(tenant.organizationId, { limit: 50 }))
      assert.deepStrictEqual(
        items.toReversed().map(({ action, outcome, target }) => [action, target.id, outcome._tag]),
        [
          ["create", id, "Succeeded"],
          ["update", id, "Succeeded"],
          ["deploy", id, "Succeeded"],
          ["undeploy", id, "Succeeded"],
          ["delete", id, "Succeeded"],
          ["create", shown.id, "Succeeded"],
          ["deploy", shown.id, "Refused"]
        ]
      )
      const changed = items.find(({ action }) => action === "update")
      assert.deepInclude(changed?.before, { prompt: "" })
      assert.deepInclude(changed?.after, { prompt: "How?" })
    }).pipe(Effect.provide(world))
  )
})
