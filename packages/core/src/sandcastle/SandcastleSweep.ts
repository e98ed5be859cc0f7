/**
 * What is put in order by the clock, on every server and for every organization: sandcastles that nobody uses are
 * stopped, and so are those whose server is not there any more, with what it was running.
 *
 * Source: decisions.md §7 ("Idle sandcastles stop after 15 minutes"); issue "Sandcastles", §2 ("orphans reaped after a
 * crash of the server").
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import { CurrentPrincipal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { Execution } from "./Execution.ts"
import { end, ExecutionEvent } from "./ExecutionState.ts"
import { ExecutionStore } from "./ExecutionStore.ts"
import { isIdle, type Sandcastle, serverLease } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import { type IsAlive, SandcastleSessions } from "./SandcastleSessions.ts"
import { SandcastleEvent } from "./SandcastleState.ts"
import { SandcastleStore } from "./SandcastleStore.ts"
import * as SessionUse from "./SessionUse.ts"
import { sweepPrincipal } from "./SweepPrincipal.ts"

/** What was put in order by a sweep. */
export interface Swept {
  /** Sandcastles that were stopped, because they were idle or because their server is gone. */
  readonly stopped: number
}

/** Sandcastles, and executions, that one sweep looks after at most: the next one goes on. */
const atOnce = 1000

/** Time that a server which ends takes for saying that its sandcastles end with it. */
const endingTime = Duration.seconds(5)

/** How often sessions that were left behind elsewhere are looked for. */
const reapInterval = Duration.minutes(10)

/** How long after the end of its session an execution is left to whoever ran it. */
const endingGrace = Duration.minutes(1)

