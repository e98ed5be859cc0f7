/**
 * Room for another sandcastle: no organization runs, and no server has open, more than it may. Where there is no room, a
 * chat's sandcastle that nobody has used for a while is stopped to make some: it is started again by itself when its
 * chat needs it. One that somebody started is left alone.
 *
 * Source: issue "Sandcastles", §2 ("caps per organization and per server with a clear error").
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Conflict } from "../error/Failure.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { count } from "../text/Count.ts"
import { isIdle, type Sandcastle, type SandcastleId } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import { SandcastleEvent } from "./SandcastleState.ts"
import { SandcastleStore } from "./SandcastleStore.ts"
import * as SessionUse from "./SessionUse.ts"
import { sweepPrincipal } from "./SweepPrincipal.ts"

/** Room, over the store and the sessions of this process. */
export const make = Effect.gen(function* () {
  const limits = yield* SandcastleLimits
  const open = yield* SandcastleSessions
  const store = yield* SandcastleStore
  const useCase = yield* UseCase

  const full = new Conflict({
    message: `this organization runs ${count(limits.perOrganization, "sandcastle")}, as many as it may: stop one, or wait until one has been idle for long enough to be stopped`
  })

  /** The sandcastles beside this one that count, unused for longest first. */
  const others = (organizationId: OrganizationId, id: SandcastleId) =>
    Effect.map(store.running(organizationId, limits.perOrganization + 1), (running) =>
      running.filter((one) => one.id !== id)
    )

  /** Whether a sandcastle may be stopped for the sake of another. */
  const isSpare = (sandcastle: Sandcastle, now: DateTime.Utc) =>
    sandcastle.chatId === undefined || !isIdle(sandcastle, now, limits.spareAfter)
      ? Effect.succeed(false)
      : Effect.map(open.isBusy(sandcastle.id), (isBusy) => !isBusy)

  /** Stops a sandcastle, unless somebody uses it after all. */
  const stopSpare = Effect.fnUntraced(function* (found: Sandcastle) {
    const attempt = { action: "stop", target: SessionUse.target(found.id) } as const
    const isStopped = yield* useCase
      .run(
        attempt,
        Effect.fnUntraced(function* () {
          const event = SandcastleEvent.cases.Stop.make({ cause: "idle" })
          const stopped = yield* Effect.orDie(Effect.fromResult(SessionUse.after(found, event, yield* DateTime.now)))
          const isKept = yield* store.replace(found, stopped)
          return {
            answer: isKept,
            entries: isKept ? [{ ...attempt, after: { status: "stopped", cause: "idle", for: "room" } }] : []
          }
        })
      )
      .pipe(Effect.provideService(CurrentPrincipal, sweepPrincipal(found)))
    if (isStopped) yield* open.close(found.id)
    return isStopped
  })

  /** Stops the first of some that can be spared; false where none can. */
  const spareOne = Effect.fnUntraced(function* (candidates: ReadonlyArray<Sandcastle>) {
    const now = yield* DateTime.now
    for (const candidate of candidates) {
      if ((yield* isSpare(candidate, now)) && (yield* stopSpare(candidate))) return true
    }
    return false
  })

  /** The sandcastles whose sessions are open here, unused for longest first. */
  const openHere = Effect.gen(function* () {
    const all = (yield* open.all).toSorted(
      (a, b) => DateTime.toEpochMillis(a.usedAt) - DateTime.toEpochMillis(b.usedAt)
    )
    const now = yield* DateTime.now
    const idle = all.filter(({ usedAt }) =>
      DateTime.isGreaterThanOrEqualTo(now, DateTime.addDuration(usedAt, limits.spareAfter))
    )
    const found = yield* Effect.forEach(idle, ({ id, organizationId }) => store.get(organizationId, id))
    return found.flatMap((one) => (Option.isSome(one) && one.value.status._tag !== "Stopped" ? [one.value] : []))
  })

  return {
    /** Fails where the organization runs as many beside this one as it may: part of the use case that keeps it. */
    require: (principal: Principal, id: SandcastleId): Effect.Effect<void, Conflict> =>
      Effect.flatMap(others(principal.organizationId, id), (running) =>
        running.length < limits.perOrganization ? Effect.void : Effect.fail(full)
      ),

    /** Makes room for a session as far as it can be made: before one is opened. */
    prepare: Effect.fnUntraced(function* (principal: Principal, id: SandcastleId) {
      const running = yield* others(principal.organizationId, id)
      if (running.length >= limits.perOrganization && !(yield* spareOne(running))) return yield* full
      // Where none can be spared, opening fails.
      if (!(yield* open.hasRoom(id))) yield* spareOne(yield* openHere)
    })
  }
})
