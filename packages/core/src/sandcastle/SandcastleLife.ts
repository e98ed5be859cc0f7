/**
 * How sandcastles come and go: started, listed, looked at, stopped; stopped by themselves when nobody uses them.
 *
 * Source: decisions.md §7.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import { Credential, CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { ChatId } from "../chat/Chat.ts"
import * as ChatPolicy from "../chat/ChatPolicy.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import { NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { PositionPage } from "../page/Page.ts"
import { ExecutionStore } from "./ExecutionStore.ts"
import * as LibraryStaging from "./LibraryStaging.ts"
import { SandboxError, type SandboxUsage } from "./SandboxRuntime.ts"
import { isIdle, Sandcastle, SandcastleId, SandcastleStatus } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import { SandcastleEvent } from "./SandcastleState.ts"
import { type SandcastleQuery, SandcastleStore } from "./SandcastleStore.ts"
import * as SessionUse from "./SessionUse.ts"

/** A sandcastle with what its session uses and holds; absent where no session answers. */
export interface SandcastleView {
  readonly sandcastle: Sandcastle
  readonly usage?: SandboxUsage
}

/** A sandcastle whose session is open here. */
export interface Served {
  readonly sandcastle: Sandcastle
  /** Whether the session is another than the one before it: whatever variables and files that one had are gone. */
  readonly stateLost: boolean
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
  const chats = yield* ChatStore
  const executions = yield* ExecutionStore
  const limits = yield* SandcastleLimits
  const open = yield* SandcastleSessions
  const sessions = yield* SessionUse.make
  const staging = yield* LibraryStaging.make
  const store = yield* SandcastleStore
  const useCase = yield* UseCase
  const random = yield* SecureRandom.SecureRandom
  const nextId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
    SandcastleId.make(id)
  )

  /** A chat that a new sandcastle is to serve: one that the principal may go on with. */
  const requireChat = Effect.fnUntraced(function* (principal: Principal, id: ChatId) {
    const chat = yield* chats.get(principal.organizationId, id)
    if (Option.isNone(chat)) return yield* new NotFound({ message: "chat not found" })
    yield* enforce(ChatPolicy.decide(principal, chat.value, "ask", yield* DateTime.now))
  })

  /** Starts of one sandcastle come one after another: of two at once, the second finds what the first one opened. */
  const turns = yield* RcMap.make({ lookup: (_id: SandcastleId) => Semaphore.make(1) })
  const inTurn = <A, E, R>(id: SandcastleId, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.scoped(Effect.flatMap(RcMap.get(turns, id), (turn) => turn.withPermits(1)(work)))

  /** What a session is to be opened for. */
  interface Opening {
    readonly id: SandcastleId
    /** The sandcastle as it was; absent: a new one. */
    readonly before?: Sandcastle
    readonly chatId?: ChatId
    /** Whether it may be started at all, beside the permission to execute. */
    readonly permit?: (principal: Principal) => Effect.Effect<void, SessionUse.SandcastleFailure>
  }

  /** Decides, and gathers what the session is to be opened with. */
  const prepare = (
    decided: (principal: Principal) => Effect.Effect<Opening, SessionUse.SandcastleFailure>,
    id?: SandcastleId
  ) =>
    useCase.run(
      { action: "create", target: { type: "sandcastle", ...(id === undefined ? {} : { id }) } },
      Effect.fnUntraced(function* (principal) {
        const opening = yield* decided(principal)
        yield* enforce(requires(principal, "sandcastle:execute"))
        if (opening.permit !== undefined) yield* opening.permit(principal)
        return { answer: { ...opening, principal, ...(yield* staging.mountable(principal)) }, entries: [] }
      })
    )

  /** Opens a session, and keeps that the sandcastle has it. */
  const begin = Effect.fnUntraced(function* (
    decided: (principal: Principal) => Effect.Effect<Opening, SessionUse.SandcastleFailure>,
    askedId?: SandcastleId
  ) {
    const { before, chatId, files, id, mount, principal } = yield* prepare(decided, askedId)
    const spec = { id, organizationId: principal.organizationId, library: files, require: limits.require }
    // An open session that nobody knows of would be nobody's to close.
    return yield* Effect.uninterruptibleMask((restore) =>
      restore(open.open(spec)).pipe(
        Effect.mapError(SessionUse.failureOf),
        Effect.flatMap((session) =>
          useCase
            .run(
              { action: "create", target: SessionUse.target(id) },
              Effect.fnUntraced(function* () {
                const now = yield* DateTime.now
                const sandcastle = new Sandcastle({
                  id,
                  organizationId: principal.organizationId,
                  creator: before?.creator ?? creatorOf(principal),
                  ...(chatId === undefined ? {} : { chatId }),
                  ...(mount === undefined ? {} : { library: mount }),
                  status: SandcastleStatus.cases.Running.make({ startedAt: now, lastUsedAt: now }),
                  createdAt: before?.createdAt ?? now
                })
                yield* store.save(sandcastle)
                const entry: AuditEntry = {
                  action: before === undefined ? "create" : "update",
                  target: SessionUse.target(id),
                  ...(before === undefined ? {} : { before: { status: before.status._tag.toLowerCase() } }),
                  after: { status: "running", ...(chatId === undefined ? {} : { chat: chatId }) }
                }
                const served: Served = { sandcastle, stateLost: before !== undefined && !session.resumed }
                return { answer: served, entries: [entry] }
              })
            )
            .pipe(Effect.onError(() => open.close(id)))
        )
      )
    )
  })

  const start = Effect.fn("Sandcastles.start")(function* (
    options: { readonly id?: SandcastleId; readonly chatId?: ChatId } = {}
  ) {
    const { chatId, id } = options
    const permit = (principal: Principal) => (chatId === undefined ? Effect.void : requireChat(principal, chatId))
    if (id === undefined) {
      const made: Opening = { id: yield* nextId, permit, ...(chatId === undefined ? {} : { chatId }) }
      return (yield* begin(() => Effect.succeed(made))).sandcastle
    }
    const found = (principal: Principal) =>
      Effect.map(sessions.load(principal, id, "execute"), (before): Opening => {
        const serves = chatId ?? before.chatId
        return { id, before, permit, ...(serves === undefined ? {} : { chatId: serves }) }
      })
    return (yield* inTurn(id, begin(found, id))).sandcastle
  })

  /** Whether the session of a sandcastle is open here, and answers as far as is known. */
  const isServed = Effect.fnUntraced(function* ({ id, status }: Sandcastle) {
    if (status._tag === "Stopped" || !(yield* open.isOpen(id))) return false
    // One that did not answer may have been another server's to find: it is asked.
    if (status._tag !== "Unknown") return true
    const usage = yield* Effect.option(open.use(id, (session) => session.usage))
    if (Option.isNone(Option.flatten(usage))) return false
    yield* sessions.note(id, SandcastleEvent.cases.Find.make({}))
    return true
  })

  const serve = Effect.fn("Sandcastles.serve")(function* (id: SandcastleId, chatId: ChatId) {
    const found = Effect.fnUntraced(function* (principal: Principal) {
      const before = yield* store.get(principal.organizationId, id)
      if (Option.isSome(before)) yield* sessions.load(principal, id, "execute")
      return Option.getOrUndefined(before)
    })
    const attempt = { action: "execute", target: SessionUse.target(id) } as const
    const serving = Effect.gen(function* () {
      const before = yield* useCase.read(attempt, found)
      if (before !== undefined && (yield* isServed(before))) {
        return { sandcastle: before, stateLost: false } satisfies Served
      }
      return yield* begin(
        (principal) =>
          Effect.map(found(principal), (now): Opening => ({
            id,
            chatId,
            ...(now === undefined ? {} : { before: now })
          })),
        id
      )
    })
    return yield* inTurn(id, serving)
  })

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
    start,

    /**
     * Has the session of a sandcastle open here that serves a chat, under an id that follows from the chat: it is made,
     * or started again, where none is. Whoever works for the chat has been permitted to. See `ChatSandcastles`.
     */
    serve,

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
