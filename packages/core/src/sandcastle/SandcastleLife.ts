/**
 * How sandcastles are listed, looked at and stopped; and stopped by themselves when nobody uses them.
 *
 * Source: decisions.md §7.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import { Credential, CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { PositionPage } from "../page/Page.ts"
import { ExecutionStore } from "./ExecutionStore.ts"
import { SandboxError, type SandboxUsage } from "./SandboxRuntime.ts"
import { isIdle, type Sandcastle, type SandcastleId } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import * as SandcastleStarting from "./SandcastleStarting.ts"
import { SandcastleEvent } from "./SandcastleState.ts"
import { type SandcastleQuery, SandcastleStore } from "./SandcastleStore.ts"
import * as SessionUse from "./SessionUse.ts"

/** A sandcastle with what its session uses and holds; absent where no session answers. */
export interface SandcastleView {
  readonly sandcastle: Sandcastle
  readonly usage?: SandboxUsage
}

/** What was put in order by a sweep. */
export interface Swept {
  /** Sandcastles that were stopped. */
  readonly stopped: number
}

/** The sweep as a principal: it acts as the maker of what it stops, and holds nothing. */
const sweeper = (sandcastle: Sandcastle): Principal =>
  new Principal({
    organizationId: sandcastle.organizationId,
    memberId: sandcastle.creator.memberId,
    roles: [],
    restricted: true,
    credential: Credential.cases.System.make({ name: "sandcastle-sweep" })
  })

/** Sandcastles over the stores and the sessions. */
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
      yield* Effect.provideService(used, CurrentPrincipal, sweeper(found.value))
    }
  })

  /** Closes the sessions of this process whose sandcastles were stopped by another since they were opened. */
  const closeReleased = Effect.gen(function* () {
    for (const { id, openedAt, organizationId } of yield* open.all) {
      const found = yield* store.get(organizationId, id)
      if (Option.isNone(found) || found.value.status._tag !== "Stopped") continue
      // One that is being started again is kept as stopped until its new session is open.
      if (DateTime.isGreaterThan(found.value.status.releasedAt, openedAt)) yield* open.close(id)
    }
  })

  return {
    ...(yield* SandcastleStarting.make),

    /** The caller's sandcastles, newest first. */
    list: Effect.fn("Sandcastles.list")(function* (query: Omit<SandcastleQuery, "reader">) {
      return yield* useCase.read({ action: "list", target: { type: "sandcastle" } }, (reader) =>
        Effect.andThen(enforce(requires(reader, "sandcastle:read")), store.list({ ...query, reader }))
      )
    }),

    /** A sandcastle with what its session uses and holds. Looking at it is no use of it. */
    get: Effect.fn("Sandcastles.get")(function* (id: SandcastleId) {
      const attempt = { action: "read", target: SessionUse.target(id) } as const
      const reading = useCase.read(attempt, (principal) => sessions.load(principal, id, "read"))
      const sandcastle = yield* reading
      if (sandcastle.status._tag === "Stopped") return { sandcastle } satisfies SandcastleView
      const usage = yield* Effect.option(
        Effect.flatMap(
          open.use(id, (session) => session.usage),
          (used) =>
            Option.isSome(used)
              ? Effect.succeed(used.value)
              : Effect.fail(new SandboxError({ reason: "lost", message: "no session is open here" }))
        )
      )
      const { Find, Lose } = SandcastleEvent.cases
      yield* sessions.note(id, Option.isSome(usage) ? Find.make({}) : Lose.make({}))
      const view: SandcastleView = {
        sandcastle: yield* reading,
        ...Option.match(usage, { onNone: () => ({}), onSome: (used) => ({ usage: used }) })
      }
      return view
    }),

    /** Stops a sandcastle with all that runs in it. Its executions stay listed. */
    stop: Effect.fn("Sandcastles.stop")(function* (id: SandcastleId) {
      const attempt = { action: "stop", target: SessionUse.target(id) } as const
      yield* useCase.run(
        attempt,
        Effect.fnUntraced(function* (principal) {
          const sandcastle = yield* sessions.load(principal, id, "stop")
          const event = SandcastleEvent.cases.Stop.make({ cause: "asked" })
          yield* store.save(yield* Effect.fromResult(SessionUse.after(sandcastle, event, yield* DateTime.now)))
          const entry: AuditEntry = { ...attempt, after: { status: "stopped", cause: "asked" } }
          return { answer: undefined, entries: [entry] }
        })
      )
      yield* open.close(id)
    }, Effect.uninterruptible),

    /** What ran in a sandcastle, newest first; also after it was stopped, until it is purged. */
    executions: Effect.fn("Sandcastles.executions")(function* (id: SandcastleId, page: PositionPage) {
      return yield* useCase.read({ action: "list", target: { type: "execution" } }, (principal) =>
        Effect.andThen(sessions.load(principal, id, "read"), executions.list(principal.organizationId, id, page))
      )
    }),

    /** Stops what was idle too long: background work, for every organization. Several servers may sweep at once. */
    sweep: Effect.gen(function* () {
      yield* keepBusy
      const now = yield* DateTime.now
      const idle = yield* store.idleSince(DateTime.subtractDuration(now, limits.idle))
      const stopped = yield* Effect.forEach(idle, (sandcastle) =>
        Effect.provideService(stopIdle(sandcastle), CurrentPrincipal, sweeper(sandcastle))
      )
      yield* closeReleased
      const swept: Swept = { stopped: stopped.filter((was) => was).length }
      return swept
    }).pipe(Effect.withSpan("Sandcastles.sweep"))
  }
})
