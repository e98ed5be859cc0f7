/**
 * The client for programs without Effect: plain promises, async iterables for streams, and one class of error. It runs
 * wherever there is `fetch`, in a browser as on a server, and brings nothing else along.
 *
 * Values are the wire's own JSON: names in `snake_case`, moments as text.
 *
 * ```ts
 * import * as CastellanClient from "@castellan/api/client/Client"
 *
 * const castellan = CastellanClient.make({ baseUrl: "https://analytics.example.com", apiKey })
 * for await (const event of castellan.chats.stream({ question: "Which carriers flew the most flights?" })) {
 *   if (event.type === "text") process.stdout.write(event.text)
 * }
 * ```
 */
import type * as AskRequestModule from "../chat/AskRequest.ts"
import type * as ChatWire from "../chat/ChatWire.ts"
import { type ChatStreamEvent, events, type ResumeOptions } from "./ChatEvents.ts"
import { make as makeMethods, type Methods, type Output, pathOf, type Query } from "./Methods.ts"
import * as Transport from "./Transport.ts"

export { CastellanError, type CastellanErrorCode } from "./CastellanError.ts"
export type { ChatStreamEvent, ResumeOptions } from "./ChatEvents.ts"
export type { Body, Method, Output, Query } from "./Methods.ts"
export type { RequestOptions } from "./Transport.ts"

/** A question: `question`, and where it goes; as a form, with files too. */
export type AskRequest = typeof AskRequestModule.AskRequest.Encoded
/** The answer of a question. */
export type Answer = typeof ChatWire.AnswerWire.Encoded
/** A page of chats. */
export type ChatList = Output<"chats", "list">
/** A chat with its messages and assets. */
export type ChatView = Output<"chats", "get">
/** A page of a chat's cells. */
export type CellList = Output<"chats", "cells">
/** What came of a cancel. */
export type Cancellation = Output<"chats", "cancel">
/** A data source. */
export type Connector = Output<"connectors", "list">[number]
/** The models that may be chosen. */
export type ModelList = Output<"models", "list">
/** Which chats to list. */
export type ListChatsQuery = Query<"chats", "list">
/** Which cells to list. */
export type ListCellsQuery = Query<"chats", "cells">
/** A file of a sandcastle. */
export type SandcastleFile = Output<"sandcastles", "uploadFile">

/** Where the service is, who asks, and how streams that are cut are taken up again. */
export interface ClientOptions extends Transport.TransportOptions {
  readonly resume?: ResumeOptions
}

/** What the caller of a stream may say. */
export interface FollowOptions extends Transport.RequestOptions {
  /** The id of the last event that the caller has; absent, the stream starts with the first. */
  readonly lastEventId?: string | undefined
}

/** The operations that are more than a request and a JSON answer. */
interface Streams {
  readonly chats: {
    /** Asks a question and waits for the answer. */
    readonly ask: (request: AskRequest | FormData, options?: Transport.RequestOptions) => Promise<Answer>
    /**
     * Asks a question when the iteration starts, and yields the run's events up to `done`. A connection that is cut is
     * taken up again where it was. To leave the loop ends the stream, not the run.
     */
    readonly stream: (
      request: AskRequest | FormData,
      options?: Transport.RequestOptions
    ) => AsyncIterable<ChatStreamEvent>
    /** Joins the run in progress, or replays the last one, and yields its events up to `done`. */
    readonly follow: (id: string, options?: FollowOptions) => AsyncIterable<ChatStreamEvent>
  }
  readonly assets: {
    /** Fetches an asset by one of its signed addresses. The key is not sent along. */
    readonly fetch: (url: string, options?: Transport.RequestOptions) => Promise<Response>
  }
  readonly sandcastles: {
    /** Puts a file into a sandcastle: the form's `file`, and its `path` where it shall not go by its own name. */
    readonly uploadFile: (id: string, form: FormData, options?: Transport.RequestOptions) => Promise<SandcastleFile>
    /** The bytes of a file of a sandcastle. */
    readonly downloadFile: (id: string, path: string, options?: Transport.RequestOptions) => Promise<Response>
  }
}

/** The operations of the service. Each rejects with a `CastellanError`, or with the reason of its signal. */
export type Client = Methods & Streams

const eventStream = { accept: "text/event-stream" }

/** The chat that a question goes to, where it says so. */
const chatOf = (request: AskRequest | FormData): string | undefined => {
  if (!(request instanceof FormData)) return request.chat_id
  const sent = request.get("chat_id")
  return typeof sent === "string" ? sent : undefined
}

const makeStreams = (transport: Transport.Transport, options: ClientOptions): Streams => {
  const request = async <Body>(sent: Transport.ServiceRequest): Promise<Body> =>
    Transport.readJson<Body>(await transport.send(sent), sent.signal)

  const resume = (chatId: string, lastEventId: string | undefined, signal: AbortSignal): Promise<Response> =>
    transport.send({
      method: "GET",
      path: pathOf("/v2/chats/{id}/stream", [chatId]),
      headers: lastEventId === undefined ? eventStream : { ...eventStream, "last-event-id": lastEventId },
      signal
    })

  return {
    chats: {
      ask: (body, sent) => request({ method: "POST", path: "/v2/chats", body, ...sent }),
      stream: (body, { idempotencyKey, signal } = {}) =>
        events({
          open: (connection) =>
            transport.send({
              method: "POST",
              path: "/v2/chats/stream",
              headers: eventStream,
              body,
              idempotencyKey,
              signal: connection
            }),
          resume,
          chatId: chatOf(body),
          repeatable: false,
          options: options.resume,
          signal
        }),
      follow: (id, { lastEventId, signal } = {}) =>
        events({
          open: (connection) => resume(id, lastEventId, connection),
          resume,
          chatId: id,
          lastEventId,
          repeatable: true,
          options: options.resume,
          signal
        })
    },
    assets: {
      fetch: (url, sent) =>
        transport.send({ method: "GET", path: url, headers: { accept: "*/*" }, credential: "none", ...sent })
    },
    sandcastles: {
      uploadFile: (id, body, sent) =>
        request({ method: "POST", path: pathOf("/v2/sandcastles/{id}/files", [id]), body, ...sent }),
      downloadFile: (id, path, sent) =>
        transport.send({
          method: "GET",
          path: pathOf("/v2/sandcastles/{id}/files/{path}", [id, path]),
          headers: { accept: "*/*" },
          ...sent
        })
    }
  }
}

/** A client of one service as one caller. */
export const make = (options: ClientOptions): Client => {
  const transport = Transport.make(options)
  const methods = makeMethods(transport)
  const streams = makeStreams(transport, options)
  return {
    ...methods,
    ...streams,
    chats: { ...methods.chats, ...streams.chats },
    sandcastles: { ...methods.sandcastles, ...streams.sandcastles }
  }
}
