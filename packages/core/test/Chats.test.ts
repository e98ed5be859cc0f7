import type { Access } from "@castellan/core/access/Access"
import type { CurrentPrincipal, Principal } from "@castellan/core/access/Principal"
import { Chat, type ChatId } from "@castellan/core/chat/Chat"
import { Chats, type Question } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { Connectors } from "@castellan/core/connector/Connectors"
import { defaultTools } from "@castellan/core/chat/Chat"
import type { Failure } from "@castellan/core/error/Failure"
import { ModelId, ModelNumber } from "@castellan/core/model/Model"
import { Models } from "@castellan/core/model/Models"
import { as, refused } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { ScriptedDriver } from "@castellan/testing/scripted/ScriptedDriver"
import { calls, says, ScriptedModel, servedModel, stalling, text } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"

const codeOf = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.map(Effect.result(effect), (result) => (Result.isSuccess(result) ? "done" : result.failure.code))

const listing = {
  limit: 20,
  offset: 0,
  sortBy: "updated_at",
  sortDirection: "desc"
} as const

/** Every way to reach a chat by its id. */
const doors = (
  id: ChatId
): ReadonlyArray<readonly [string, Effect.Effect<unknown, Failure, Chats | CurrentPrincipal>]> => [
  ["get", Chats.use((chats) => chats.get(id))],
  ["cells", Chats.use((chats) => chats.cells(id, { limit: 10, offset: 0 }))],
  ["runs", Chats.use((chats) => chats.runs(id))],
  ["latestRun", Chats.use((chats) => chats.latestRun(id))],
  ["cancel", Chats.use((chats) => chats.cancel(id))],
  ["ask", Chats.use((chats) => chats.ask({ question: "More?", chatId: id, source: "api" }))]
]

/** Shares a chat as a test wants it. */
const share = (principal: Principal, id: ChatId, access: Partial<Access>) =>
  ChatStore.use(
    Effect.fnUntraced(function* (store) {
      const chat = Option.getOrThrow(yield* store.get(principal.organizationId, id))
      const [run] = yield* store.runs(principal.organizationId, id)
      assert.isDefined(run)
      yield* store.open(new Chat({ ...chat, access: { ...chat.access, ...access } }), run)
      yield* store.endRun(run, chat.updatedAt)
    })
  )

const answering = Deployment.layer({ script: () => says("Three.") })

/** Two models, so that there is something to choose. */
const second = ModelId.make("scripted/model-2")
const twoModels = Deployment.layer({
  script: () => says("Three."),
  served: [servedModel, { ...servedModel, id: second, name: "Second" }]
})

