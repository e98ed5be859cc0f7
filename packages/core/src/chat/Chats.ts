/**
 * The use cases of chats.
 *
 * Source: api-v2.md "Chat"; decisions.md §4.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Access, creatorOf } from "../access/Access.ts"
import { decide } from "../access/AccessPolicy.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import { Connectors } from "../connector/Connectors.ts"
import { Conflict, type Failure as AnyFailure, InvalidRequest, type NoReport, NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { MemberStore } from "../member/MemberStore.ts"
import type { ModelId } from "../model/Model.ts"
import { Models } from "../model/Models.ts"
import { addUsage, noUsage, Run, RunId, RunStatus, type RunUsage } from "../run/Run.ts"
import { RunLog } from "../run/RunLog.ts"
import { Runner } from "../run/Runner.ts"
import * as Answer from "./Answer.ts"
import { type Cell, CellId } from "./Cell.ts"
import { Chat, ChatActivity, ChatId, type ChatSource, defaultTools, summaryOf, type ToolConfiguration } from "./Chat.ts"
import { type ChatQuery, ChatStore } from "./ChatStore.ts"
import * as Transcript from "./Transcript.ts"

/** How a use case of chats can fail: a report is none of its results. */
type Failure = Exclude<AnyFailure, NoReport>

/** A question of the caller. */
export interface Question {
  readonly question: string
  /** The chat to continue; absent: a new one. */
  readonly chatId?: ChatId
  /** The model of a new chat; not to be named for one that is continued. */
  readonly model?: ModelId
  /** What the run may use; absent: the chat's own configuration, or the default of a new one. */
  readonly tools?: ToolConfiguration
  readonly source: ChatSource
}

/** A chat with what its runs left behind. */
export interface ChatView {
  readonly chat: Chat
  readonly transcript: Transcript.Transcript
  readonly usage: RunUsage
}

/** A chat on a list. */
export interface ChatSummary {
  readonly chat: Chat
  readonly creatorEmail: string
}

/** The use cases of chats. */
export class Chats extends Context.Service<
  Chats,
  {
    /** Starts a run for a question, and returns as soon as it is kept. */
    readonly ask: (question: Question) => Effect.Effect<Run, Failure, CurrentPrincipal>
    /** Waits for a run to end and answers with its message; fails as the run failed. */
    readonly answer: (run: Run) => Effect.Effect<Answer.Answer, Failure>
    /** The chats that the caller may read. */
    readonly list: (
      query: Omit<ChatQuery, "reader" | "now">
    ) => Effect.Effect<
      { readonly chats: ReadonlyArray<ChatSummary>; readonly totalCount: number },
      Failure,
      CurrentPrincipal
    >
    readonly get: (id: ChatId) => Effect.Effect<ChatView, Failure, CurrentPrincipal>
    /** Cells from the newest back, skipping `offset` of them; each page in the order of their time. */
    readonly cells: (
      id: ChatId,
      page: { readonly limit: number; readonly offset: number }
    ) => Effect.Effect<{ readonly cells: ReadonlyArray<Cell>; readonly hasMore: boolean }, Failure, CurrentPrincipal>
    /** The run to follow: the one in progress, else the last. */
    readonly latestRun: (id: ChatId) => Effect.Effect<Run, Failure, CurrentPrincipal>
    /** The runs of a chat, oldest first. */
    readonly runs: (id: ChatId) => Effect.Effect<ReadonlyArray<Run>, Failure, CurrentPrincipal>
    /** A run's place among those of its chat, from 0. It never changes. */
    readonly numberOf: (run: Run) => Effect.Effect<number>
    /** Cancels the run in progress, and returns when it has ended; false when there is none. */
    readonly cancel: (id: ChatId) => Effect.Effect<boolean, Failure, CurrentPrincipal>
  }
>()("@castellan/core/chat/Chats") {}

const need = {
  read: { permission: "chat:read", access: "viewer", object: "chat" },
  ask: { permission: "chat:write", access: "editor", object: "chat" }
} as const

/** The use cases over the stores, the run log and a runner. */
export const layer: Layer.Layer<
  Chats,
  never,
  ChatStore | Connectors | MemberStore | Models | RunLog | Runner | SecureRandom.SecureRandom
