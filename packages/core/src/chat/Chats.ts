/**
 * The use cases of chats.
 *
 * Source: api-v2.md "Chat"; decisions.md §4.
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { AssetStore } from "../asset/AssetStore.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { Connectors } from "../connector/Connectors.ts"
import { Conflict, type Failure as AnyFailure, InvalidRequest, type NoReport, NotFound } from "../error/Failure.ts"
import { MemberStore } from "../member/MemberStore.ts"
import type { Models } from "../model/Models.ts"
import { addUsage, noUsage, type Run, type RunUsage } from "../run/Run.ts"
import { RunLog } from "../run/RunLog.ts"
import { Runner } from "../run/Runner.ts"
import { Sandcastles } from "../sandcastle/Sandcastles.ts"
import type { Budgets } from "../usage/Budgets.ts"
import * as Answer from "./Answer.ts"
import * as Asking from "./Asking.ts"
import type { Cell, CellId } from "./Cell.ts"
import { Chat, type ChatId, maxSummaryLength } from "./Chat.ts"
import * as ChatPolicy from "./ChatPolicy.ts"
import { type ChatQuery, ChatStore } from "./ChatStore.ts"
import { Feedback, type Opinion } from "./Feedback.ts"
import * as Transcript from "./Transcript.ts"
import { UploadStore } from "./UploadStore.ts"

/** How a use case of chats can fail: a report is none of its results. */
type Failure = Exclude<AnyFailure, NoReport>

/** A question of the caller. */
export type Question = Asking.Question

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
    readonly ask: (question: Asking.Question) => Effect.Effect<Run, Failure, CurrentPrincipal>
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
    /** One cell of a chat. */
    readonly cell: (id: ChatId, cellId: CellId) => Effect.Effect<Cell, Failure, CurrentPrincipal>
    /** The run to follow: the one in progress, else the last. */
    readonly latestRun: (id: ChatId) => Effect.Effect<Run, Failure, CurrentPrincipal>
    /** The runs of a chat, oldest first. */
    readonly runs: (id: ChatId) => Effect.Effect<ReadonlyArray<Run>, Failure, CurrentPrincipal>
    /** A run's place among those of its chat, from 0. It never changes. */
    readonly numberOf: (run: Run) => Effect.Effect<number>
    /** Cancels the run in progress, and returns when it has ended; false when there is none. */
    readonly cancel: (id: ChatId) => Effect.Effect<boolean, Failure, CurrentPrincipal>
    /** Changes a chat's summary; what is absent stays. */
    readonly update: (
      id: ChatId,
      change: { readonly summary?: string }
    ) => Effect.Effect<Chat, Failure, CurrentPrincipal>
    /** Removes a chat for good, with its runs, their logs, its assets and all feedback. Not while a run is in progress. */
    readonly delete: (id: ChatId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** Keeps what the caller thinks of a chat, in place of what it thought before. */
    readonly feedback: (id: ChatId, opinion: Opinion) => Effect.Effect<Feedback, Failure, CurrentPrincipal>
  }
>()("@castellan/core/chat/Chats") {}

const notFound = new NotFound({ message: "chat not found" })

/** The use cases over the stores, the run log and a runner. */
export const layer: Layer.Layer<
  Chats,
  never,
  | AssetStore
  | Budgets
  | ChatStore
  | Connectors
  | MemberStore
  | Models
  | RunLog
  | Runner
  | Sandcastles
  | SecureRandom.SecureRandom
  | UploadStore
  | UseCase
