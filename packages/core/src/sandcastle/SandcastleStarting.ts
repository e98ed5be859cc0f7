/**
 * How sandcastles are started, and started again: their sessions opened, with the library and the files of their chat in
 * them.
 *
 * Source: decisions.md §4 ("Multipart"), §7.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { type Creator, creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { ChatId } from "../chat/Chat.ts"
import * as ChatPolicy from "../chat/ChatPolicy.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import { NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import * as LibraryStaging from "./LibraryStaging.ts"
import { SandboxError } from "./SandboxRuntime.ts"
import { Sandcastle, SandcastleId, SandcastleStatus, serverLease } from "./Sandcastle.ts"
import { SandcastleLimits } from "./SandcastleLimits.ts"
import * as SandcastleRoom from "./SandcastleRoom.ts"
import { SandcastleSessions } from "./SandcastleSessions.ts"
import { SandcastleEvent } from "./SandcastleState.ts"
import { SandcastleStore } from "./SandcastleStore.ts"
import * as SessionUse from "./SessionUse.ts"
import * as UploadPlacing from "./UploadPlacing.ts"

/** A sandcastle whose session is open here. */
export interface Served {
  readonly sandcastle: Sandcastle
  /** Whether the session is another than the one before it: whatever variables and files that one had are gone. */
  readonly stateLost: boolean
  /** Files of its chat that are not in it, a phrase each that says why. */
  readonly missing: ReadonlyArray<string>
}

/** Starts sandcastles over the stores and the sessions. */
export const make = Effect.gen(function* () {
  const chats = yield* ChatStore
  const limits = yield* SandcastleLimits
  const open = yield* SandcastleSessions
  const placeUploads = yield* UploadPlacing.make
  const room = yield* SandcastleRoom.make
  const sessions = yield* SessionUse.make
  const staging = yield* LibraryStaging.make
  const store = yield* SandcastleStore
  const useCase = yield* UseCase
  const random = yield* SecureRandom.SecureRandom
  const nextId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
    SandcastleId.make(id)
  )

  /** A chat that a sandcastle is to serve: one that the principal may go on with. */
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
    /** Who is kept as the maker of a new one; absent: the principal. */
    readonly creator?: Creator
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
    const { before, chatId, creator, files, id, mount, permit, principal } = yield* prepare(decided, askedId)
    yield* room.prepare(principal, id)
    const spec = {
      id,
      organizationId: principal.organizationId,
      library: files,
      require: limits.require,
      isNew: before === undefined
    }
    // An open session that nobody knows of would be nobody's to close.
    return yield* Effect.uninterruptibleMask((restore) =>
      restore(open.open(spec)).pipe(
        Effect.mapError((error) => (error instanceof SandboxError ? SessionUse.failureOf(error) : error)),
        Effect.flatMap((session) =>
          useCase
            .run(
              { action: "create", target: SessionUse.target(id) },
              Effect.fnUntraced(function* () {
                // The chat may be gone since: what serves it is stopped with it, but for what was not kept by then.
                if (permit !== undefined) yield* permit(principal)
                yield* room.require(principal, id)
                const now = yield* DateTime.now
                // A session that was taken up again holds what it was mounted with, and its edits are edits of that.
                const library = session.resumed ? before?.library : mount
                const sandcastle = new Sandcastle({
                  id,
                  organizationId: principal.organizationId,
                  creator: before?.creator ?? creator ?? creatorOf(principal),
                  ...(chatId === undefined ? {} : { chatId }),
                  ...(library === undefined ? {} : { library }),
                  status: SandcastleStatus.cases.Running.make({ startedAt: now, lastUsedAt: now }),
                  serverId: open.serverId,
                  createdAt: before?.createdAt ?? now
                })
                yield* store.save(sandcastle, DateTime.addDuration(now, serverLease))
                const entry: AuditEntry = {
                  action: before === undefined ? "create" : "update",
                  target: SessionUse.target(id),
                  ...(before === undefined ? {} : { before: { status: before.status._tag.toLowerCase() } }),
                  after: { status: "running", ...(chatId === undefined ? {} : { chat: chatId }) }
                }
                const served: Served = { sandcastle, stateLost: before !== undefined && !session.resumed, missing: [] }
                return { answer: served, entries: [entry] }
              })
            )
            .pipe(Effect.onError(() => open.close(id)))
        )
      )
    )
  })

  /** Has the files of its chat in the session of a sandcastle. */
  const withUploads = Effect.fnUntraced(function* (served: Served) {
    if (served.sandcastle.chatId === undefined) return served
    const placed = yield* open
      .use(served.sandcastle.id, (session) => placeUploads(session, served.sandcastle))
      .pipe(Effect.mapError(SessionUse.failureOf))
    if (Option.isNone(placed)) return yield* SessionUse.noSession
    return { ...served, missing: placed.value } satisfies Served
  })

  /**
   * The same where the caller may go on with the chat. A sandcastle is its maker's, and the files of the chat are not:
   * whoever may not go on with it any more has the sandcastle without them.
   */
  const withPermittedUploads = Effect.fnUntraced(function* (served: Served) {
    const { chatId } = served.sandcastle
    if (chatId === undefined) return served
    const permitted = yield* Effect.result(requireChat(yield* CurrentPrincipal, chatId))
    return Result.isSuccess(permitted) ? yield* withUploads(served) : served
  })

  const start = Effect.fn("Sandcastles.start")(function* (
    options: { readonly id?: SandcastleId; readonly chatId?: ChatId } = {}
  ) {
    const { chatId, id } = options
    const permit = (principal: Principal) => (chatId === undefined ? Effect.void : requireChat(principal, chatId))
    if (id === undefined) {
      const made: Opening = { id: yield* nextId, permit, ...(chatId === undefined ? {} : { chatId }) }
      return (yield* Effect.flatMap(
        begin(() => Effect.succeed(made)),
        withUploads
      )).sandcastle
    }
    const found = (principal: Principal) =>
      Effect.map(sessions.load(principal, id, "execute"), (before): Opening => {
        const serves = chatId ?? before.chatId
        return { id, before, permit, ...(serves === undefined ? {} : { chatId: serves }) }
      })
    return (yield* inTurn(id, Effect.flatMap(begin(found, id), withPermittedUploads))).sandcastle
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

  const serve = Effect.fn("Sandcastles.serve")(function* (id: SandcastleId, chatId: ChatId, creator: Creator) {
    const found = Effect.fnUntraced(function* (principal: Principal) {
      const before = yield* store.get(principal.organizationId, id)
      if (Option.isSome(before)) yield* sessions.load(principal, id, "execute")
      return Option.getOrUndefined(before)
    })
    const attempt = { action: "execute", target: SessionUse.target(id) } as const
    const serving = Effect.gen(function* () {
      const before = yield* useCase.read(attempt, found)
      if (before !== undefined && (yield* isServed(before))) {
        return { sandcastle: before, stateLost: false, missing: [] } satisfies Served
      }
      return yield* begin(
        (principal) =>
          Effect.map(found(principal), (now): Opening => ({
            id,
            chatId,
            creator,
            ...(now === undefined ? {} : { before: now })
          })),
        id
      )
    })
    return yield* inTurn(id, Effect.flatMap(serving, withUploads))
  })

  return {
    start,

    /**
     * Has the session of a sandcastle open here that serves a chat, under an id that follows from the chat: it is made,
     * or started again, where none is. Whoever works for the chat has been permitted to; `creator` is kept as the maker
     * of a new one. See `ChatSandcastles`.
     */
    serve
  }
})