describe("Chats.ask", () => {
  it.effect("opens a chat that runs until it has answered", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* ScriptedModel.use((model) => model.follow([stalling(text("Let me see"))]))
      const run = yield* Conversation.ask(admin, "  How many\n regions? ")
      assert.isFalse(run.isContinuation)
      const running = yield* as(admin)(chats.get(run.chatId))
      assert.deepStrictEqual(running.chat.activity, { _tag: "Running", runId: run.id })
      assert.strictEqual(running.chat.summary, "How many regions?")
      assert.strictEqual(running.chat.firstQuestion, "  How many\n regions? ")
      assert.strictEqual(running.chat.model, servedModel.id)
      assert.isTrue(yield* as(admin)(chats.cancel(run.chatId)))
      assert.strictEqual((yield* as(admin)(chats.get(run.chatId))).chat.activity._tag, "Idle")
    }).pipe(Effect.provide(answering))
  )

  it.effect("is refused what is malformed, hidden, or not allowed, in this order", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const run = yield* Conversation.ask(admin, "How many regions?")
      yield* Conversation.events(run)
      const { chatId } = run
      const stranger = yield* Fixture.someone(tenant)
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      const unknown = yield* Sample.chatId
      const ask = (principal: Principal, more: Partial<Question>) =>
        refused(as(principal)(Chats.use((chats) => chats.ask({ question: "And by month?", source: "api", ...more }))))
      const empty = "invalid_request: question: must not be empty"
      const both = "invalid_request: model: must not be sent together with chat_id"
      assert.strictEqual(yield* ask(admin, { question: "" }), empty)
      assert.strictEqual(yield* ask(powerless, { question: " \n\t ", chatId: unknown }), empty)
      assert.strictEqual(yield* ask(powerless, { chatId: unknown, model: servedModel.id }), both)
      assert.strictEqual(yield* ask(admin, { chatId: unknown }), "not_found: chat not found")
      assert.strictEqual(yield* ask(stranger, { chatId }), "not_found: chat not found")
      assert.strictEqual(yield* ask(powerless, { chatId }), "not_found: chat not found")
      assert.strictEqual(yield* ask(powerless, {}), "permission_denied: permission denied: chat:write is required")
      yield* share(admin, chatId, { isPublic: true })
      assert.strictEqual(
        yield* ask(powerless, { chatId }),
        "permission_denied: permission denied: chat:write is required"
      )
      assert.strictEqual(
        yield* ask(stranger, { chatId }),
        "permission_denied: permission denied: editor access to this chat is required"
      )
    }).pipe(Effect.provide(answering))
  )

  it.effect("takes one question at a time for each chat", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* ScriptedModel.use((model) => model.follow([stalling(), says("Two.")]))
      const first = yield* Conversation.ask(admin, "One?")
      const again = Conversation.ask(admin, "Two?", { chatId: first.chatId })
      yield* ScriptedModel.use((model) => model.asked(1))
      assert.strictEqual(yield* refused(again), "conflict: a run of this chat is in progress")
      yield* as(admin)(chats.cancel(first.chatId))
      const next = yield* again
      assert.isTrue(next.isContinuation)
      assert.strictEqual((yield* chats.answer(next)).response, "Two.")
    }).pipe(Effect.provide(answering))
  )

  it.effect("of many questions at once to an idle chat, one is answered and the others are told", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const first = yield* Conversation.ask(admin, "One?")
      yield* Conversation.events(first)
      yield* ScriptedModel.use((model) => model.follow(() => stalling()))
      const codes = yield* Effect.all(
        Array.from({ length: 10 }, () => codeOf(Conversation.ask(admin, "Two?", { chatId: first.chatId }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(codes.toSorted(), [...Array.from({ length: 9 }, () => "conflict"), "done"])
    }).pipe(Effect.provide(answering))
  )

  it.effect("an unknown connector and one of somebody else are refused with the same words, before anything runs", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      yield* Fixture.connector(tenant.organizationId)
      yield* Fixture.connector(tenant.organizationId, {
        id: 2,
        name: "secret",
        access: { isPublic: false, grants: [] }
      })
      const ask = (principal: Principal, ...ids: ReadonlyArray<number>) =>
        Conversation.ask(principal, "How many?", {
          tools: { ...defaultTools, connectorIds: ids.map((id) => ConnectorId.make(id)) }
        })
      const not = (id: number) => `permission_denied: permission denied: connector ${id} is not available to you`
      assert.strictEqual(yield* refused(ask(member, 1, 2)), not(2))
      assert.strictEqual(yield* refused(ask(member, 3)), not(3))
      yield* Conversation.events(yield* ask(member, 1, 1))
      const reader = yield* Fixture.role(tenant.organizationId, { permissions: ["chat:write", "connector:read"] })
      assert.strictEqual(yield* refused(ask(yield* Fixture.someone(tenant, { roles: [reader] }), 1)), not(1))
      const page = yield* as(member)(Chats.use((chats) => chats.list(listing)))
      assert.strictEqual(page.totalCount, 1)
    }).pipe(Effect.provide(answering))
  )

  it.effect("takes the model that is named, if it may be; an unknown one reads as a forbidden one", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const restricting = yield* Fixture.role(tenant.organizationId, {
        permissions: ["chat:read", "chat:write"],
        models: { allowModelChoice: true, allowedModels: [ModelNumber.make(1)] }
      })
      const free = yield* Fixture.someone(tenant)
      const bound = yield* Fixture.someone(tenant, { roles: [restricting] })
      const ask = (principal: Principal, model?: string) =>
        Conversation.ask(principal, "How many?", model === undefined ? {} : { model: ModelId.make(model) })
      const modelOf = Effect.map((run: { readonly model: ModelId }) => run.model)
      assert.strictEqual(yield* modelOf(ask(free)), servedModel.id)
      assert.strictEqual(yield* modelOf(ask(free, second)), second)
      assert.strictEqual(yield* modelOf(ask(bound)), servedModel.id)
      const forbidden = yield* refused(ask(bound, second))
      assert.strictEqual(forbidden, "permission_denied: permission denied: the model is not available to you")
      assert.strictEqual(yield* refused(ask(free, "nobody/knows-1")), forbidden)
      const listed = yield* as(bound)(Models.use((models) => models.list))
      assert.deepStrictEqual(
        listed.map(({ isDefault, model }) => [model.id, model.number, isDefault]),
        [[servedModel.id, 1, true]]
      )
    }).pipe(Effect.provide(twoModels))
  )

  it.effect("a chat goes on with its model only for those who may have it", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const restricting = yield* Fixture.role(tenant.organizationId, {
        permissions: ["chat:read", "chat:write"],
        models: { allowModelChoice: false, allowedModels: [ModelNumber.make(1)] }
      })
      const bound = yield* Fixture.someone(tenant, { roles: [restricting], fullMemberAccess: true })
      const editable = { grants: [{ grantee: { _tag: "Member", id: bound.memberId }, accessType: "editor" }] } as const
      const first = yield* Conversation.ask(admin, "With the first?")
      const other = yield* Conversation.ask(admin, "With the second?", { model: second })
      for (const run of [first, other]) {
        yield* Conversation.events(run)
        yield* share(admin, run.chatId, editable)
      }
      const more = (chatId: ChatId) => codeOf(Conversation.ask(bound, "And now?", { chatId }))
      assert.strictEqual(yield* more(other.chatId), "permission_denied")
      assert.strictEqual(yield* more(first.chatId), "done")
    }).pipe(Effect.provide(twoModels))
  )
})

