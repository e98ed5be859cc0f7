import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import type { Principal } from "@castellan/core/access/Principal"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Chat, type ChatId } from "@castellan/core/chat/Chat"
import { Chats } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { RunLog } from "@castellan/core/run/RunLog"
import { Budget, BudgetId, BudgetScope } from "@castellan/core/usage/Budget"
import { BudgetStore } from "@castellan/core/usage/BudgetStore"
import { as, refused } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { calls, says, ScriptedModel, stalling, text } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"

const answered = Effect.fnUntraced(function* (asker: Principal, question = "How many?") {
  const run = yield* Conversation.ask(asker, question)
  yield* Conversation.events(run)
  return run
})

const publish = (organizationId: OrganizationId, id: ChatId) =>
  ChatStore.use((store) =>
    Effect.flatMap(store.get(organizationId, id), (found) => {
      const chat = Option.getOrThrow(found)
      return store.save(new Chat({ ...chat, access: { ...chat.access, isPublic: true } }))
    })
  )

const audited = (organizationId: OrganizationId) =>
  Effect.map(
    AuditStore.use((store) => store.list(organizationId, { limit: 100 })),
    ({ items }) => items.map(({ action, outcome, target }) => `${action} ${target.type} ${outcome._tag}`).toReversed()
  )

const answering = Deployment.layer({ script: () => says("Three.") })

