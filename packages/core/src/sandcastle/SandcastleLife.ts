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
import { CurrentPrincipal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { ChatId } from "../chat/Chat.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { PositionPage } from "../page/Page.ts"
import { ExecutionStore } from "./ExecutionStore.ts"
import { SandboxError, type SandboxUsage } from "./SandboxRuntime.ts"
import type { Sandcastle, SandcastleId } from "./Sandcastle.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import * as SandcastleStarting from "./SandcastleStarting.ts"
import * as SandcastleSweep from "./SandcastleSweep.ts"
import { SandcastleEvent } from "./SandcastleState.ts"
import { type SandcastleQuery, SandcastleStore } from "./SandcastleStore.ts"
import * as SessionUse from "./SessionUse.ts"
import { sweepPrincipal } from "./SweepPrincipal.ts"

/** A sandcastle with what its session uses and holds; absent where no session answers. */
export interface SandcastleView {
  readonly sandcastle: Sandcastle
  readonly usage?: SandboxUsage
}

/** Sandcastles over the stores and the sessions. */
export const make = Effect.gen(function* () {
  const executions = yield* ExecutionStore
  const open = yield* SandcastleSessions
  const sessions = yield* SessionUse.make
  const store = yield* SandcastleStore
  const useCase = yield* UseCase
  /** Stops a sandcastle that nobody needs any more, as its maker would. */
  const release = Effect.fnUntraced(function* (found: Sandcastle) {
    const attempt = { action: "stop", target: SessionUse.target(found.id) } as const
    yield* useCase
      .run(
        attempt,
        Effect.fnUntraced(function* () {
          const sandcastle = Option.getOrElse(yield* store.get(found.organizationId, found.id), () => found)
          const event = SandcastleEvent.cases.Stop.make({ cause: "asked" })
          const stopped = SessionUse.after(sandcastle, event, yield* DateTime.now)
          if (Result.isFailure(stopped)) return { answer: undefined, entries: [] }
          yield* store.save(stopped.success)
          return { answer: undefined, entries: [{ ...attempt, after: { status: "stopped", cause: "asked" } }] }
        })
      )
      .pipe(Effect.provideService(CurrentPrincipal, sweepPrincipal(found)))
    yield* open.close(found.id)
  }, Effect.uninterruptible)

  return {
    ...(yield* SandcastleStarting.make),
    ...(yield* SandcastleSweep.make),

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
      if (sandcastle.status._tag === "Stopped" || (yield* sessions.isElsewhere(sandcastle))) {
        return { sandcastle } satisfies SandcastleView
      }
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

    /** Stops the sandcastles that serve a chat which is no more. What ran in them stays listed. */
    releaseChat: Effect.fn("Sandcastles.releaseChat")(function* (organizationId: OrganizationId, chatId: ChatId) {
      yield* Effect.forEach(yield* store.ofChat(organizationId, chatId), release, { discard: true })
    }),

    /** What ran in a sandcastle, newest first; also after it was stopped, until it is purged. */
    executions: Effect.fn("Sandcastles.executions")(function* (id: SandcastleId, page: PositionPage) {
      return yield* useCase.read({ action: "list", target: { type: "execution" } }, (principal) =>
        Effect.andThen(sessions.load(principal, id, "read"), executions.list(principal.organizationId, id, page))
      )
    })
  }
})
