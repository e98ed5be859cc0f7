/**
 * The port that keeps chats and their runs. A chat and its run change together or not at all.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import type { Principal } from "../access/Principal.ts"
import { Conflict } from "../error/Failure.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { MemberId } from "../member/Member.ts"
import { isEnded, Run, type RunId } from "../run/Run.ts"
import * as RunLease from "../run/RunLease.ts"
import type { LoggedRun } from "../run/RunLog.ts"
import { Chat, ChatActivity, type ChatId } from "./Chat.ts"
import { listed } from "./ChatPolicy.ts"
import type { Feedback } from "./Feedback.ts"

/** Which chats a list holds, and in which order. Source: decisions.md §4 (`GET /v2/chats`). */
export interface ChatQuery {
  /** Only chats of its organization that it may read. */
  readonly reader: Principal
  /** The moment at which grants are judged. */
  readonly now: DateTime.Utc
  readonly limit: number
  readonly offset: number
  /** Case-insensitive substring of the summary or the first question. */
  readonly searchTerm?: string
  /** `name` sorts by summary. */
  readonly sortBy: "name" | "created_at" | "updated_at"
  readonly sortDirection: "asc" | "desc"
}

/** A page of chats, and how many there are on all pages. */
export interface ChatPage {
  readonly chats: ReadonlyArray<Chat>
  readonly totalCount: number
}

/** A run was asked for while another is in progress. */
const busy = new Conflict({ message: "a run of this chat is in progress" })

/**
 * Keeps chats, their runs, and what is thought of them. No answer but `renew`, `cancellations` and `abandoned` ever holds
 * anything of another organization.
 */
