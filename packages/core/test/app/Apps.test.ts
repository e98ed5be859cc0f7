import { Grantee } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { App } from "@castellan/core/app/App"
import { Apps, type NewApp } from "@castellan/core/app/Apps"
import { AppStore } from "@castellan/core/app/AppStore"
import { AssetId } from "@castellan/core/asset/Asset"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Chats } from "@castellan/core/chat/Chats"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { calls, says, ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { as, page, refused } from "../playbook/PlaybookWorld.ts"

const world = Deployment.layer()

/** A chat that made three texts: `one`, `two`, `three`. */
const chatWithAssets = Effect.fnUntraced(function* (principal: Principal) {
  const text = (name: string) => calls("make_text", { name, text: `# ${name}` }, name)
  yield* ScriptedModel.use((model) => model.follow([text("one"), text("two"), text("three"), says("Made.")]))
  const { assets, chatId } = yield* Conversation.answer(principal, "Make three.")
  return { chatId, ids: assets.map(({ id }) => id) }
})

const created = (principal: Principal, app: NewApp) => Apps.use((apps) => as(principal)(apps.create(app)))

const namesOf = (app: App) => app.assets.map((asset) => asset.name)

const publish = (app: App) =>
  AppStore.use((store) => store.save(new App({ ...app, access: { ...app.access, isPublic: true } })))

describe("Apps", () => {
  it.effect("publishes a chat's assets, all of them or some, in the order that is asked for", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const { chatId, ids } = yield* chatWithAssets(admin)
      const [one, two, three] = ids
      assert.isDefined(one)
      assert.isDefined(two)
      assert.isDefined(three)
      assert.deepStrictEqual(namesOf(yield* created(admin, { name: "All", chatId })), ["one", "two", "three"])
      const some = yield* created(admin, { name: "Some", description: "Two.", chatId, assetIds: [three, one] })
      assert.deepStrictEqual(namesOf(some), ["three", "one"])
      const apps = yield* Apps
      assert.deepStrictEqual(yield* as(admin)(apps.get(some.id)), some)
      const changed = yield* as(admin)(apps.update(some.id, { name: "Others", assetIds: [two, three] }))
      assert.deepStrictEqual(namesOf(changed), ["two", "three"])
      assert.deepInclude(changed, { name: "Others", description: "Two.", chatId })
      assert.deepStrictEqual(
        (yield* as(admin)(apps.list(page))).items.map(({ name }) => name),
        ["All", "Others"]
      )
      yield* as(admin)(apps.delete(some.id))
      assert.strictEqual(yield* refused(as(admin)(apps.get(some.id))), "not_found: app not found")
      assert.strictEqual((yield* as(admin)(apps.list(page))).totalCount, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("refuses what is malformed, hidden or not allowed, in this order", () =>
    Effect.gen(function* () {
      const apps = yield* Apps
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const { chatId, ids } = yield* chatWithAssets(admin)
      const stranger = yield* Fixture.someone(tenant)
      const wrong: ReadonlyArray<readonly [NewApp, string]> = [
        [{ name: " ", chatId }, "name: must not be empty"],
        [{ name: "x".repeat(201), chatId }, "name: must be at most 200 characters"],
        [{ name: "x", description: "x".repeat(5001), chatId }, "description: must be at most 5000 characters"],
        [{ name: "x", chatId, assetIds: [...ids, ...ids] }, "asset_ids: must name each asset once"]
      ]
      for (const [app, message] of wrong) {
        assert.strictEqual(yield* refused(created(stranger, app)), `invalid_request: ${message}`)
      }
      assert.strictEqual(yield* refused(created(stranger, { name: "x", chatId })), "not_found: chat not found")
      const foreign = AssetId.make(yield* Sample.chatId)
      assert.strictEqual(
        yield* refused(created(admin, { name: "x", chatId, assetIds: [foreign] })),
        `invalid_request: asset_ids[0]: the chat has no asset ${foreign}`
      )
      assert.strictEqual(
        yield* refused(created(admin, { name: "x", chatId, assetIds: [] })),
        "invalid_request: asset_ids: an app shows at least one asset of its chat"
      )
      const chatting = yield* Fixture.role(tenant.organizationId, { permissions: ["chat:read", "chat:write"] })
      const chatter = yield* Fixture.someone(tenant, { roles: [chatting] })
      const own = yield* chatWithAssets(chatter)
      assert.strictEqual(
        yield* refused(created(chatter, { name: "x", chatId: own.chatId })),
        "permission_denied: permission denied: app:write is required"
      )
      const app = yield* created(admin, { name: "x", chatId })
      assert.strictEqual(yield* refused(as(stranger)(apps.delete(app.id))), "not_found: app not found")
      yield* publish(app)
      assert.strictEqual(
        yield* refused(as(stranger)(apps.update(app.id, { name: "y" }))),
        "permission_denied: permission denied: editor access to this app is required"
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("shows its assets to readers who do not see the chat", () =>
    Effect.gen(function* () {
      const apps = yield* Apps
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const { chatId } = yield* chatWithAssets(admin)
      const app = yield* created(admin, { name: "Board", chatId })
      yield* publish(app)
      const reader = yield* Fixture.someone(tenant)
      assert.deepStrictEqual(namesOf(yield* as(reader)(apps.get(app.id))), ["one", "two", "three"])
      assert.strictEqual(
        yield* refused(Chats.use((chats) => as(reader)(chats.get(chatId)))),
        "not_found: chat not found"
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("an editor who does not see the chat orders what is shown, and adds nothing", () =>
    Effect.gen(function* () {
      const apps = yield* Apps
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const { chatId, ids } = yield* chatWithAssets(admin)
      const app = yield* created(admin, { name: "Board", chatId, assetIds: ids.slice(0, 2) })
      const editor = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      yield* AppStore.use((store) =>
        store.save(
          new App({
            ...app,
            access: {
              ...app.access,
              grants: [{ grantee: Grantee.cases.Member.make({ id: editor.memberId }), accessType: "editor" }]
            }
          })
        )
      )
      const turned = yield* as(editor)(apps.update(app.id, { assetIds: ids.slice(0, 2).toReversed() }))
      assert.deepStrictEqual(namesOf(turned), ["two", "one"])
      assert.strictEqual(
        yield* refused(as(editor)(apps.update(app.id, { assetIds: ids }))),
        "not_found: chat not found"
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("hides what was answered for one end user from every other reader", () =>
    Effect.gen(function* () {
      const apps = yield* Apps
      const tenant = yield* Fixture.tenant()
      const region = (name: string) => ({ text: `{"region":"${name}"}`, attributes: { region: name } })
      const north = yield* Fixture.someone(tenant, { clientMetadata: region("north") })
      const south = yield* Fixture.someone(tenant, { clientMetadata: region("south") })
      const { chatId } = yield* chatWithAssets(north)
      const app = yield* created(north, { name: "Board", chatId })
      yield* publish(app)
      yield* as(north)(apps.get(app.id))
      for (const reader of [south, yield* Fixture.someone(tenant), Fixture.adminOf(tenant)]) {
        assert.strictEqual(yield* refused(as(reader)(apps.get(app.id))), "not_found: app not found")
        assert.strictEqual((yield* as(reader)(apps.list(page))).totalCount, 0)
      }
    }).pipe(Effect.provide(world))
  )

  it.effect("is on the record, with what it showed", () =>
    Effect.gen(function* () {
      const apps = yield* Apps
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const { chatId, ids } = yield* chatWithAssets(admin)
      const app = yield* created(admin, { name: "Board", chatId })
      yield* as(admin)(apps.update(app.id, { assetIds: ids.slice(1) }))
      yield* as(admin)(apps.delete(app.id))
      const { items } = yield* AuditStore.use((audit) =>
        audit.list(tenant.organizationId, { limit: 50, targetType: "app" })
      )
      assert.deepStrictEqual(
        items.toReversed().map(({ action }) => action),
        ["create", "update", "delete"]
      )
      assert.deepInclude(items[1]?.before, { assets: ids })
      assert.deepInclude(items[1]?.after, { assets: ids.slice(1) })
    }).pipe(Effect.provide(world))
  )
})
