/**
 * The sandcastles of chats: what the analyst's tools run in. Whoever asks in a chat has one sandcastle there, started
 * when something first runs in it, found again by the later questions of the same chat, and started anew where it was
 * stopped or lost. A chat that is shared has one for each who asks: it holds what was answered under the row policies of
 * its maker, and nobody else reaches it.
 *
 * Source: issue "Sandcastles", §2 ("One sandcastle per chat is started lazily, kept warm"); decisions.md §3, §7.
 */
import * as Digest from "effect/crypto/Digest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type Creator, creatorOf } from "../access/Access.ts"
import { canonicalText, isEmpty } from "../access/ClientMetadata.ts"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import type { Chat, ChatId, ChatSource } from "../chat/Chat.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import type { ResultTable } from "../connector/ResultTable.ts"
import { ExecutionFailed, type RateLimitExceeded, type TimedOut } from "../error/Failure.ts"
import * as TextBytes from "../library/TextBytes.ts"
import type { Run } from "../run/Run.ts"
import type { ExecutionSource } from "./Execution.ts"
import { type Dataframe, type SandboxCapabilities, type SandboxEntry, SandboxRuntime } from "./SandboxRuntime.ts"
import { SandcastleId } from "./Sandcastle.ts"
import type { ExecAnswer, ExecuteAnswer, Following } from "./SandcastleExecutions.ts"
import type { DownloadedFile } from "./SandcastleFiles.ts"
import type { QueryAnswer, QueryRequest } from "./SandcastleQueries.ts"
import { Sandcastles } from "./Sandcastles.ts"
import { noSession, type SandcastleFailure } from "./SessionUse.ts"

/** What came of a use of a chat's sandcastle. */
export interface ChatUse<A> {
  readonly answer: A
  /** The sandcastle that was used. */
  readonly sandcastleId: SandcastleId
  /**
   * Whether the session was started anew for this use, because the one before it had been stopped or lost: the variables,
   * dataframes and files that earlier executions left are gone. Never true of a first use.
   */
  readonly stateLost: boolean
  /** Files of the chat that are not in the session, a phrase each that says why. */
  readonly missing: ReadonlyArray<string>
}

/** How a use of a chat's sandcastle fails. Its message is fit for the model and for the user. */
export type ChatUseFailure = SandcastleFailure | RateLimitExceeded | TimedOut

/** The sandcastle of a chat, as one run uses it: under the run's principal, each execution on the record. */
export interface ChatSandcastle {
  /** Runs a program in the session's Python, whose variables stay from one question of the chat to the next. */
  readonly execute: (code: string, following?: Following) => Effect.Effect<ChatUse<ExecuteAnswer>, ChatUseFailure>
  /** Runs a command, or a program in a process of its own. */
  readonly exec: (
    request: {
      readonly command: string
      readonly kind: "bash" | "python"
      readonly environment?: Readonly<Record<string, string>>
    } & Following
  ) => Effect.Effect<ChatUse<ExecAnswer>, ChatUseFailure>
  /** Asks a connector, and makes the result a dataframe. */
  readonly query: (request: Omit<QueryRequest, "source">) => Effect.Effect<ChatUse<QueryAnswer>, ChatUseFailure>
  /** Makes a result that the run has already a dataframe of this name. */
  readonly bind: (name: string, table: ResultTable) => Effect.Effect<ChatUse<Dataframe>, ChatUseFailure>
  /** The entries of a folder below `/sandbox/files`; absent: the root. */
  readonly listFiles: (path?: string) => Effect.Effect<ChatUse<ReadonlyArray<SandboxEntry>>, ChatUseFailure>
  /** A file below `/sandbox/files`: what `execute` says that it left, for one. */
  readonly download: (path: string) => Effect.Effect<ChatUse<DownloadedFile>, ChatUseFailure>
}

/** Finds the sandcastles of chats. */
export class ChatSandcastles extends Context.Service<
  ChatSandcastles,
  {
    /** What sandcastles can do here. */
    readonly capabilities: SandboxCapabilities
    /** The sandcastle of a run's chat, for the run's principal. Nothing is started before it is used. */
    readonly of: (run: Pick<Run, "chatId" | "organizationId" | "principal">) => Effect.Effect<ChatSandcastle>
  }