export class ChatStore extends Context.Service<
  ChatStore,
  {
    readonly get: (organizationId: OrganizationId, id: ChatId) => Effect.Effect<Option.Option<Chat>>
    readonly list: (query: ChatQuery) => Effect.Effect<ChatPage>
    /** Keeps a new chat with its first run, queued; the chat is then running. */
    readonly open: (chat: Chat, run: Run) => Effect.Effect<void>
    /** Keeps a further run, queued, of a chat that is idle; fails when another run is in progress. */
    readonly ask: (run: Run) => Effect.Effect<void, Conflict>
    /**
     * Keeps what was changed of a chat. Whether it is running, and when it was updated, is told by its runs: both stay
     * as they are kept. Nothing where the chat is gone.
     */
    readonly save: (chat: Chat) => Effect.Effect<void>
    /** Removes a chat with its runs and all feedback; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: ChatId) => Effect.Effect<void>
    /** Keeps a member's opinion of a chat, in place of an earlier one. */
    readonly saveFeedback: (feedback: Feedback) => Effect.Effect<void>
    /** What members think of a chat, in the order of their ids. */
    readonly feedback: (organizationId: OrganizationId, id: ChatId) => Effect.Effect<ReadonlyArray<Feedback>>
    /** A run by its id. */
    readonly run: (organizationId: OrganizationId, id: RunId) => Effect.Effect<Option.Option<Run>>
    /** The runs of a chat, oldest first. */
    readonly runs: (organizationId: OrganizationId, chatId: ChatId) => Effect.Effect<ReadonlyArray<Run>>
    /** Keeps a run that goes on. False, and nothing is kept, where its epoch is over: another runner has it. */
    readonly saveRun: (run: Run) => Effect.Effect<boolean>
    /**
     * Keeps a run that has ended; its chat is then idle, and updated at that moment. It may be said again. False, and
     * nothing is kept, where its epoch is over, or the run has been released.
     */
    readonly endRun: (run: Run, at: DateTime.Utc) => Effect.Effect<boolean>
    /**
     * Takes up a run that has not been released, and that no other runner has. Of all who try at once, one does; from
     * then on, writes of earlier epochs are refused.
     */
    readonly take: (run: LoggedRun, claim: RunLease.RunClaim) => Effect.Effect<Option.Option<RunLease.TakenRun>>
    /**
     * Has runs that are carried for longer. Those that are missing in the answer were lost to another runner. What a run
     * was told to have used never falls, in whichever order heartbeats arrive.
     */
    readonly renew: (
      carried: ReadonlyArray<RunLease.Heartbeat>,
      until: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<RunLease.RenewedRun>>
    /** Lets anybody take up a run that goes on, at once; nothing where another runner has it. */
    readonly handOver: (run: RunLease.HeldRun, now: DateTime.Utc) => Effect.Effect<void>
    /** Lets go of a run that has ended and told so: nobody takes it up again. Nothing where another runner has it. */
    readonly release: (run: RunLease.HeldRun) => Effect.Effect<void>
    /** Asks whoever carries a run, or takes it up, to stop it. False where it has ended, or never was. */
    readonly requestCancel: (run: LoggedRun) => Effect.Effect<boolean>
    /** The runs of every organization that are asked to stop from now on; a hint, which may be lost. It never ends. */
    readonly cancellations: Stream.Stream<RunId>
    /** The runs of every organization that nobody has at a moment, and that were not released; those that nobody has had for longest come first. */
    readonly abandoned: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Run>>
  }
>()("@castellan/core/chat/ChatStore") {}

const sortKey = (query: ChatQuery, chat: Chat): string => {
  if (query.sortBy === "name") return chat.summary
  // ISO 8601 in UTC sorts as text.
  return DateTime.formatIso(query.sortBy === "created_at" ? chat.createdAt : chat.updatedAt)
}

/** Orders by the key asked for; ties break by id, in the same direction. */
const compare =
  (query: ChatQuery) =>
  (a: Chat, b: Chat): number => {
    const left = sortKey(query, a)
    const right = sortKey(query, b)
    const order = left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0
    return query.sortDirection === "asc" ? order : -order
  }

/** Whether a chat belongs on a list. */
export const matches = (query: ChatQuery, chat: Chat): boolean => {
  if (chat.organizationId !== query.reader.organizationId) return false
  if (!listed(query.reader, chat, query.now)) return false
  if (query.searchTerm === undefined) return true
  const term = query.searchTerm.toLowerCase()
  return chat.summary.toLowerCase().includes(term) || chat.firstQuestion.toLowerCase().includes(term)
}

const running = (chat: Chat, run: Run): Chat =>
  new Chat({
    ...chat,
    activity: ChatActivity.cases.Running.make({ runId: run.id }),
    updatedAt: run.createdAt
  })

/** A run with who carries it, until it is released. */
interface KeptRun {
  readonly run: Run
  readonly lease: RunLease.RunLease | undefined
}

/** From when on nobody has a run. */
const freeAt = ({ lease }: KeptRun): number => (lease === undefined ? Infinity : DateTime.toEpochMillis(lease.until))

/** The run as whoever takes it up finds it. */
const taken = ({ run }: KeptRun, { epoch, isCancelled, usage }: RunLease.RunLease): RunLease.TakenRun => ({
  run: new Run({ ...run, epoch, usage: isEnded(run) ? run.usage : usage }),
  isCancelled
})

/** Keeps chats and their runs in memory. */
export const layerMemory: Layer.Layer<ChatStore> = Layer.effect(
  ChatStore,
  Effect.gen(function* () {
    const chats = yield* MemoryTable.make<ChatId, Chat>()
    const runs = yield* MemoryTable.make<RunId, KeptRun>()
    const cancelled = yield* PubSub.unbounded<RunId>()
    const opinions = yield* MemoryTable.make<`${ChatId}/${MemberId}`, Feedback>()

    /** Changes a run that has not been released, of its organization; `refused` where there is none, or no change. */
    const change = <A>(
      { id, organizationId }: LoggedRun,
      refused: A,
      next: (kept: KeptRun, lease: RunLease.RunLease) => readonly [A, KeptRun] | undefined
    ): Effect.Effect<A> =>
      runs.modify((rows) => {
        const kept = rows.get(id)
        const changed =
          kept?.lease === undefined || kept.run.organizationId !== organizationId ? undefined : next(kept, kept.lease)
        return changed === undefined ? [refused, []] : [changed[0], [[id, changed[1]]]]
      })

    /** Keeps a run, where its epoch is not over. */
    const keep = (run: Run) =>
      change(run, false, (_, lease) => (lease.epoch === run.epoch ? [true, { run, lease }] : undefined))

    return ChatStore.of({
      get: (organizationId, id) =>
        Effect.map(
          chats.get(id),
          Option.filter((chat) => chat.organizationId === organizationId)
        ),
      list: (query) =>
        Effect.map(
          chats.where((chat) => matches(query, chat)),
          (found) => ({
            chats: found.toSorted(compare(query)).slice(query.offset, query.offset + query.limit),
            totalCount: found.length
          })
        ),
      open: (chat, run) =>
        Effect.andThen(
          runs.set(run.id, { run, lease: RunLease.unstarted(run) }),
          chats.set(chat.id, running(chat, run))
        ),
      ask: (run) =>
        Effect.gen(function* () {
          const started = yield* chats.modify((rows) => {
            const chat = rows.get(run.chatId)
            if (chat === undefined || chat.organizationId !== run.organizationId || chat.activity._tag === "Running") {
              return [false, []]
            }
            return [true, [[chat.id, running(chat, run)]]]
          })
          if (!started) return yield* busy
          yield* runs.set(run.id, { run, lease: RunLease.unstarted(run) })
        }),
      save: (chat) =>
        chats.modify((rows) => {
          const kept = rows.get(chat.id)
          return kept === undefined || kept.organizationId !== chat.organizationId
            ? [undefined, []]
            : [undefined, [[chat.id, new Chat({ ...chat, activity: kept.activity, updatedAt: kept.updatedAt })]]]
        }),
      remove: Effect.fnUntraced(function* (organizationId, id) {
        const chat = yield* chats.get(id)
        if (Option.isNone(chat) || chat.value.organizationId !== organizationId) return
        for (const { run } of yield* runs.where((one) => one.run.chatId === id)) yield* runs.remove(run.id)
        for (const one of yield* opinions.where(({ chatId }) => chatId === id)) {
          yield* opinions.remove(`${id}/${one.memberId}`)
        }
        yield* chats.remove(id)
      }),
      saveFeedback: (given) => opinions.set(`${given.chatId}/${given.memberId}`, given),
      feedback: (organizationId, id) =>
        Effect.map(
          opinions.where((one) => one.organizationId === organizationId && one.chatId === id),
          (found) => found.toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1))
        ),
      run: (organizationId, id) =>
        Effect.map(runs.get(id), (kept) =>
          Option.filter(
            Option.map(kept, ({ run }) => run),
            (run) => run.organizationId === organizationId
          )
        ),
      runs: (organizationId, chatId) =>
        Effect.map(
          runs.where(({ run }) => run.organizationId === organizationId && run.chatId === chatId),
          (found) => found.map(({ run }) => run)
        ),
      saveRun: keep,
      endRun: (run, at) =>
        Effect.tap(keep(run), (kept) =>
          chats.modify((rows) => {
            const chat = rows.get(run.chatId)
            return !kept || chat?.activity._tag !== "Running" || chat.activity.runId !== run.id
              ? [undefined, []]
              : [
                  undefined,
                  [[chat.id, new Chat({ ...chat, activity: ChatActivity.cases.Idle.make({}), updatedAt: at })]]
                ]
          })
        ),
      take: (run, claim) =>
        change(run, Option.none<RunLease.TakenRun>(), (kept, lease) =>
          Option.getOrUndefined(
            Option.map(RunLease.take(lease, claim), (next) => [
              Option.some(taken(kept, next)),
              { run: kept.run, lease: next }
            ])
          )
        ),
      renew: (carried, until) =>
        Effect.map(
          Effect.forEach(carried, (beat) =>
            change(beat, [], (kept, lease): readonly [ReadonlyArray<RunLease.RenewedRun>, KeptRun] | undefined =>
              Option.getOrUndefined(
                Option.map(RunLease.renew(lease, beat, until), (next) => [
                  [{ id: beat.id, isCancelled: next.isCancelled }],
                  { run: kept.run, lease: next }
                ])
              )
            )
          ),
          (renewed) => renewed.flat()
        ),
      handOver: (run, now) =>
        change(run, undefined, (kept, lease) =>
          lease.epoch === run.epoch
            ? [undefined, { run: kept.run, lease: { ...lease, runnerId: undefined, until: now } }]
            : undefined
        ),
      release: (run) =>
        change(run, undefined, (kept, lease) =>
          lease.epoch === run.epoch ? [undefined, { run: kept.run, lease: undefined }] : undefined
        ),
      requestCancel: (run) =>
        Effect.tap(
          change(run, false, (kept, lease) =>
            isEnded(kept.run) ? undefined : [true, { run: kept.run, lease: { ...lease, isCancelled: true } }]
          ),
          (asked) => (asked ? PubSub.publish(cancelled, run.id) : Effect.void)
        ),
      cancellations: Stream.fromPubSub(cancelled),
      abandoned: (now, limit) =>
        Effect.map(
          runs.where(({ lease }) => lease !== undefined && RunLease.isOver(lease, now)),
          (found) =>
            found
              .toSorted((a, b) => freeAt(a) - freeAt(b))
              .slice(0, limit)
              .map(({ run }) => run)
        )
    })
  })
)