> = Layer.effect(
  Chats,
  Effect.gen(function* () {
    const store = yield* ChatStore
    const connectors = yield* Connectors
    const members = yield* MemberStore
    const models = yield* Models
    const log = yield* RunLog
    const runner = yield* Runner
    const random = yield* SecureRandom.SecureRandom
    const nextId = Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)

    const load = Effect.fnUntraced(function* (id: ChatId, principal: Principal, what: keyof typeof need) {
      const chat = yield* store.get(principal.organizationId, id)
      if (Option.isNone(chat)) return yield* new NotFound({ message: "chat not found" })
      yield* enforce(decide(principal, chat.value.access, need[what], yield* DateTime.now))
      return chat.value
    })

    const newRun = Effect.fnUntraced(function* (
      principal: Principal,
      chat: Pick<Chat, "id" | "model" | "tools">,
      question: string,
      isContinuation: boolean
    ) {
      return new Run({
        id: RunId.make(yield* nextId),
        organizationId: principal.organizationId,
        chatId: chat.id,
        principal,
        model: chat.model,
        question,
        questionCellId: CellId.make(yield* nextId),
        messageCellId: CellId.make(yield* nextId),
        tools: chat.tools,
        isContinuation,
        status: RunStatus.cases.Queued.make({}),
        usage: noUsage,
        createdAt: yield* DateTime.now
      })
    })

    const open = Effect.fnUntraced(function* (principal: Principal, question: Question) {
      yield* enforce(requires(principal, "chat:write"))
      const model = yield* models.choose(principal, question.model)
      const tools = question.tools ?? defaultTools
      yield* connectors.usableBy(principal, tools.connectorIds)
      const now = yield* DateTime.now
      const id = ChatId.make(yield* nextId)
      const run = yield* newRun(principal, { id, model: model.id, tools }, question.question, false)
      const access: Access = { isPublic: false, grants: [], creator: creatorOf(principal) }
      const chat = new Chat({
        id,
        organizationId: principal.organizationId,
        source: question.source,
        model: model.id,
        tools,
        summary: summaryOf(question.question),
        firstQuestion: question.question,
        createdBy: principal.memberId,
        access,
        activity: ChatActivity.cases.Running.make({ runId: run.id }),
        createdAt: now,
        updatedAt: now
      })
      yield* store.open(chat, run)
      return run
    })

    const proceed = Effect.fnUntraced(function* (principal: Principal, question: Question, chatId: ChatId) {
      if (question.model !== undefined) {
        return yield* new InvalidRequest({ message: "model: must not be sent together with chat_id" })
      }
      const chat = yield* load(chatId, principal, "ask")
      yield* models.permit(principal, chat.model)
      const tools = question.tools ?? chat.tools
      yield* connectors.usableBy(principal, tools.connectorIds)
      if (chat.activity._tag === "Running") {
        return yield* new Conflict({ message: "a run of this chat is in progress" })
      }
      const run = yield* newRun(principal, { id: chat.id, model: chat.model, tools }, question.question, true)
      yield* store.ask(run)
      return run
    })

    const transcriptOf = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
      const logs = yield* Effect.forEach(runs, (run) => log.read(run.id, 0))
      return Transcript.ofEntries(logs.flat())
    })

    return Chats.of({
      ask: Effect.fn("Chats.ask")(function* (question) {
        const principal = yield* CurrentPrincipal
        if (question.question.trim() === "") {
          return yield* new InvalidRequest({ message: "question: must not be empty" })
        }
        // Kept and handed over in one step: a client that leaves in between must not leave a run that nobody starts.
        return yield* Effect.uninterruptible(
          Effect.tap(
            question.chatId === undefined ? open(principal, question) : proceed(principal, question, question.chatId),
            (run) => runner.start(run)
          )
        )
      }),

      answer: Effect.fn("Chats.answer")(function* (run) {
        yield* Stream.runDrain(log.follow(run.id, 0))
        const ended = yield* store.run(run.organizationId, run.id)
        const entries = yield* log.read(run.id, 0)
        return yield* Effect.fromResult(
          Answer.ofRun(
            Option.getOrElse(ended, () => run),
            entries
          )
        )
      }),

      list: Effect.fn("Chats.list")(function* (query) {
        const reader = yield* CurrentPrincipal
        yield* enforce(requires(reader, "chat:read"))
        const page = yield* store.list({ ...query, reader, now: yield* DateTime.now })
        const creators = yield* members.named(
          reader.organizationId,
          page.chats.map((chat) => chat.createdBy)
        )
        const emails = new Map(creators.map((member) => [member.id, member.email]))
        return {
          chats: page.chats.map((chat) => ({ chat, creatorEmail: emails.get(chat.createdBy) ?? "" })),
          totalCount: page.totalCount
        }
      }),

      get: Effect.fn("Chats.get")(function* (id) {
        const principal = yield* CurrentPrincipal
        const chat = yield* load(id, principal, "read")
        const runs = yield* store.runs(principal.organizationId, id)
        return {
          chat,
          transcript: yield* transcriptOf(runs),
          usage: runs.reduce((sum, run) => addUsage(sum, run.usage), noUsage)
        }
      }),

      cells: Effect.fn("Chats.cells")(function* (id, page) {
        const principal = yield* CurrentPrincipal
        yield* load(id, principal, "read")
        const { cells } = yield* transcriptOf(yield* store.runs(principal.organizationId, id))
        const end = Math.max(0, cells.length - page.offset)
        const start = Math.max(0, end - page.limit)
        return { cells: cells.slice(start, end), hasMore: start > 0 }
      }),

      latestRun: Effect.fn("Chats.latestRun")(function* (id) {
        const principal = yield* CurrentPrincipal
        yield* load(id, principal, "read")
        const run = (yield* store.runs(principal.organizationId, id)).at(-1)
        if (run === undefined) return yield* new NotFound({ message: "the chat has no run" })
        return run
      }),

      runs: Effect.fn("Chats.runs")(function* (id) {
        const principal = yield* CurrentPrincipal
        yield* load(id, principal, "read")
        return yield* store.runs(principal.organizationId, id)
      }),

      numberOf: Effect.fn("Chats.numberOf")(function* (run) {
        // The first run of a chat needs no look-up, and most chats have one.
        if (!run.isContinuation) return 0
        const runs = yield* store.runs(run.organizationId, run.chatId)
        return runs.findIndex(({ id }) => id === run.id)
      }),

      cancel: Effect.fn("Chats.cancel")(function* (id) {
        const principal = yield* CurrentPrincipal
        const chat = yield* load(id, principal, "ask")
        if (chat.activity._tag === "Idle") return false
        return yield* runner.cancel(chat.activity.runId)
      })
    })
  })
)