describe("Chats.list", () => {
  it.effect("shows what the caller may read, with who made it", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const member = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      const open = yield* Conversation.ask(admin, "Open?")
      yield* Conversation.events(open)
      yield* share(admin, open.chatId, { isPublic: true })
      yield* TestClock.adjust("1 second")
      yield* Conversation.events(yield* Conversation.ask(admin, "Hidden?"))
      yield* TestClock.adjust("1 second")
      const own = yield* Conversation.ask(member, "Own?")
      yield* Conversation.events(own)
      const page = yield* as(member)(chats.list(listing))
      assert.deepStrictEqual(
        page.chats.map(({ chat, creatorEmail }) => [chat.firstQuestion, creatorEmail]),
        [
          ["Own?", `${member.memberId}@members.example`],
          ["Open?", "admin@acme.example"]
        ]
      )
      assert.strictEqual(page.totalCount, 2)
      const found = yield* as(member)(chats.list({ ...listing, searchTerm: "OPEN" }))
      assert.deepStrictEqual(
        found.chats.map(({ chat }) => chat.id),
        [open.chatId]
      )
    }).pipe(Effect.provide(answering))
  )

  it.effect("needs leave to read chats", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      assert.strictEqual(
        yield* refused(as(powerless)(Chats.use((chats) => chats.list(listing)))),
        "permission_denied: permission denied: chat:read is required"
      )
    }).pipe(Effect.provide(answering))
  )
})