> = Layer.effect(
  Chats,
  Effect.gen(function* () {
    const assets = yield* AssetStore
    const uploads = yield* UploadStore
    const store = yield* ChatStore
    const members = yield* MemberStore
    const log = yield* RunLog
    const runner = yield* Runner
    const sandcastles = yield* Sandcastles
    const useCase = yield* UseCase
    const keepQuestion = yield* Asking.make

    const load = Effect.fnUntraced(function* (id: ChatId, principal: Principal, action: ChatPolicy.ChatAction) {
      const chat = yield* store.get(principal.organizationId, id)
      if (Option.isNone(chat)) return yield* notFound
      yield* enforce(ChatPolicy.decide(principal, chat.value, action, yield* DateTime.now))
      return chat.value
    })

    const target = (id: ChatId): AuditTarget => ({ type: "chat", id })

    /** Reads of one chat: nothing is told of it before it is decided that the caller may read it. */
    const reading = <A, E>(id: ChatId, body: (chat: Chat) => Effect.Effect<A, E>) =>
      useCase.read({ action: "read", target: target(id) }, (principal) =>
        Effect.flatMap(load(id, principal, "read"), body)
      )

    const runsOf = (chat: Chat) => store.runs(chat.organizationId, chat.id)

    const transcriptOf = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
      const logs = yield* Effect.forEach(runs, (run) => log.read(run, 0))
      return Transcript.ofEntries(logs.flat())
    })

    return Chats.of({
      ask: Effect.fn("Chats.ask")(function* (question) {
        yield* Asking.shapeOf(question)
        const attempt = question.chatId === undefined ? { type: "chat" as const } : target(question.chatId)
        // Kept and handed over in one step: a client that leaves in between must not leave a run that nobody starts.
        return yield* Effect.uninterruptible(
          Effect.tap(
            useCase.run({ action: "run", target: attempt }, (principal) => keepQuestion(principal, question)),
            (run) => runner.start(run)
          )
        )
      }),

      answer: Effect.fn("Chats.answer")(function* (run) {
        yield* Stream.runDrain(log.follow(run, 0))
        const ended = yield* store.run(run.organizationId, run.id)
        const entries = yield* log.read(run, 0)
        return yield* Effect.fromResult(
          Answer.ofRun(
            Option.getOrElse(ended, () => run),
            entries
          )
        )
      }),

      list: Effect.fn("Chats.list")(function* (query) {
        return yield* useCase.read({ action: "list", target: { type: "chat" } }, (reader) =>
          Effect.gen(function* () {
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
          })
        )
      }),

      get: Effect.fn("Chats.get")(function* (id) {
        return yield* reading(id, (chat) =>
          Effect.gen(function* () {
            const runs = yield* runsOf(chat)
            return {
              chat,
              transcript: yield* transcriptOf(runs),
              usage: runs.reduce((sum, run) => addUsage(sum, run.usage), noUsage)
            }
          })
        )
      }),

      cells: Effect.fn("Chats.cells")(function* (id, page) {
        return yield* reading(id, (chat) =>
          Effect.map(Effect.flatMap(runsOf(chat), transcriptOf), ({ cells }) => {
            const end = Math.max(0, cells.length - page.offset)
            const start = Math.max(0, end - page.limit)
            return { cells: cells.slice(start, end), hasMore: start > 0 }
          })
        )
      }),

      cell: Effect.fn("Chats.cell")(function* (id, cellId) {
        return yield* reading(id, (chat) =>
          Effect.flatMap(Effect.flatMap(runsOf(chat), transcriptOf), ({ cells }) => {
            const cell = cells.find((candidate) => candidate.id === cellId)
            return cell === undefined ? Effect.fail(new NotFound({ message: "cell not found" })) : Effect.succeed(cell)
          })
        )
      }),

      latestRun: Effect.fn("Chats.latestRun")(function* (id) {
        return yield* reading(id, (chat) =>
          Effect.flatMap(runsOf(chat), (runs) => {
            const run = runs.at(-1)
            return run === undefined
              ? Effect.fail(new NotFound({ message: "the chat has no run" }))
              : Effect.succeed(run)
          })
        )
      }),

      runs: Effect.fn("Chats.runs")(function* (id) {
        return yield* reading(id, runsOf)
      }),

      numberOf: Effect.fn("Chats.numberOf")(function* (run) {
        // The first run of a chat needs no look-up, and most chats have one.
        if (!run.isContinuation) return 0
        const runs = yield* store.runs(run.organizationId, run.chatId)
        return runs.findIndex(({ id }) => id === run.id)
      }),

      cancel: Effect.fn("Chats.cancel")(function* (id) {
        const attempt = { action: "cancel", target: target(id) } as const
        const chat = yield* useCase.read(attempt, (principal) => load(id, principal, "cancel"))
        if (chat.activity._tag === "Idle") return false
        const { runId } = chat.activity
        // What was stopped is on the record, also when the caller leaves.
        return yield* Effect.uninterruptible(
          Effect.tap(runner.cancel({ id: runId, organizationId: chat.organizationId }), (cancelled) =>
            cancelled
              ? useCase.run(attempt, () =>
                  Effect.succeed({
                    answer: undefined,
                    entries: [{ action: "cancel" as const, target: { type: "run" as const, id: runId } }]
                  })
                )
              : Effect.void
          )
        )
      }),

      update: Effect.fn("Chats.update")(function* (id, change) {
        const summary = change.summary?.trim()
        if (summary === "") return yield* new InvalidRequest({ message: "summary: must not be empty" })
        if (summary !== undefined && summary.length > maxSummaryLength) {
          return yield* new InvalidRequest({
            message: `summary: must not be longer than ${maxSummaryLength} characters`
          })
        }
        return yield* useCase.run({ action: "update", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const chat = yield* load(id, principal, "update")
            if (summary === undefined || summary === chat.summary) return { answer: chat, entries: [] }
            const changed = new Chat({ ...chat, summary })
            yield* store.save(changed)
            const entry: AuditEntry = {
              action: "update",
              target: target(id),
              before: { summary: chat.summary },
              after: { summary }
            }
            return { answer: changed, entries: [entry] }
          })
        )
      }),

      delete: Effect.fn("Chats.delete")(function* (id) {
        const { organizationId } = yield* useCase.run({ action: "delete", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const chat = yield* load(id, principal, "delete")
            if (chat.activity._tag === "Running") {
              return yield* new Conflict({ message: "a run of this chat is in progress: cancel it first" })
            }
            for (const run of yield* runsOf(chat)) yield* log.remove(run)
            yield* assets.removeOf(chat.organizationId, id)
            yield* uploads.removeOf(chat.organizationId, id)
            yield* store.remove(chat.organizationId, id)
            const entry: AuditEntry = {
              action: "delete",
              target: target(id),
              before: { summary: chat.summary, created_by: chat.createdBy }
            }
            return { answer: chat, entries: [entry] }
          })
        )
        // Its files are in its sandcastles, too.
        yield* sandcastles.releaseChat(organizationId, id)
      }, Effect.uninterruptible),

      feedback: Effect.fn("Chats.feedback")(function* (id, opinion) {
        return yield* useCase.run({ action: "feedback", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const chat = yield* load(id, principal, "feedback")
            const now = yield* DateTime.now
            const earlier = (yield* store.feedback(chat.organizationId, id)).find(
              ({ memberId }) => memberId === principal.memberId
            )
            const given = new Feedback({
              ...opinion,
              organizationId: chat.organizationId,
              chatId: id,
              memberId: principal.memberId,
              createdAt: earlier?.createdAt ?? now,
              updatedAt: now
            })
            yield* store.saveFeedback(given)
            const entry: AuditEntry = {
              action: "feedback",
              target: target(id),
              ...(earlier === undefined ? {} : { before: { rating: earlier.rating } }),
              after: { rating: given.rating }
            }
            return { answer: given, entries: [entry] }
          })
        )
      })
    })
  })
)
