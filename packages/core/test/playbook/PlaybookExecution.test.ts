import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Chats } from "@castellan/core/chat/Chats"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { DeliveryStore } from "@castellan/core/delivery/DeliveryStore"
import { PlaybookId } from "@castellan/core/playbook/Playbook"
import { PlaybookExecution } from "@castellan/core/playbook/PlaybookExecution"
import { PlaybookRunStatus } from "@castellan/core/playbook/PlaybookRun"
import { PlaybookRunner } from "@castellan/core/playbook/PlaybookRunner"
import * as PlaybookRunsModule from "@castellan/core/playbook/PlaybookRuns"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { ExecEvent } from "@castellan/core/sandcastle/SandboxRuntime"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { sales } from "@castellan/testing/scripted/ScriptedDriver"
import { calls, failing, says, ScriptedModel, stalling } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { as, page, publish, ready, refused, run, runsOf } from "./PlaybookWorld.ts"

const world = Deployment.layer({ script: () => says("# Sales\n\nUp **4 %**.") })

describe("PlaybookExecution.run", () => {
  it.effect("asks the prompt in a chat of its own and makes a report of the answer", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const { assets, chatId, htmlPreview, report } = yield* run(admin, playbook.id)
      assert.strictEqual(report.subject, "Weekly sales")
      assert.strictEqual(report.summary, "Up 4 %.")
      assert.strictEqual(report.chatId, chatId)
      assert.deepStrictEqual(report.blocks, [
        { _tag: "Hero", heading: "Weekly sales" },
        { _tag: "Text", heading: "Sales", content: "Up **4 %**." }
      ])
      assert.include(htmlPreview, "<strong>4 %</strong>")
      assert.deepStrictEqual(assets, [])
      const { chat } = yield* Chats.use((chats) => as(admin)(chats.get(chatId)))
      assert.strictEqual(chat.source, "playbook")
      assert.strictEqual(chat.firstQuestion, "How did sales go?")
      assert.strictEqual(chat.activity._tag, "Idle")
    }).pipe(Effect.provide(world))
  )

  it.effect(
    "a figure that a program draws is a picture of the report, and the program is recorded as the playbook's",
    () =>
      Effect.gen(function* () {
        const admin = Fixture.adminOf(yield* Fixture.tenant())
        const playbook = yield* ready(admin)
        const { assets, report } = yield* run(admin, playbook.id)
        const [figure] = assets
        assert.isDefined(figure)
        assert.deepStrictEqual([figure.kind, figure.name, figure.formats], ["image", "Sales by week", ["png"]])
        assert.deepInclude(report.blocks, {
          _tag: "Image",
          heading: "Sales by week",
          image: { _tag: "Asset", assetId: figure.id },
          alt: "Sales by week",
          variant: "none"
        })
        const sandcastles = yield* Sandcastles
        const { items } = yield* as(admin)(sandcastles.list({ status: "all", limit: 10 }))
        const [sandcastle] = items
        assert.isDefined(sandcastle)
        const executions = yield* as(admin)(sandcastles.executions(sandcastle.id, { limit: 10 }))
        assert.deepStrictEqual(
          executions.items.map(({ kind, source }) => [kind, source]),
          [["python", "playbook"]]
        )
      }).pipe(
        Effect.provide(
          Deployment.layer({
            teaches: () => [
              ExecEvent.cases.Rich.make({
                forms: [{ mediaType: "image/png", body: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a) }]
              })
            ],
            script: [calls("python", { title: "Sales by week", code: "draw()" }), says("# Sales\n\nUp **4 %**.")]
          })
        )
      )
  )

  it.effect("keeps the run with its trigger, its times and one delivery for each target", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const { chatId, report } = yield* run(admin, playbook.id)
      const { items, totalCount } = yield* runsOf(admin, playbook.id)
      assert.strictEqual(totalCount, 1)
      const view = items[0]
      assert.isDefined(view)
      assert.strictEqual(view.run.trigger._tag, "Manual")
      assert.strictEqual(view.run.status._tag, "Completed")
      if (view.run.status._tag === "Completed") {
        assert.strictEqual(view.run.status.chatId, chatId)
        assert.strictEqual(view.run.status.reportId, report.id)
      }
      assert.deepStrictEqual(
        view.deliveries.map(({ status, target }) => [
          status._tag,
          target._tag === "Email" ? target.address : `${target.channelId} ${target.taggedUserIds.join()}`
        ]),
        [
          ["Pending", "ann@example.org"],
          ["Pending", "bob@example.org"],
          ["Pending", "C024BE91L U1"]
        ]
      )
      const shown = yield* Playbooks.use((playbooks) => as(admin)(playbooks.get(playbook.id, page)))
      assert.strictEqual(shown.reports.totalCount, 1)
      assert.strictEqual(shown.reports.items[0]?.report.id, report.id)
      assert.include(shown.reports.items[0]?.htmlPreview ?? "", "Weekly sales")
    }).pipe(Effect.provide(world))
  )

  it.effect("puts what the run made into the report: charts with their pictures, tables with their rows", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      yield* Fixture.connector(tenant.organizationId)
      yield* ScriptedModel.use((model) =>
        model.follow([
          calls("run_sql", { title: "All", connector: "warehouse", sql: "select * from sales" }, "one"),
          calls("make_table", { name: "Sales by region", result: "result_1" }, "two"),
          calls("make_chart", { name: "Chart", result: "result_1", specification: { mark: "bar" } }, "three"),
          says("Here it is.")
        ])
      )
      const playbook = yield* ready(admin)
      const { assets, htmlPreview, report } = yield* run(admin, playbook.id)
      assert.deepStrictEqual(
        assets.map((asset) => [asset.kind, asset.name]),
        [
          ["table", "Sales by region"],
          ["chart", "Chart"]
        ]
      )
      assert.deepInclude(
        report.blocks.find((block) => block._tag === "Table"),
        {
          heading: "Sales by region",
          columns: [
            { name: "region", numeric: false },
            { name: "amount", numeric: true },
            { name: "note", numeric: false }
          ],
          rows: [
            ["north", "120", 'first, and "best"'],
            ["south", "80", ""],
            ["west", "45", "a | b"]
          ]
        }
      )
      const chart = report.blocks.find((block) => block._tag === "Chart")
      assert.strictEqual(chart?.heading, "Chart")
      assert.strictEqual(chart?.assetId, assets[1]?.id)
      assert.match(htmlPreview, /<img src="data:image\/png;base64,[A-Za-z0-9+/]+=*" alt="Chart"/)
    }).pipe(Effect.provide(Deployment.layer({ tables: [sales] })))
  )

  it.effect("answers what is malformed, hidden or not allowed, in this order, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const playbooks = yield* Playbooks
      const empty = yield* as(admin)(playbooks.create)
      const noPrompt = "invalid_request: prompt: the playbook has no prompt to run"
      assert.strictEqual(yield* refused(run(admin, empty.id)), noPrompt)
      assert.strictEqual(
        yield* refused(PlaybookExecution.use((execution) => as(admin)(execution.validate(empty.id)))),
        noPrompt
      )
      const stranger = yield* Fixture.someone(tenant)
      assert.strictEqual(yield* refused(run(stranger, empty.id)), "not_found: playbook not found")
      const unknown = PlaybookId.make(yield* Sample.chatId)
      assert.strictEqual(yield* refused(run(admin, unknown)), "not_found: playbook not found")
      const playbook = yield* ready(admin)
      yield* publish(playbook)
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      assert.strictEqual(
        yield* refused(run(powerless, playbook.id)),
        "permission_denied: permission denied: playbook:run is required"
      )
      yield* as(admin)(playbooks.delete(playbook.id))
      assert.strictEqual(yield* refused(run(admin, playbook.id)), "not_found: playbook not found")
      const runs = yield* PlaybookRunStore
      assert.strictEqual((yield* runs.ofPlaybook(admin, playbook.id, page)).totalCount, 0)
      assert.strictEqual((yield* runs.ofPlaybook(admin, empty.id, page)).totalCount, 0)
      const chats = yield* Chats.use((all) =>
        as(admin)(all.list({ ...page, sortBy: "updated_at", sortDirection: "desc" }))
      )
      assert.strictEqual(chats.totalCount, 0)
    }).pipe(Effect.provide(world))
  )

  it.effect("a role that may run playbooks, and not chat, may run them", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const playbook = yield* ready(admin)
      const role = yield* Fixture.role(tenant.organizationId, { permissions: ["playbook:run"] })
      const someone = yield* Fixture.someone(tenant, { roles: [role] })
      yield* publish(playbook)
      const { report } = yield* run(someone, playbook.id)
      assert.strictEqual(report.creator.memberId, someone.memberId)
    }).pipe(Effect.provide(world))
  )

  it.effect("a dry run answers, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const audit = yield* AuditStore
      const before = (yield* audit.list(admin.organizationId, { limit: 100 })).items.length
      yield* PlaybookExecution.use((execution) => as(admin)(execution.validate(playbook.id)))
      assert.strictEqual((yield* runsOf(admin, playbook.id)).totalCount, 0)
      assert.strictEqual((yield* audit.list(admin.organizationId, { limit: 100 })).items.length, before)
      assert.deepStrictEqual(yield* ScriptedModel.use((model) => model.recorded), [])
    }).pipe(Effect.provide(world))
  )

  it.effect("fails as the run failed, and keeps why", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      yield* ScriptedModel.use((model) => model.follow([failing({ message: "the model is down" })]))
      const failure = yield* refused(run(admin, playbook.id))
      assert.match(failure, /^execution_failed: .*the model is down/)
      const { items } = yield* runsOf(admin, playbook.id)
      const status = items[0]?.run.status
      assert.strictEqual(status?._tag, "Failed")
      if (status?._tag === "Failed") assert.strictEqual(`${status.failure}: ${status.error}`, failure)
      assert.deepStrictEqual(items[0]?.deliveries, [])
    }).pipe(Effect.provide(world))
  )

  it.effect("a run that says and makes nothing has no report", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      yield* ScriptedModel.use((model) => model.follow([says("---\n")]))
      assert.strictEqual(yield* refused(run(admin, playbook.id)), "no_report: the run finished without a report")
      assert.strictEqual((yield* runsOf(admin, playbook.id)).items[0]?.run.status._tag, "Failed")
    }).pipe(Effect.provide(world))
  )

  it.effect("past its time limit it times out, and its chat stops", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      yield* ScriptedModel.use((model) => model.follow([stalling()]))
      const waiting = yield* Effect.forkChild(Effect.flip(run(admin, playbook.id)))
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* TestClock.adjust("11 minutes")
      const failure = yield* Fiber.join(waiting)
      assert.strictEqual(failure.code, "timeout")
      const { items } = yield* runsOf(admin, playbook.id)
      const status = items[0]?.run.status
      assert.strictEqual(status?._tag, "Failed")
      if (status?._tag === "Failed") assert.strictEqual(status.failure, "timeout")
      const recorded = yield* ScriptedModel.use((model) => model.recorded)
      assert.deepStrictEqual(
        recorded.map(({ outcome }) => outcome),
        ["interrupted"]
      )
    }).pipe(Effect.provide(world))
  )

  it.effect("goes on when whoever waits leaves", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const execution = yield* PlaybookExecution
      yield* ScriptedModel.use((model) => model.follow([stalling()]))
      const waiting = yield* Effect.forkChild(as(admin)(execution.run(playbook.id)))
      yield* ScriptedModel.use((model) => model.asked(1))
      yield* Fiber.interrupt(waiting)
      const begun = (yield* runsOf(admin, playbook.id)).items[0]?.run
      assert.isDefined(begun)
      assert.strictEqual(begun.status._tag, "Running")
      // The same run, waited for again: it is not asked again, and ends as it ends.
      const wait = yield* PlaybookRunner.use((runner) => runner.start(begun))
      if (begun.status._tag === "Running") {
        const { chatId } = begun.status
        yield* Chats.use((chats) => as(admin)(chats.cancel(chatId)))
      }
      assert.strictEqual((yield* Effect.flip(wait)).code, "cancelled")
      assert.strictEqual((yield* runsOf(admin, playbook.id)).items[0]?.run.status._tag, "Cancelled")
      assert.strictEqual((yield* ScriptedModel.use((model) => model.recorded)).length, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("one that has ended answers the same again, and is not resumed", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const { report } = yield* run(admin, playbook.id)
      const ended = (yield* runsOf(admin, playbook.id)).items[0]?.run
      assert.isDefined(ended)
      const again = yield* yield* PlaybookRunner.use((runner) => runner.start(ended))
      assert.deepStrictEqual(again.status, ended.status)
      const sent = yield* DeliveryStore.use((store) => store.ofRuns(admin.organizationId, [ended.id]))
      assert.strictEqual(sent.length, 3)
      assert.strictEqual(sent[0]?.reportId, report.id)
      const later = DateTime.add(yield* DateTime.now, { days: 1 })
      assert.strictEqual(yield* PlaybookExecution.use((execution) => execution.resume(later)), 0)
    }).pipe(Effect.provide(world))
  )

  it.effect("a queued run that two servers take up is asked once", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const left = yield* AutomationSample.playbookRun(admin, playbook)
      const store = yield* PlaybookRunStore
      yield* store.open(left)
      // The other server has seen the run while it was queued, and comes too late.
      let looks = 0
      const late = PlaybookRunsModule.layer.pipe(
        Layer.provide(
          Layer.succeed(PlaybookRunStore, {
            ...store,
            get: (organizationId, id) => (looks++ === 0 ? Effect.succeedSome(left) : store.get(organizationId, id))
          })
        )
      )
      const { PlaybookRuns } = PlaybookRunsModule
      const carryOut = PlaybookRuns.use((runs) => runs.carryOut(left))
      const one = yield* carryOut
      assert.strictEqual(one.status._tag, "Completed")
      assert.deepStrictEqual((yield* carryOut.pipe(Effect.provide(Layer.fresh(late)))).status, one.status)
      assert.strictEqual((yield* ScriptedModel.use((model) => model.recorded)).length, 1)
    }).pipe(Effect.provide(world))
  )

  it.effect("a run whose server stopped before its chat was begun is taken up, and reports", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      const chat = yield* Sample.chat(admin)
      const chatRun = yield* Sample.run(admin, chat)
      yield* ChatStore.use((store) => store.open(chat, chatRun))
      const left = yield* AutomationSample.playbookRun(admin, playbook, {
        status: PlaybookRunStatus.cases.Running.make({
          chatId: chat.id,
          runId: chatRun.id,
          startedAt: yield* DateTime.now
        })
      })
      yield* PlaybookRunStore.use((store) => store.open(left))
      const taken = yield* yield* PlaybookRunner.use((runner) => runner.start(left))
      assert.strictEqual(taken.status._tag, "Completed")
    }).pipe(Effect.provide(world))
  )

  it.effect("is on the record, with the chat and the report that came of it", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* ready(admin)
      yield* run(admin, playbook.id)
      const { items } = yield* AuditStore.use((audit) => audit.list(admin.organizationId, { limit: 100 }))
      assert.sameMembers(
        items.map(({ action, target }) => `${action} ${target.type}`),
        ["create playbook", "update playbook", "create chat", "run run", "run playbook", "create report"]
      )
    }).pipe(Effect.provide(world))
  )
})