describe("a chat by its id", () => {
  it.effect("shows its messages, cells, runs and the sum of what it used", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* Fixture.connector(tenant.organizationId)
      const sales = { title: "Sales", connector: "warehouse", sql: "select * from sales" }
      yield* ScriptedModel.use((model) => model.follow([calls("run_sql", sales), says("Three."), says("Still three.")]))
      const first = yield* Conversation.ask(admin, "How many?")
      yield* Conversation.events(first)
      yield* TestClock.adjust("1 second")
      const next = yield* Conversation.ask(admin, "And now?", { chatId: first.chatId })
      yield* Conversation.events(next)
      const view = yield* as(admin)(chats.get(first.chatId))
      assert.deepStrictEqual(
        view.transcript.messages.map((message) => `${message.role}: ${message.content}`),
        ["user: How many?", "assistant: Three.", "user: And now?", "assistant: Still three."]
      )
      assert.deepStrictEqual(view.usage, { inputTokens: 30, outputTokens: 15, toolCalls: 1 })
      const runs = yield* as(admin)(chats.runs(first.chatId))
      assert.deepStrictEqual(
        runs.map((run) => run.id),
        [first.id, next.id]
      )
      assert.strictEqual((yield* as(admin)(chats.latestRun(first.chatId))).id, next.id)
      assert.deepStrictEqual([yield* chats.numberOf(first), yield* chats.numberOf(next)], [0, 1])

      const tags = (page: { readonly limit: number; readonly offset: number }) =>
        Effect.map(as(admin)(chats.cells(first.chatId, page)), ({ cells, hasMore }) => [
          cells.map(({ content }) => (content._tag === "Markdown" ? content.content : content._tag)).join(", "),
          hasMore
        ])
      assert.deepStrictEqual(yield* tags({ limit: 200, offset: 0 }), [
        "How many?, Sql, Three., And now?, Still three.",
        false
      ])
      assert.deepStrictEqual(yield* tags({ limit: 2, offset: 0 }), ["And now?, Still three.", true])
      assert.deepStrictEqual(yield* tags({ limit: 2, offset: 2 }), ["Sql, Three.", true])
      assert.deepStrictEqual(yield* tags({ limit: 2, offset: 4 }), ["How many?", false])
      assert.deepStrictEqual(yield* tags({ limit: 2, offset: 9 }), ["", false])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("K20, K21, K22: hidden by every door, or refused by every door", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const owner = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole] })
      const powerless = yield* Fixture.role(tenant.organizationId)
      const run = yield* Conversation.ask(admin, "How many?")
      yield* Conversation.events(run)
      const stranger = { memberId: yield* Sample.memberId }
      const grant = (id: typeof owner.id) => [{ grantee: { _tag: "Member", id }, accessType: "editor" }] as const
      yield* share(admin, run.chatId, { creator: stranger, grants: grant(owner.id) })
      const principal = (options: Sample.PrincipalOptions) =>
        Sample.principal(tenant.organizationId, { memberId: owner.id, roles: [tenant.memberRole], ...options })
      const rows: ReadonlyArray<readonly [string, Principal, string]> = [
        ["K20: flag off", yield* principal({ restricted: true }), "not_found"],
        ["K21: flag on, roles without the permission", yield* principal({ roles: [powerless] }), "permission_denied"],
        [
          "K22: admin role, shared with another",
          yield* principal({ memberId: yield* Sample.memberId, roles: [tenant.adminRole] }),
          "permission_denied"
        ],
        ["flag on, roles with the permission", yield* principal({}), "done"]
      ]
      for (const [name, who, expected] of rows) {
        for (const [door, use] of doors(run.chatId)) {
          assert.strictEqual(yield* codeOf(as(who)(use)), expected, `${name}: ${door}`)
        }
      }
    }).pipe(Effect.provide(answering))
  )

  it.effect("a viewer reads, and neither asks nor cancels", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const viewer = yield* Fixture.someone(tenant)
      const run = yield* Conversation.ask(admin, "How many?")
      yield* Conversation.events(run)
      yield* share(admin, run.chatId, { isPublic: true })
      for (const [door, use] of doors(run.chatId)) {
        const expected = door === "ask" || door === "cancel" ? "permission_denied" : "done"
        assert.strictEqual(yield* codeOf(as(viewer)(use)), expected, door)
      }
    }).pipe(Effect.provide(answering))
  )

  it.effect("there is nothing to cancel in an idle chat", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const run = yield* Conversation.ask(admin, "How many?")
      yield* Conversation.events(run)
      assert.isFalse(yield* as(admin)(Chats.use((chats) => chats.cancel(run.chatId))))
    }).pipe(Effect.provide(answering))
  )
})

