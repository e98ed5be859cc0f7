/**
 * How a question becomes a run: of a new chat, or of one that goes on.
 *
 * Source: api-v2.md "Chat" (`POST /v2/chats/stream`); decisions.md §4.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { AuditEntry } from "../audit/AuditEvent.ts"
import type { Done } from "../audit/UseCase.ts"
import { Connectors } from "../connector/Connectors.ts"
import { Conflict, InvalidRequest, NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { ModelId } from "../model/Model.ts"
import { Models } from "../model/Models.ts"
import type { Permission } from "../role/Permission.ts"
import { noUsage, Run, RunId, RunStatus } from "../run/Run.ts"
import * as MediaType from "../sandcastle/MediaType.ts"
import { Sandcastles } from "../sandcastle/Sandcastles.ts"
import { Budgets } from "../usage/Budgets.ts"
import { CellId } from "./Cell.ts"
import { Chat, ChatActivity, ChatId, type ChatSource, defaultTools, summaryOf, type ToolConfiguration } from "./Chat.ts"
import * as ChatPolicy from "./ChatPolicy.ts"
import { ChatStore } from "./ChatStore.ts"
import * as Upload from "./Upload.ts"
import { UploadStore } from "./UploadStore.ts"

/** A question of the caller. */
export interface Question {
  readonly question: string
  /** The chat to continue; absent: a new one. */
  readonly chatId?: ChatId
  /** The model of a new chat; not to be named for one that is continued. */
  readonly model?: ModelId
  /** What the run may use; absent: the chat's own configuration, or the default of a new one. */
  readonly tools?: ToolConfiguration
  /** Files for the analyst's sandbox. */
  readonly files?: ReadonlyArray<Upload.SentFile>
  readonly source: ChatSource
}

/** What is known of the files of a question before they are kept. */
const sentWith = ({ files = [] }: Question) => files.map(({ content, name }) => ({ name, size: content.length }))

/** What a question asks of a chat that there is none of it: whatever its fields alone make impossible. */
export const shapeOf = (question: Question): Effect.Effect<void, InvalidRequest> => {
  const files = Upload.check(sentWith(question))
  if (Result.isFailure(files)) return Effect.fail(files.failure)
  if (question.question.trim() === "") {
    return Effect.fail(new InvalidRequest({ message: "question: must not be empty" }))
  }
  if (question.chatId !== undefined && question.model !== undefined) {
    return Effect.fail(new InvalidRequest({ message: "model: must not be sent together with chat_id" }))
  }
  return Effect.void
}

/** What opens a new chat: a playbook and an agent ask under the permission to start them, whoever may not chat. */
const permissionToOpen: { readonly [Source in ChatSource]: Permission } = {
  api: "chat:write",
  console: "chat:write",
  mcp: "chat:write",
  playbook: "playbook:run",
  agent: "agent:trigger"
}

const runEntry = (run: Run): AuditEntry => ({
  action: "run",
  target: { type: "run", id: run.id },
  after: {
    chat: run.chatId,
    model: run.model,
    ...(run.files.length === 0 ? {} : { files: run.files.map(({ path }) => path) })
  }
})

