/**
 * What a host's scheduler does, again and again: it starts the runs of the playbooks that are due.
 *
 * A due time is taken in one transaction that starts its run and moves the schedule on, so that of all servers that
 * try, one does it, and none does it by half.
 *
 * Source: decisions.md §6 ("fires once per due time across all servers; a due time missed while all were down fires
 * once on return").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { type Failure, PermissionDenied } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { MemberStore } from "../member/MemberStore.ts"
import type { PlaybookConfiguration } from "../playbook/Playbook.ts"
import * as PlaybookAsking from "../playbook/PlaybookAsking.ts"
import { PlaybookRun, PlaybookRunId, PlaybookRunStatus, PlaybookRunTrigger } from "../playbook/PlaybookRun.ts"
import { PlaybookRunner } from "../playbook/PlaybookRunner.ts"
import { eventOf } from "../playbook/PlaybookRunOutcome.ts"
import { advance } from "../playbook/PlaybookRunState.ts"
import { PlaybookRunStore } from "../playbook/PlaybookRunStore.ts"
import { PlaybookStore } from "../playbook/PlaybookStore.ts"
import { RoleStore } from "../role/RoleStore.ts"
import { Runner } from "../run/Runner.ts"
import { principalOf, systemCredential } from "./Mandate.ts"
import { fired, type Schedule } from "./Schedule.ts"
import { ScheduleStore } from "./ScheduleStore.ts"

/** What a round of the scheduler did. */
export interface FiredRound {
  /** The runs that were started, and those that could not be: each stands for a due time. */
  readonly runs: ReadonlyArray<PlaybookRunId>
}

/** Fires schedules. */
export class Schedules extends Context.Service<
  Schedules,
  {
    /**
     * Starts a run for every schedule that is due at a moment. It may be called by every server as often as it likes:
     * a due time has one run. A run that may not be started is kept as failed, with the reason.
     */
    readonly fireDue: (now: DateTime.Utc) => Effect.Effect<FiredRound>
  }
>()("@castellan/core/schedule/Schedules") {}

/** Schedules of one round; what is left is due in the next. */
const roundSize = 1000

/** What became of a schedule in a round. */
interface Fired {
  readonly run: PlaybookRun
  /** Absent when the run could not be asked. */
  readonly chatRun?: PlaybookAsking.AskedPlaybookRun["chatRun"]
}

const target = (schedule: Schedule): AuditTarget => ({ type: "playbook", id: schedule.playbookId })

/** The use cases over the stores and the runners. */
export const layer: Layer.Layer<
  Schedules,
  never,
  | PlaybookAsking.Asks
  | MemberStore
  | PlaybookRunner
  | PlaybookRunStore
  | PlaybookStore
  | RoleStore
  | Runner
  | ScheduleStore
  | UseCase
