import { AuditStore } from "@castellan/core/audit/AuditStore"
import { Chats } from "@castellan/core/chat/Chats"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { Playbook, type PlaybookId } from "@castellan/core/playbook/Playbook"
import { PlaybookRunner } from "@castellan/core/playbook/PlaybookRunner"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import * as SchedulesModule from "@castellan/core/schedule/Schedules"
import { ScheduleStore } from "@castellan/core/schedule/ScheduleStore"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says, ScriptedModel, stalling } from "@castellan/testing/scripted/ScriptedModel"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Grantee } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { as, page, ready, runsOf, world } from "../playbook/PlaybookWorld.ts"

const { Schedules } = SchedulesModule

const at = (text: string) => DateTime.makeUnsafe(text)

/** Sets the clock to a moment, and lets the scheduler work. */
const fireAt = Effect.fnUntraced(function* (moment: string) {
  yield* TestClock.setTime(DateTime.toEpochMillis(at(moment)))
  return (yield* Schedules.use((schedules) => schedules.fireDue(at(moment)))).runs.length
})

/** The runs of a playbook, oldest first, once they have ended: when they were due, and what came of them. */
const history = Effect.fnUntraced(function* (principal: Principal, id: PlaybookId) {
  const { items } = yield* runsOf(principal, id)
  const ended = yield* Effect.forEach(items.toReversed(), ({ run }) =>
    Effect.flatMap(
      PlaybookRunner.use((runner) => runner.start(run)),
      (wait) =>
        Effect.match(wait, {
          onSuccess: () => "Completed",
          onFailure: (failure) => `${failure.code}: ${failure.message}`
        }).pipe(
          Effect.map((outcome) =>
            run.trigger._tag === "Schedule" ? `${DateTime.formatIso(run.trigger.dueAt)} ${outcome}` : outcome
          )
        )
    )
  )
  return ended
})

const deployed = Effect.fnUntraced(function* (principal: Principal, cronString: string, timeZone = "UTC") {
  yield* TestClock.setTime(DateTime.toEpochMillis(at("1970-01-01T00:00:30Z")))
  const playbook = yield* ready(principal, { cronString, timeZone })
  yield* Playbooks.use((playbooks) => as(principal)(playbooks.deploy(playbook.id)))
  return playbook
})