/** The sweep over the stores and the sessions of this process. */
export const make = Effect.gen(function* () {
  const executions = yield* ExecutionStore
  const limits = yield* SandcastleLimits
  const open = yield* SandcastleSessions
  const sessions = yield* SessionUse.make
  const store = yield* SandcastleStore
  const useCase = yield* UseCase

  /** Stops a sandcastle that the sweep found idle, unless somebody uses it after all. */
  const stopIdle = Effect.fnUntraced(function* (found: Sandcastle) {
    if (yield* open.isBusy(found.id)) return false
    const attempt = { action: "stop", target: SessionUse.target(found.id) } as const
    const judged = (event: SandcastleEvent, entries: ReadonlyArray<AuditEntry>) =>
      useCase.run(
        attempt,
        Effect.fnUntraced(function* (principal) {
          const now = yield* DateTime.now
          const sandcastle = yield* store.get(principal.organizationId, found.id)
          if (Option.isNone(sandcastle) || !isIdle(sandcastle.value, now, limits.idle)) {
            return { answer: false, entries: [] }
          }
          const changed = SessionUse.after(sandcastle.value, event, now)
          // One that is not running any more is not to be found stale first.
          if (Result.isFailure(changed)) return { answer: sandcastle.value.status._tag !== "Stopped", entries: [] }
          const isKept = yield* store.replace(sandcastle.value, changed.success)
          return { answer: isKept, entries: isKept ? entries : [] }
        })
      )
    if (!(yield* judged(SandcastleEvent.cases.Expire.make({}), []))) return false
    yield* open.close(found.id)
    return yield* judged(SandcastleEvent.cases.Stop.make({ cause: "idle" }), [
      { ...attempt, after: { status: "stopped", cause: "idle" } }
    ])
  })

  /** Notes that what somebody is using here is in use: other servers know of no use but what is kept. */
  const keepBusy = Effect.gen(function* () {
    for (const { id, organizationId } of yield* open.all) {
      if (!(yield* open.isBusy(id))) continue
      const found = yield* store.get(organizationId, id)
      if (Option.isNone(found)) continue
      const used = sessions.note(id, SandcastleEvent.cases.Use.make({}))
      yield* Effect.provideService(used, CurrentPrincipal, sweepPrincipal(found.value))
    }
  })

  /** Closes the sessions of this process whose sandcastles were stopped, or taken over, by another since they were opened. */
  const closeReleased = Effect.gen(function* () {
    for (const { id, openedAt, organizationId } of yield* open.all) {
      const found = yield* store.get(organizationId, id)
      if (Option.isNone(found)) continue
      const { serverId, status } = found.value
      // One that is being started again is kept as it was until its new session is open.
      const releasedAt =
        status._tag === "Stopped" ? status.releasedAt : serverId === open.serverId ? undefined : status.startedAt
      if (releasedAt !== undefined && DateTime.isGreaterThan(releasedAt, openedAt)) yield* open.close(id)
    }
  })

  /** Stops a sandcastle whose session is lost, where it still is. */
  const stopLost = Effect.fnUntraced(function* (
    found: Sandcastle,
    isLost: (sandcastle: Sandcastle, now: DateTime.Utc) => Effect.Effect<boolean>
  ) {
    const attempt = { action: "stop", target: SessionUse.target(found.id) } as const
    return yield* useCase
      .run(
        attempt,
        Effect.fnUntraced(function* (principal) {
          const now = yield* DateTime.now
          const sandcastle = yield* store.get(principal.organizationId, found.id)
          const unchanged = { answer: false, entries: [] }
          if (Option.isNone(sandcastle) || !(yield* isLost(sandcastle.value, now))) return unchanged
          const stopped = SessionUse.after(sandcastle.value, SandcastleEvent.cases.Stop.make({ cause: "lost" }), now)
          if (Result.isFailure(stopped) || !(yield* store.replace(sandcastle.value, stopped.success))) return unchanged
          return { answer: true, entries: [{ ...attempt, after: { status: "stopped", cause: "lost" } }] }
        })
      )
      .pipe(Effect.provideService(CurrentPrincipal, sweepPrincipal(found)))
  })

  /** Stops a sandcastle whose server is not there any more. */
  const stopAbandoned = (found: Sandcastle) =>
    stopLost(found, ({ id, organizationId }, now) =>
      Effect.map(store.isHeld(organizationId, id, now), (isHeld) => !isHeld)
    )

  /** Stops what this server has: it ends, and its sessions with it. Whatever is left out is found by the others. */
  const letGo = Effect.gen(function* () {
    for (const { id, organizationId } of yield* open.all) {
      const found = yield* store.get(organizationId, id)
      if (Option.isNone(found)) continue
      yield* stopLost(found.value, ({ serverId }) => Effect.succeed(serverId === open.serverId))
    }
  }).pipe(
    Effect.timeout(endingTime),
    Effect.tapCause((cause) => Effect.logWarning("sandcastles of this server could not be stopped as it ended", cause)),
    Effect.ignoreCause
  )
  yield* Effect.addFinalizer(() => letGo)

  /** Whether an execution without an end cannot have one any more: its session is closed, or another was opened since. */
  const isOver = Effect.fnUntraced(function* (execution: Execution, sandcastle: Sandcastle, now: DateTime.Utc) {
    const { id, organizationId, status } = sandcastle
    const closedAt = status._tag === "Stopped" ? status.releasedAt : status.startedAt
    if (status._tag !== "Stopped" && !DateTime.isGreaterThan(closedAt, execution.createdAt)) return false
    // What was running then is being recorded by the server that ran it, unless that is not there any more.
    if (DateTime.isGreaterThanOrEqualTo(now, DateTime.addDuration(closedAt, endingGrace))) return true
    return !(yield* store.isHeld(organizationId, id, now))
  })

  /** Ends an execution that its server has left without an end. */
  const endLeft = Effect.fnUntraced(function* (found: Execution) {
    const { id, organizationId, sandcastleId } = found
    const now = yield* DateTime.now
    const sandcastle = yield* store.get(organizationId, sandcastleId)
    if (Option.isNone(sandcastle) || !(yield* isOver(found, sandcastle.value, now))) return
    yield* useCase
      .run(
        { action: "execute", target: { type: "execution", id } },
        Effect.fnUntraced(function* () {
          const execution = yield* executions.get(organizationId, id)
          const event = ExecutionEvent.cases.Fail.make({
            error: "the server that ran it, or its session, ended before it did"
          })
          if (Option.isSome(execution)) {
            const ended = end(execution.value, event, now, execution.value.outputPreview)
            if (Result.isSuccess(ended)) yield* executions.end(ended.success)
          }
          return { answer: undefined, entries: [] }
        })
      )
      .pipe(Effect.provideService(CurrentPrincipal, sweepPrincipal(sandcastle.value)))
  })

  /** Whether a sandcastle is kept as one that runs: its session is not to be ended. */
  const isAlive: IsAlive = ({ id, organizationId }) =>
    Effect.map(store.get(organizationId, id), (found) => Option.isSome(found) && found.value.status._tag !== "Stopped")

  const reapedAt = yield* Ref.make(Option.none<DateTime.Utc>())
  /** Ends the sessions that were left behind elsewhere, once in a while. Where that fails, all else goes on. */
  const reap = Effect.fnUntraced(function* (now: DateTime.Utc) {
    const before = yield* Ref.get(reapedAt)
    if (Option.isSome(before) && DateTime.isLessThan(now, DateTime.addDuration(before.value, reapInterval))) return
    yield* Ref.set(reapedAt, Option.some(now))
    yield* Effect.catch(open.reap(isAlive), (error) =>
      Effect.logError("sessions that were left behind could not be ended", error)
    )
  })

  return {
    /**
     * Stops what was idle too long, and what its server left behind: background work, for every organization. Several
     * servers may sweep at once. To be done once a minute: by it, the others know that this server is there.
     */
    sweep: Effect.gen(function* () {
      const now = yield* DateTime.now
      yield* store.renew(open.serverId, DateTime.addDuration(now, serverLease))
      yield* keepBusy
      const idle = yield* store.idleSince(DateTime.subtractDuration(now, limits.idle))
      const stopped = yield* Effect.forEach(idle, (sandcastle) =>
        Effect.provideService(stopIdle(sandcastle), CurrentPrincipal, sweepPrincipal(sandcastle))
      )
      const lost = yield* Effect.forEach(yield* store.abandoned(now, atOnce), stopAbandoned)
      const left = yield* executions.unfinished(DateTime.subtractDuration(now, endingGrace), atOnce)
      yield* Effect.forEach(left, endLeft, { discard: true })
      yield* closeReleased
      yield* reap(now)
      const swept: Swept = { stopped: [...stopped, ...lost].filter((was) => was).length }
      return swept
    }).pipe(Effect.withSpan("Sandcastles.sweep"))
  }
})
