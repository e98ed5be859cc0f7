/**
 * The operations of chats.
 *
 * Source: api-v2.md "Chat"; decisions.md §4.
 */
import { CellId } from "@castellan/core/chat/Cell"
import { ChatId } from "@castellan/core/chat/Chat"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authentication } from "../access/Authentication.ts"
import {
  CancelledError,
  ConflictError,
  ContentTooLargeError,
  ExecutionFailedError,
  InvalidRequestError,
  NotFoundError,
  PermissionDeniedError,
  TimeoutError,
  UnsupportedMediaTypeError
} from "../error/ErrorEnvelope.ts"
import { actErrors, readErrors, writeErrors } from "../error/OperationErrors.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { operation, reportingInput } from "../wire/Operation.ts"
import { uuid } from "../wire/WireValue.ts"
import { AskForm, AskRequest } from "./AskRequest.ts"
import { CellWire } from "./CellWire.ts"
import { ListCellsQuery, ListChatsQuery } from "./ChatQueries.ts"
import { ChatStreamFrame, ResumptionHeaders } from "./ChatStreamFrame.ts"
import {
  AnswerWire,
  CancellationWire,
  CellListWire,
  ChatDeletionWire,
  ChatListWire,
  ChatViewWire,
  FeedbackRequest,
  FeedbackWire,
  UpdateChatRequest,
  UpdatedChatWire
} from "./ChatWire.ts"

/** The id of a chat in a path. A malformed one reads as not found: see `SchemaErrors`. */
const params = { id: uuid(ChatId, "The chat's id") }

/** The event stream of a run. */
const ChatStream = HttpApiSchema.StreamSse({ events: ChatStreamFrame })

const ask = HttpApiEndpoint.post("ask", "/", {
  payload: [AskRequest, AskForm],
  success: AnswerWire,
  error: [
    // First: the more exact statuses below share its class, and the first that fits is the one that is sent.
    InvalidRequestError,
    PermissionDeniedError,
    NotFoundError,
    ConflictError,
    ContentTooLargeError,
    UnsupportedMediaTypeError,
    ExecutionFailedError,
    CancelledError,
    TimeoutError
  ]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "createChat",
    summary: "Ask a question and wait for the answer",
    description:
      "Asks a question, in a new chat or in one that exists, and answers when the run has ended. A run that failed is an error; what it left behind is in the chat all the same. The run goes on when the client leaves."
  })
)

const askStream = HttpApiEndpoint.post("askStream", "/stream", {
  payload: [AskRequest, AskForm],
  success: ChatStream,
  error: [
    InvalidRequestError,
    PermissionDeniedError,
    NotFoundError,
    ConflictError,
    ContentTooLargeError,
    UnsupportedMediaTypeError
  ]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "streamChat",
    summary: "Ask a question and follow the answer",
    description:
      "Asks a question, in a new chat or in one that exists, and streams the run's events as server-sent events: `metadata` first, exactly one `done` last. An error before the first event is an HTTP error; after it, a `done` with `failed`. The run goes on when the client leaves: `GET /v2/chats/{id}/stream` joins it again."
  })
)

const list = HttpApiEndpoint.get("list", "/", {
  query: ListChatsQuery,
  success: ChatListWire,
  error: [PermissionDeniedError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "listChats",
    summary: "List chats",
    description: "The chats that the caller may read, by default the one that changed last first."
  })
)

const get = HttpApiEndpoint.get("get", "/:id", {
  params,
  success: ChatViewWire,
  error: [PermissionDeniedError, NotFoundError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "getChat",
    summary: "Get a chat",
    description: "A chat with its messages and assets. The assets' addresses are signed anew on every fetch."
  })
)

const cells = HttpApiEndpoint.get("cells", "/:id/cells", {
  params,
  query: ListCellsQuery,
  success: CellListWire,
  error: [PermissionDeniedError, NotFoundError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "listCells",
    summary: "List the cells of a chat",
    description: "The steps of a chat's runs, from the newest back; each page in the order of their time."
  })
)

const follow = HttpApiEndpoint.get("follow", "/:id/stream", {
  params,
  headers: ResumptionHeaders,
  success: ChatStream,
  error: [PermissionDeniedError, NotFoundError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "followChat",
    summary: "Follow a chat",
    description:
      "Joins the run in progress, or replays the last one: the events of `POST /v2/chats/stream` from the first, or after `Last-Event-ID`. A comment is sent every 15 seconds, so that nobody takes a long step for a dead connection."
  })
)

const cancel = HttpApiEndpoint.post("cancel", "/:id/cancel", {
  params,
  success: CancellationWire,
  error: actErrors
}).annotateMerge(
  OpenApi.annotations({
    identifier: "cancelChat",
    summary: "Cancel the run in progress",
    description:
      "Stops the run in progress down to the statement that it waits for, and answers when it has ended. Its stream ends with a `done` that has `failed` and the error `cancelled`."
  })
)

const cell = HttpApiEndpoint.get("cell", "/:id/cells/:cell_id", {
  params: { ...params, cell_id: uuid(CellId, "The cell's id") },
  success: CellWire,
  error: readErrors
}).annotateMerge(operation("getCell", "Get a cell", "One step of a chat's runs."))

const update = HttpApiEndpoint.patch("update", "/:id", {
  params,
  payload: UpdateChatRequest,
  success: UpdatedChatWire,
  error: writeErrors
}).annotateMerge(operation("updateChat", "Update a chat", "Changes the chat's title; what is absent stays."))

const remove = HttpApiEndpoint.delete("delete", "/:id", {
  params,
  success: ChatDeletionWire,
  error: actErrors
}).annotateMerge(
  operation(
    "deleteChat",
    "Delete a chat",
    "Deletes a chat for good, with its runs and assets. Not while a run is in progress."
  )
)

const feedback = HttpApiEndpoint.post("feedback", "/:id/feedback", {
  params,
  payload: FeedbackRequest,
  success: FeedbackWire,
  error: writeErrors
}).annotateMerge(
  operation(
    "giveFeedback",
    "Give feedback on a chat",
    "Keeps what the caller thinks of the chat, in place of what they thought before."
  )
)

/** The operations of chats. */
export class ChatsGroup extends HttpApiGroup.make("chats")
  .add(ask, askStream, list, get, cells, cell, update, remove, cancel, follow, feedback)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/chats")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(
    OpenApi.annotations({ title: "Chat", description: "Questions in natural language, and their answers" })
  ) {}
