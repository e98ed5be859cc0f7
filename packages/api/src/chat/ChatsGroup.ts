/**
 * The operations of chats.
 *
 * Source: api-v2.md "Chat"; decisions.md §4.
 */
import { ChatId } from "@castellan/core/chat/Chat"
import * as HttpApi from "effect/http-api/HttpApi"
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
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { uuid } from "../wire/WireValue.ts"
import { AskForm, AskRequest } from "./AskRequest.ts"
import { ListCellsQuery, ListChatsQuery } from "./ChatQueries.ts"
import { ChatStreamFrame, ResumptionHeaders } from "./ChatStreamFrame.ts"
import { AnswerWire, CancellationWire, CellListWire, ChatListWire, ChatViewWire } from "./ChatWire.ts"

/** The id of a chat in a path. A malformed one reads as not found: see `SchemaErrors`. */
const params = { id: uuid(ChatId, "The chat's id") }

/** What decoding reports of a query or a body: the input of the field that was refused, for the message. */
const reportInput = { reportInput: true } as const

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
})
  .annotate(HttpApi.PayloadParseOptions, reportInput)
  .annotateMerge(
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
})
  .annotate(HttpApi.PayloadParseOptions, reportInput)
  .annotateMerge(
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
})
  .annotate(HttpApi.QueryParseOptions, reportInput)
  .annotateMerge(
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
})
  .annotate(HttpApi.QueryParseOptions, reportInput)
  .annotateMerge(
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
  error: [PermissionDeniedError, NotFoundError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "cancelChat",
    summary: "Cancel the run in progress",
    description:
      "Stops the run in progress down to the statement that it waits for, and answers when it has ended. Its stream ends with a `done` that has `failed` and the error `cancelled`."
  })
)

/** The operations of chats. */
export class ChatsGroup extends HttpApiGroup.make("chats")
  .add(ask, askStream, list, get, cells, follow, cancel)
  .middleware(SchemaErrors)
  .middleware(Authentication)
  .prefix("/v2/chats")
  .annotateMerge(
    OpenApi.annotations({ title: "Chat", description: "Questions in natural language, and their answers" })
  ) {}