describe("Schedules.fireDue", () => {
  it.effect("starts a run at each due time, and none before it", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "0 8 * * *")
      assert.strictEqual(yield* fireAt("1970-01-01T07:59:59.999Z"), 0)
      assert.strictEqual(yield* fireAt("1970-01-01T08:00:00Z"), 1)
      assert.strictEqual(yield* fireAt("1970-01-01T08:00:01Z"), 0)
      assert.strictEqual(yield* fireAt("1970-01-02T08:00:10Z"), 1)
      assert.deepStrictEqual(yield* history(admin, playbook.id), [
        "1970-01-01T08:00:00.000Z Completed",
        "1970-01-02T08:00:00.000Z Completed"
      ])
      const shown = yield* Playbooks.use((playbooks) => as(admin)(playbooks.get(playbook.id, page)))
      assert.strictEqual(shown.reports.totalCount, 2)
    }).pipe(Effect.provide(world()))
  )

  it.effect("of many that try at once, one starts the run", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "0 8 * * *")
      const fired = yield* Effect.all(
        Array.from({ length: 20 }, () => fireAt("1970-01-01T08:00:00Z")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(
        fired.reduce((sum, count) => sum + count, 0),
        1
      )
      assert.strictEqual((yield* history(admin, playbook.id)).length, 1)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a server that was about to fire finds that another was faster", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "0 8 * * *")
      const store = yield* ScheduleStore
      const seen = yield* store.due(at("1970-01-01T08:00:00Z"), 10)
      assert.strictEqual(seen.length, 1)
      assert.strictEqual(yield* fireAt("1970-01-01T08:00:00Z"), 1)
      const late = SchedulesModule.layer.pipe(
        Layer.provide(Layer.succeed(ScheduleStore, { ...store, due: () => Effect.succeed(seen) }))
      )
      const round = yield* Schedules.use((schedules) => schedules.fireDue(at("1970-01-01T08:00:01Z"))).pipe(
        Effect.provide(Layer.fresh(late))
      )
      assert.deepStrictEqual(round.runs, [])
      assert.strictEqual((yield* history(admin, playbook.id)).length, 1)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a due time that has its run, and comes again by a clock that was behind, leaves no chat behind", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "0 8 * * *")
      const store = yield* ScheduleStore
      const [due] = yield* store.due(at("1970-01-01T08:00:00Z"), 10)
      assert.isDefined(due)
      assert.strictEqual(yield* fireAt("1970-01-01T08:00:00Z"), 1)
      assert.strictEqual((yield* history(admin, playbook.id)).length, 1)
      yield* store.save(due)
      assert.strictEqual(yield* fireAt("1970-01-01T08:00:01Z"), 0)
      assert.strictEqual((yield* runsOf(admin, playbook.id)).totalCount, 1)
      const query = { limit: 10, offset: 0, sortBy: "created_at", sortDirection: "asc" } as const
      const chats = yield* Chats.use((all) => as(admin)(all.list(query)))
      assert.deepStrictEqual([chats.totalCount, chats.chats[0]?.chat.activity._tag], [1, "Idle"])
      const next = Option.map(yield* store.get(playbook.organizationId, playbook.id), ({ nextDueAt }) => nextDueAt)
      assert.deepStrictEqual(next, Option.some(at("1970-01-02T08:00:00Z")))
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "a prompt that was changed while a server was about to fire does not run with the authority of before",
    () =>
      Effect.gen(function* () {
        const tenant = yield* Fixture.tenant()
        const admin = Fixture.adminOf(tenant)
        const writer = yield* Fixture.role(tenant.organizationId, { permissions: ["playbook:read", "playbook:write"] })
        const editor = yield* Fixture.someone(tenant, { roles: [writer], fullMemberAccess: true })
        const playbook = yield* deployed(admin, "0 8 * * *")
        const shared = [{ grantee: Grantee.cases.Member.make({ id: editor.memberId }), accessType: "editor" as const }]
        const plays = yield* PlaybookStore
        const now = Option.getOrThrow(yield* plays.get(tenant.organizationId, playbook.id))
        yield* plays.save(new Playbook({ ...now, access: { ...now.access, grants: shared } }))
        const store = yield* ScheduleStore
        const seen = yield* store.due(at("1970-01-01T08:00:00Z"), 10)
        yield* TestClock.setTime(DateTime.toEpochMillis(at("1970-01-01T08:00:00Z")))
        yield* Playbooks.use((playbooks) => as(editor)(playbooks.update(playbook.id, { prompt: "Mine." })))
        const late = SchedulesModule.layer.pipe(
          Layer.provide(Layer.succeed(ScheduleStore, { ...store, due: () => Effect.succeed(seen) }))
        )
        const round = yield* Schedules.use((schedules) => schedules.fireDue(at("1970-01-01T08:00:00Z"))).pipe(
          Effect.provide(Layer.fresh(late))
        )
        assert.deepStrictEqual(round.runs, [])
        // It is still due, and whoever changed it has no leave to run it.
        assert.strictEqual(yield* fireAt("1970-01-01T08:00:01Z"), 1)
        const [run] = (yield* runsOf(admin, playbook.id)).items
        assert.strictEqual(run?.run.principal.memberId, editor.memberId)
        assert.strictEqual(run?.run.status._tag, "Failed")
      }).pipe(Effect.provide(world()))
  )

  it.effect("fires once on return for all the due times that were missed", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "@hourly")
      assert.strictEqual(yield* fireAt("1970-01-03T12:34:56Z"), 1)
      assert.strictEqual(yield* fireAt("1970-01-03T12:59:59Z"), 0)
      assert.strictEqual(yield* fireAt("1970-01-03T13:00:00Z"), 1)
      assert.deepStrictEqual(yield* history(admin, playbook.id), [
        "1970-01-01T01:00:00.000Z Completed",
        "1970-01-03T13:00:00.000Z Completed"
      ])
    }).pipe(Effect.provide(world()))
  )

  it.effect("does not fire a draft, an undeployed or a deleted playbook, nor one without a cron", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbooks = yield* Playbooks
      const [undeployed, deleted, cleared] = yield* Effect.all([
        deployed(admin, "@hourly"),
        deployed(admin, "@hourly"),
        deployed(admin, "@hourly")
      ])
      yield* ready(admin, { cronString: "@hourly" })
      yield* as(admin)(playbooks.undeploy(undeployed.id))
      yield* as(admin)(playbooks.delete(deleted.id))
      yield* as(admin)(playbooks.update(cleared.id, { cronString: "" }))
      assert.strictEqual(yield* fireAt("1970-01-02T00:00:00Z"), 0)
      yield* as(admin)(playbooks.update(cleared.id, { cronString: "@hourly" }))
      assert.strictEqual(yield* fireAt("1970-01-02T00:59:00Z"), 0)
      assert.strictEqual(yield* fireAt("1970-01-02T01:00:00Z"), 1)
    }).pipe(Effect.provide(world()))
  )

  it.effect("an edit that keeps the timing does not lose a due time that is near", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "0 8 * * *")
      yield* TestClock.setTime(DateTime.toEpochMillis(at("1970-01-01T08:00:03Z")))
      yield* Playbooks.use((playbooks) => as(admin)(playbooks.update(playbook.id, { prompt: "And costs?" })))
      assert.strictEqual(yield* fireAt("1970-01-01T08:00:05Z"), 1)
      const [view] = (yield* runsOf(admin, playbook.id)).items
      assert.strictEqual(view?.run.configuration.prompt, "And costs?")
    }).pipe(Effect.provide(world()))
  )

  it.effect("runs with the authority of whoever changed the playbook last, as far as they still have it", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const admin = Fixture.adminOf(tenant)
      const someone = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      const playbook = yield* deployed(admin, "@hourly")
      yield* Fixture.connector(tenant.organizationId)
      const schedules = yield* ScheduleStore
      const mandate = Effect.map(
        schedules.get(admin.organizationId, playbook.id),
        Option.map((schedule) => schedule.mandate.memberId)
      )
      assert.deepStrictEqual(yield* mandate, Option.some(admin.memberId))
      const playbooks = yield* Playbooks
      const { playbook: current } = yield* as(admin)(playbooks.get(playbook.id, page))
      const grant = { grantee: Grantee.cases.Member.make({ id: someone.memberId }), accessType: "editor" as const }
      yield* PlaybookStore.use((store) =>
        store.save(new Playbook({ ...current, access: { ...current.access, grants: [grant] } }))
      )
      yield* as(someone)(playbooks.update(playbook.id, { prompt: "Tell me all that the other may see." }))
      assert.deepStrictEqual(yield* mandate, Option.some(someone.memberId))
      // The member loses their roles: the schedule goes on firing, and its runs say why they cannot run.
      const members = yield* MemberStore
      const member = Option.getOrThrow(yield* members.get(tenant.organizationId, someone.memberId))
      yield* members.save(new Member({ ...member, roles: [] }))
      assert.strictEqual(yield* fireAt("1970-01-01T01:00:00Z"), 1)
      assert.deepStrictEqual(yield* history(admin, playbook.id), [
        "1970-01-01T01:00:00.000Z permission_denied: permission denied: the member it runs for holds no role any more"
      ])
      yield* members.save(
        new Member({ ...member, status: MemberStatus.cases.Deactivated.make({ at: at("1970-01-01T01:30:00Z") }) })
      )
      assert.strictEqual(yield* fireAt("1970-01-01T02:00:00Z"), 1)
      assert.strictEqual((yield* history(admin, playbook.id)).length, 2)
      assert.strictEqual((yield* ScriptedModel.use((model) => model.recorded)).length, 0)
    }).pipe(Effect.provide(world({ script: () => says("Fine.") })))
  )

  it.effect("a playbook without a prompt, or of which a connector is gone, leaves a failed run and goes on", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "@hourly")
      yield* Playbooks.use((playbooks) => as(admin)(playbooks.update(playbook.id, { prompt: "" })))
      assert.strictEqual(yield* fireAt("1970-01-01T01:00:00Z"), 1)
      assert.strictEqual(yield* fireAt("1970-01-01T02:00:00Z"), 1)
      assert.deepStrictEqual(yield* history(admin, playbook.id), [
        "1970-01-01T01:00:00.000Z invalid_request: prompt: the playbook has no prompt to run",
        "1970-01-01T02:00:00.000Z invalid_request: prompt: the playbook has no prompt to run"
      ])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a run that is still going on does not hold up the next due time", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "* * * * *")
      yield* ScriptedModel.use((model) => model.follow([stalling(), says("Fine.")]))
      assert.strictEqual(yield* fireAt("1970-01-01T00:01:00Z"), 1)
      assert.strictEqual(yield* fireAt("1970-01-01T00:02:00Z"), 1)
      assert.strictEqual((yield* runsOf(admin, playbook.id)).totalCount, 2)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is on the record as background work on the member's behalf", () =>
    Effect.gen(function* () {
      const admin = Fixture.adminOf(yield* Fixture.tenant())
      const playbook = yield* deployed(admin, "@hourly")
      yield* fireAt("1970-01-01T01:00:00Z")
      yield* history(admin, playbook.id)
      const { items } = yield* AuditStore.use((audit) =>
        audit.list(admin.organizationId, { limit: 100, from: at("1970-01-01T01:00:00Z") })
      )
      assert.sameMembers(
        items.map(({ action, actor, target }) => {
          assert.strictEqual(actor.memberId, admin.memberId)
          assert.deepInclude(actor.credential, { _tag: "System", name: "schedule" })
          return `${action} ${target.type}`
        }),
        ["create chat", "run run", "run playbook", "create report"]
      )
    }).pipe(Effect.provide(world()))
  )
})