> = Layer.effect(
  Schedules,
  Effect.gen(function* () {
    const ask = yield* PlaybookAsking.make
    const members = yield* MemberStore
    const playbookRunner = yield* PlaybookRunner
    const playbooks = yield* PlaybookStore
    const random = yield* SecureRandom.SecureRandom
    const roles = yield* RoleStore
    const runner = yield* Runner
    const runs = yield* PlaybookRunStore
    const store = yield* ScheduleStore
    const useCase = yield* UseCase

    /** On whose behalf a schedule fires now; a member who is gone has no authority left. */
    const actingFor = Effect.fnUntraced(function* (schedule: Schedule) {
      const { mandate, organizationId } = schedule
      const member = yield* members.get(organizationId, mandate.memberId)
      const existing = yield* roles.list(organizationId)
      return Option.match(member, {
        onSome: (found) => principalOf("schedule", mandate, found, existing),
        onNone: () =>
          new Principal({
            organizationId,
            memberId: mandate.memberId,
            roles: [],
            restricted: mandate.restricted,
            credential: systemCredential("schedule", mandate.key)
          })
      })
    })

    const queuedFor = Effect.fnUntraced(function* (
      schedule: Schedule,
      principal: Principal,
      configuration: PlaybookConfiguration
    ) {
      return new PlaybookRun({
        id: PlaybookRunId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
        organizationId: schedule.organizationId,
        playbookId: schedule.playbookId,
        trigger: PlaybookRunTrigger.cases.Schedule.make({ dueAt: schedule.nextDueAt }),
        principal,
        configuration,
        status: PlaybookRunStatus.cases.Queued.make({}),
        createdAt: yield* DateTime.now
      })
    })

    /** Takes a due time: moves the schedule on, and has its run begun; nothing where another was faster. */
    const take = <E>(
      due: Schedule,
      now: DateTime.Utc,
      begin: (
        queued: PlaybookRun
      ) => Effect.Effect<{ readonly fired: Fired; readonly entries: ReadonlyArray<AuditEntry> }, E>
    ) =>
      useCase.run({ action: "run", target: target(due) }, () =>
        Effect.gen(function* () {
          const nothing = { answer: Option.none<Fired>(), entries: [] }
          const current = yield* store.get(due.organizationId, due.playbookId)
          if (Option.isNone(current) || DateTime.isGreaterThan(current.value.nextDueAt, now)) return nothing
          const schedule = current.value
          // Changed since it was found due: it runs for whoever changed it, in the next round.
          if (!Equal.equals(schedule.mandate, due.mandate)) return nothing
          const playbook = yield* playbooks.get(schedule.organizationId, schedule.playbookId)
          const inForce = Option.isSome(playbook) && playbook.value.status._tag === "Deployed"
          const next = inForce ? fired(schedule, now) : Option.none()
          if (!(yield* store.take(schedule, next)) || !inForce) return nothing
          const queued = yield* queuedFor(schedule, yield* actingFor(schedule), playbook.value.configuration)
          // Before anything is asked: a due time that has its run already must not leave a chat that nobody runs.
          if (!(yield* runs.open(queued))) return nothing
          const begun = yield* begin(queued)
          yield* runs.save(begun.fired.run)
          return { answer: Option.some(begun.fired), entries: begun.entries }
        })
      )

    const asked = (queued: PlaybookRun) =>
      Effect.map(ask(queued), (done) => ({ fired: done.answer, entries: done.entries }))

    /** A run that cannot be asked is kept all the same, so that those who wait for its report learn why there is none. */
    const failed = (failure: Failure) => (queued: PlaybookRun) =>
      Effect.map(
        Effect.flatMap(DateTime.now, (at) => Effect.orDie(Effect.fromResult(advance(queued, eventOf(failure), at)))),
        (run) => {
          const entry: AuditEntry = {
            action: "run",
            target: { type: "playbook", id: run.playbookId },
            after: { run: run.id, trigger: "schedule", failure: failure.code, error: failure.message }
          }
          return { fired: { run }, entries: [entry] }
        }
      )

    const fire = Effect.fnUntraced(function* (due: Schedule, now: DateTime.Utc) {
      const principal = yield* actingFor(due)
      const gone = new PermissionDenied({ message: "permission denied: the member it runs for holds no role any more" })
      return yield* Effect.uninterruptible(
        (principal.roles.length === 0
          ? take(due, now, failed(gone))
          : take(due, now, asked).pipe(Effect.catch((failure) => take(due, now, failed(failure))))
        ).pipe(
          Effect.tap(
            Option.match({
              onNone: () => Effect.void,
              onSome: ({ chatRun, run }) =>
                chatRun === undefined
                  ? Effect.void
                  : Effect.andThen(runner.start(chatRun), Effect.asVoid(playbookRunner.start(run)))
            })
          ),
          Effect.provideService(CurrentPrincipal, principal)
        )
      )
    })

    return Schedules.of({
      fireDue: Effect.fn("Schedules.fireDue")(function* (now) {
        const due = yield* store.due(now, roundSize)
        const started: Array<PlaybookRunId> = []
        for (const schedule of due) {
          const outcome = yield* fire(schedule, now).pipe(
            // One schedule that cannot be fired does not keep the others from it: it stays due.
            Effect.catchDefect((defect) =>
              Effect.as(
                Effect.logError("a schedule could not be fired", defect).pipe(
                  Effect.annotateLogs({ playbook: schedule.playbookId, organization: schedule.organizationId })
                ),
                Option.none<Fired>()
              )
            )
          )
          if (Option.isSome(outcome)) started.push(outcome.value.run.id)
        }
        return { runs: started }
      })
    })
  })
)