describe("changes of chats", () => {
  it.effect("a chat is renamed by whoever may edit it; a name that it has changes nothing", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      const stranger = yield* Fixture.someone(tenant)
      const { chatId } = yield* answered(member)
      const before = yield* as(member)(chats.get(chatId))
      const renamed = yield* as(member)(chats.update(chatId, { summary: "  Regions  " }))
      assert.strictEqual(renamed.summary, "Regions")
      const after = yield* as(member)(chats.get(chatId))
      assert.deepStrictEqual(after.chat, new Chat({ ...before.chat, summary: "Regions" }))
      yield* as(member)(chats.update(chatId, { summary: "Regions" }))
      yield* as(member)(chats.update(chatId, {}))
      assert.strictEqual(
        yield* refused(as(member)(chats.update(chatId, { summary: " " }))),
        "invalid_request: summary: must not be empty"
      )
      assert.strictEqual(
        yield* refused(as(member)(chats.update(chatId, { summary: "x".repeat(201) }))),
        "invalid_request: summary: must not be longer than 200 characters"
      )
      assert.strictEqual(
        yield* refused(as(stranger)(chats.update(chatId, { summary: "Mine" }))),
        "not_found: chat not found"
      )
      yield* publish(tenant.organizationId, chatId)
      assert.strictEqual(
        yield* refused(as(stranger)(chats.update(chatId, { summary: "Mine" }))),
        "permission_denied: permission denied: editor access to this chat is required"
      )
      assert.deepStrictEqual(yield* audited(tenant.organizationId), [
        "create chat Succeeded",
        "run run Succeeded",
        "update chat Succeeded",
        "update chat Refused"
      ])
    }).pipe(Effect.provide(answering))
  )

  it.effect("a deleted chat is gone with its runs, their logs, its assets and all feedback", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      yield* Fixture.connector(tenant.organizationId)
      const member = yield* Fixture.someone(tenant)
      const run = yield* answered(member)
      const other = yield* answered(member)
      const { chatId } = run
      const { transcript } = yield* as(member)(chats.get(chatId))
      const [asset] = transcript.assets
      assert.isDefined(asset)
      yield* as(member)(chats.feedback(chatId, { rating: "down", comment: "No" }))
      yield* publish(tenant.organizationId, chatId)
      assert.strictEqual(
        yield* refused(as(yield* Fixture.someone(tenant))(chats.delete(chatId))),
        "permission_denied: permission denied: owner access to this chat is required"
      )
      yield* as(member)(chats.delete(chatId))
      for (const door of [chats.get(chatId), chats.runs(chatId), chats.delete(chatId), chats.cancel(chatId)]) {
        assert.strictEqual(yield* refused(as(member)(Effect.asVoid(door))), "not_found: chat not found")
      }
      assert.deepStrictEqual(yield* RunLog.use((log) => log.read(run, 0)), [])
      assert.isTrue(Option.isNone(yield* AssetStore.use((store) => store.body(asset.organizationId, asset.id, "txt"))))
      assert.deepStrictEqual(yield* ChatStore.use((store) => store.feedback(tenant.organizationId, chatId)), [])
      assert.isNotEmpty((yield* as(member)(chats.get(other.chatId))).transcript.assets)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: (turn) =>
            turn.messages.at(-1)?._tag === "ToolResult"
              ? says("Kept.")
              : calls("make_text", { name: "Note", text: "x" })
        })
      )
    )
  )

  it.effect("a chat whose question is being answered is not deleted", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      yield* ScriptedModel.use((model) => model.follow([stalling(text("Let me see"))]))
      const { chatId } = yield* Conversation.ask(member, "How many?")
      assert.strictEqual(
        yield* refused(as(member)(chats.delete(chatId))),
        "conflict: a run of this chat is in progress: cancel it first"
      )
      assert.isTrue(yield* as(member)(chats.cancel(chatId)))
      assert.isFalse(yield* as(member)(chats.cancel(chatId)))
      yield* as(member)(chats.delete(chatId))
      assert.deepStrictEqual(yield* audited(tenant.organizationId), [
        "create chat Succeeded",
        "run run Succeeded",
        "cancel run Succeeded",
        "delete chat Succeeded"
      ])
    }).pipe(Effect.provide(answering))
  )

  it.effect("each reader has one opinion of a chat, the latest", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      const reader = yield* Fixture.someone(tenant)
      const { chatId } = yield* answered(member)
      assert.strictEqual(
        yield* refused(as(reader)(chats.feedback(chatId, { rating: "up" }))),
        "not_found: chat not found"
      )
      yield* publish(tenant.organizationId, chatId)
      const first = yield* as(reader)(chats.feedback(chatId, { rating: "up", comment: "Good" }))
      const second = yield* as(reader)(chats.feedback(chatId, { rating: "down" }))
      assert.deepStrictEqual([second.createdAt, second.comment], [first.createdAt, undefined])
      yield* as(member)(chats.feedback(chatId, { rating: "up" }))
      const kept = yield* ChatStore.use((store) => store.feedback(tenant.organizationId, chatId))
      assert.deepStrictEqual(kept.map(({ rating }) => rating).toSorted(), ["down", "up"])
    }).pipe(Effect.provide(answering))
  )

  it.effect("a chat that was made for one end user is at no door for another", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const client = (name: string): ClientMetadata => ({ text: `{"tenant":"${name}"}`, attributes: { tenant: name } })
      const maker = yield* Fixture.someone(tenant, { clientMetadata: client("a") })
      const run = yield* answered(maker)
      const { chatId } = run
      yield* publish(tenant.organizationId, chatId)
      const cellId = run.questionCellId
      for (const reader of [
        yield* Fixture.someone(tenant, { clientMetadata: client("b") }),
        yield* Fixture.someone(tenant),
        Fixture.adminOf(tenant)
      ]) {
        const doors = [
          chats.get(chatId),
          chats.cells(chatId, { limit: 10, offset: 0 }),
          chats.cell(chatId, cellId),
          chats.latestRun(chatId),
          chats.runs(chatId),
          chats.cancel(chatId),
          chats.update(chatId, { summary: "x" }),
          chats.delete(chatId),
          chats.feedback(chatId, { rating: "up" }),
          chats.ask({ question: "And now?", chatId, source: "api" })
        ]
        for (const door of doors) {
          assert.strictEqual(yield* refused(as(reader)(Effect.asVoid(door))), "not_found: chat not found")
        }
        const page = yield* as(reader)(chats.list({ limit: 10, offset: 0, sortBy: "name", sortDirection: "asc" }))
        assert.deepStrictEqual([page.chats.length, page.totalCount], [0, 0])
      }
      const same = yield* Fixture.someone(tenant, { clientMetadata: client("a") })
      assert.strictEqual((yield* as(same)(chats.cell(chatId, cellId))).id, cellId)
    }).pipe(Effect.provide(answering))
  )

  it.effect("past a budget no run starts, and nothing is kept of the question", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      const { chatId } = yield* answered(member)
      const now = yield* DateTime.now
      yield* BudgetStore.use((store) =>
        store.save(
          new Budget({
            id: BudgetId.make("018f0000-0000-7000-8000-000000000001"),
            organizationId: tenant.organizationId,
            name: "everybody's",
            scope: BudgetScope.cases.Organization.make({}),
            measure: "tokens",
            amount: 1,
            period: "day",
            createdAt: now,
            updatedAt: now
          })
        )
      )
      for (const more of [{}, { chatId }]) {
        const refusal = yield* refused(Conversation.ask(member, "And now?", more))
        assert.match(refusal, /^rate_limit_exceeded: .*everybody's/u)
      }
      const page = yield* as(member)(chats.list({ limit: 10, offset: 0, sortBy: "name", sortDirection: "asc" }))
      assert.strictEqual(page.totalCount, 1)
      assert.strictEqual((yield* as(member)(chats.runs(chatId))).length, 1)
    }).pipe(Effect.provide(answering))
  )
})