>()("@castellan/core/sandcastle/ChatSandcastles") {}

/** What an execution is recorded to come from, by where its chat came from. */
const sourceOf: { readonly [Source in ChatSource]: ExecutionSource } = {
  api: "chat",
  console: "chat",
  mcp: "chat",
  playbook: "playbook",
  agent: "agent"
}

/** Whose a chat's sandcastle is: for whom it is found, and who is kept as its maker. */
interface ChatOwner {
  /** The same for principals that have one sandcastle. */
  readonly text: string
  readonly creator: Creator
}

/**
 * For whom a sandcastle is: principals of which each owns what the other makes have the same one. A key without full
 * access, which speaks for no end user, owns what it made itself, and what it made before it was rotated. While a key that
 * was rotated has its grace, old and new one go on with the same chats: the sandcastle of a chat is its first key's, of
 * those that it was rotated from, which may have the chat at all. So each of them reaches it, whichever comes first, and
 * an old key never reaches that of a chat which a newer one made.
 */
const ownerOf = (principal: Principal, chat: Option.Option<Chat>): ChatOwner => {
  const { clientMetadata, key, memberId, restricted } = principal
  const made = creatorOf(principal)
  if (clientMetadata !== undefined && !isEmpty(clientMetadata)) {
    return { text: JSON.stringify([memberId, canonicalText(clientMetadata), null]), creator: made }
  }
  if (!restricted || key === undefined) return { text: JSON.stringify([memberId, null, null]), creator: made }
  const lineage = [key.id, ...key.rotatedFrom]
  const chatKey = Option.getOrUndefined(chat)?.access.creator?.apiKeyId
  const apiKeyId = lineage.find((id) => id === chatKey) ?? lineage.at(-1) ?? key.id
  return { text: JSON.stringify([memberId, null, apiKeyId]), creator: { ...made, apiKeyId } }
}

const lostMeanwhile = new ExecutionFailed({
  message:
    "the sandbox was lost while this ran, with the variables and files of its session; the next use starts a new one"
})

/** The sandcastles of chats, over all sandcastles. */
export const layer: Layer.Layer<ChatSandcastles, never, ChatStore | Digest.Digest | Sandcastles | SandboxRuntime> =
  Layer.effect(
    ChatSandcastles,
    Effect.gen(function* () {
      const chats = yield* ChatStore
      const digest = yield* Digest.Digest
      const sandcastles = yield* Sandcastles
      const { capabilities } = yield* SandboxRuntime

      /** The id of a chat's sandcastle follows from the chat and its owner: two first uses can only make the same one. */
      const idOf = (chatId: ChatId, owner: ChatOwner) =>
        Effect.map(digest.digestHex(Digest.sha256, TextBytes.encode(owner.text)), (hex) =>
          SandcastleId.make(`${chatId}-${hex.slice(0, 16)}`)
        )

      return ChatSandcastles.of({
        capabilities,
        of: Effect.fnUntraced(function* ({ chatId, organizationId, principal }) {
          const chat = yield* chats.get(organizationId, chatId)
          const owner = ownerOf(principal, chat)
          const id = yield* idOf(chatId, owner)
          const source = Option.match(chat, {
            onNone: () => "chat" as const,
            onSome: (found) => sourceOf[found.source]
          })

          /** Has the session open, and uses it. */
          const used = <A, E>(work: Effect.Effect<A, E, CurrentPrincipal>) =>
            Effect.gen(function* () {
              const { missing, stateLost } = yield* sandcastles.serve(id, chatId, owner.creator)
              const use: ChatUse<A> = { answer: yield* work, sandcastleId: id, stateLost, missing }
              return use
            }).pipe(
              Effect.mapError((error) => (error === noSession ? lostMeanwhile : error)),
              Effect.provideService(CurrentPrincipal, principal)
            )

          return {
            execute: (code, following = {}) => used(sandcastles.execute(id, { ...following, code, source })),
            exec: (request) => used(sandcastles.exec(id, { ...request, source })),
            query: (request) => used(sandcastles.query(id, { ...request, source })),
            bind: (name, table) => used(sandcastles.bind(id, name, table)),
            listFiles: (path) => used(sandcastles.listFiles(id, path)),
            download: (path) => used(sandcastles.download(id, path))
          }
        })
      })
    })
  )