describe("Chats.answer", () => {
  it.effect("fails as the run failed", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const model = yield* ScriptedModel
      let asked = 0
      const failure = Effect.fnUntraced(function* (meanwhile: (chatId: ChatId) => Effect.Effect<unknown, Failure>) {
        const run = yield* Conversation.ask(admin, "How many?")
        yield* model.asked((asked += 1))
        yield* meanwhile(run.chatId)
        return yield* refused(chats.answer(run))
      })
      yield* model.follow([stalling(), stalling()])
      assert.strictEqual(
        yield* failure((chatId) => as(admin)(chats.cancel(chatId))),
        "cancelled: the run was cancelled"
      )
      assert.strictEqual(
        yield* failure(() => TestClock.adjust("10 minutes")),
        "timeout: the run went past its time limit"
      )
      assert.strictEqual(yield* failure(() => Effect.void), "execution_failed: the script has no further turn")
    }).pipe(Effect.provide(answering))
  )
})

describe("two organizations", () => {
  it.effect("never see anything of each other's, by any door", () =>
    Effect.gen(function* () {
      const chats = yield* Chats
      const ours = yield* Fixture.tenant("Ours")
      const theirs = yield* Fixture.tenant("Theirs")
      const us = Fixture.adminOf(ours)
      const them = Fixture.adminOf(theirs)
      yield* Fixture.connector(ours.organizationId, { id: 1, name: "our_data" })
      yield* Fixture.connector(theirs.organizationId, { id: 2, name: "their_data" })
      const run = yield* Conversation.ask(us, "Our secret?")
      yield* Conversation.events(run)
      yield* share(us, run.chatId, {
        isPublic: true,
        grants: [
          { grantee: { _tag: "Member", id: them.memberId }, accessType: "owner" },
          { grantee: { _tag: "Role", id: theirs.adminRole.id }, accessType: "owner" }
        ]
      })
      for (const [door, use] of doors(run.chatId)) {
        assert.strictEqual(yield* codeOf(as(them)(use)), "not_found", door)
        assert.strictEqual(yield* codeOf(as(us)(use)), "done", door)
      }
      yield* Conversation.events(yield* as(us)(chats.latestRun(run.chatId)))
      assert.deepStrictEqual(yield* as(them)(chats.list(listing)), { chats: [], totalCount: 0 })
      const connectors = yield* as(them)(Connectors.use((service) => service.list))
      assert.deepStrictEqual(
        connectors.map((connector) => connector.name),
        ["their_data"]
      )
      const tools = { ...defaultTools, connectorIds: [ConnectorId.make(1)] }
      assert.strictEqual(yield* codeOf(Conversation.ask(them, "Their data?", { tools })), "permission_denied")
      // The same number is another connector in another organization.
      yield* ScriptedModel.use((model) =>
        model.follow([
          calls("run_sql", { title: "t", connector: "our_data", sql: "select * from sales" }),
          says("None.")
        ])
      )
      const asked = yield* Conversation.ask(them, "Through the model?")
      yield* Conversation.events(asked)
      assert.deepStrictEqual(yield* ScriptedDriver.use((driver) => driver.recorded), [])
    }).pipe(Effect.provide(answering))
  )
})