/** Keeps the run of a question, queued; part of the use case that asks. */
export const make = Effect.gen(function* () {
  const store = yield* ChatStore
  const connectors = yield* Connectors
  const models = yield* Models
  const budgets = yield* Budgets
  const sandcastles = yield* Sandcastles
  const uploads = yield* UploadStore
  const random = yield* SecureRandom.SecureRandom
  const nextId = Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)

  const newRun = Effect.fnUntraced(function* (
    principal: Principal,
    chat: Pick<Chat, "id" | "model" | "tools">,
    { question }: Question,
    files: ReadonlyArray<Upload.Upload>,
    isContinuation: boolean
  ) {
    return new Run({
      id: RunId.make(yield* nextId),
      organizationId: principal.organizationId,
      chatId: chat.id,
      principal,
      model: chat.model,
      question,
      files: files.map(({ id, mediaType, name, path, size }) => ({ id, mediaType, name, path, size })),
      questionCellId: CellId.make(yield* nextId),
      messageCellId: CellId.make(yield* nextId),
      tools: chat.tools,
      isContinuation,
      status: RunStatus.cases.Queued.make({}),
      usage: noUsage,
      createdAt: yield* DateTime.now
    })
  })

  /** An agent's model was named by its author: whoever triggers it chooses nothing, and must be allowed it all the same. */
  const modelOf = Effect.fnUntraced(function* (principal: Principal, { model, source }: Question) {
    if (source !== "agent" || model === undefined) return (yield* models.choose(principal, model)).id
    yield* models.permit(principal, model)
    return model
  })

  /** A deployment without sandboxes refuses files, so that none is lost in silence. */
  const requireSandbox = ({ files = [] }: Question): Effect.Effect<void, InvalidRequest> =>
    files.length === 0 || sandcastles.isAvailable
      ? Effect.void
      : Effect.fail(new InvalidRequest({ message: "files: this deployment has no sandboxes to read them in" }))

  /** The files of a question, as they will be kept. */
  const uploadsOf = Effect.fnUntraced(function* (principal: Principal, chatId: ChatId, question: Question) {
    const paths = yield* Effect.fromResult(Upload.check(sentWith(question)))
    const createdAt = yield* DateTime.now
    return yield* Effect.forEach(question.files ?? [], ({ content, name }, index) =>
      Effect.map(
        nextId,
        (id) =>
          new Upload.Upload({
            id: Upload.UploadId.make(id),
            organizationId: principal.organizationId,
            chatId,
            name,
            path: paths[index] ?? Upload.pathOf(name),
            mediaType: MediaType.ofName(name),
            size: content.length,
            createdAt
          })
      )
    )
  })

  const keepUploads = Effect.fnUntraced(function* (kept: ReadonlyArray<Upload.Upload>, { files = [] }: Question) {
    for (const [index, { content }] of files.entries()) {
      const upload = kept[index]
      if (upload !== undefined) yield* uploads.save(upload, content)
    }
  })

  const open = Effect.fnUntraced(function* (principal: Principal, question: Question) {
    yield* enforce(requires(principal, permissionToOpen[question.source]))
    const model = yield* modelOf(principal, question)
    const tools = question.tools ?? defaultTools
    yield* connectors.usableBy(principal, tools.connectorIds)
    yield* budgets.check(principal)
    yield* requireSandbox(question)
    const now = yield* DateTime.now
    const id = ChatId.make(yield* nextId)
    const files = yield* uploadsOf(principal, id, question)
    const run = yield* newRun(principal, { id, model, tools }, question, files, false)
    const chat = new Chat({
      id,
      organizationId: principal.organizationId,
      source: question.source,
      model,
      tools,
      summary: summaryOf(question.question),
      firstQuestion: question.question,
      createdBy: principal.memberId,
      access: { isPublic: false, grants: [], creator: creatorOf(principal) },
      activity: ChatActivity.cases.Running.make({ runId: run.id }),
      createdAt: now,
      updatedAt: now
    })
    yield* store.open(chat, run)
    yield* keepUploads(files, question)
    const created: AuditEntry = {
      action: "create",
      target: { type: "chat", id },
      after: { summary: chat.summary, model: chat.model, source: chat.source }
    }
    const done: Done<Run> = { answer: run, entries: [created, runEntry(run)] }
    return done
  })

  const proceed = Effect.fnUntraced(function* (principal: Principal, question: Question, chatId: ChatId) {
    const found = yield* store.get(principal.organizationId, chatId)
    if (Option.isNone(found)) return yield* new NotFound({ message: "chat not found" })
    const chat = found.value
    yield* enforce(ChatPolicy.decide(principal, chat, "ask", yield* DateTime.now))
    yield* models.permit(principal, chat.model)
    const tools = question.tools ?? chat.tools
    yield* connectors.usableBy(principal, tools.connectorIds)
    yield* budgets.check(principal)
    yield* requireSandbox(question)
    if (chat.activity._tag === "Running") {
      return yield* new Conflict({ message: "a run of this chat is in progress" })
    }
    const files = yield* uploadsOf(principal, chatId, question)
    if (files.length > 0) {
      const paths = [...(yield* uploads.list(chat.organizationId, chatId)), ...files].map(({ path }) => path)
      if (new Set(paths).size > Upload.maxFilesOfChat) {
        return yield* new Conflict({ message: `files: a chat holds at most ${Upload.maxFilesOfChat} of them` })
      }
    }
    const run = yield* newRun(principal, { id: chat.id, model: chat.model, tools }, question, files, true)
    yield* store.ask(run)
    yield* keepUploads(files, question)
    const done: Done<Run> = { answer: run, entries: [runEntry(run)] }
    return done
  })

  return (principal: Principal, question: Question) =>
    question.chatId === undefined ? open(principal, question) : proceed(principal, question, question.chatId)
})
