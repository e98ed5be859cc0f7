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
import type * as ChatQueries from "../chat/ChatQueries.ts"
import type * as ChatWire from "../chat/ChatWire.ts"
import type * as ConnectorWire from "../connector/ConnectorWire.ts"
import type * as ModelWire from "../model/ModelWire.ts"
import { type ChatStreamEvent, events, type ResumeOptions } from "./ChatEvents.ts"
import * as Transport from "./Transport.ts"

export { CastellanError, type CastellanErrorCode } from "./CastellanError.ts"
export type { ChatStreamEvent, ResumeOptions } from "./ChatEvents.ts"
export type { RequestOptions } from "./Transport.ts"

/** A question: `question`, and where it goes. */
export type AskRequest = typeof AskRequestModule.AskRequest.Encoded
/** The answer of a question. */
export type Answer = typeof ChatWire.AnswerWire.Encoded
/** A page of chats. */
export type ChatList = typeof ChatWire.ChatListWire.Encoded
/** A chat with its messages and assets. */
export type ChatView = typeof ChatWire.ChatViewWire.Encoded
/** A page of a chat's cells. */
export type CellList = typeof ChatWire.CellListWire.Encoded
/** What came of a cancel. */
export type Cancellation = typeof ChatWire.CancellationWire.Encoded
/** A data source. */
export type Connector = typeof ConnectorWire.ConnectorWire.Encoded
/** The models that may be chosen. */
export type ModelList = typeof ModelWire.ModelListWire.Encoded
/** Which chats to list. */
export type ListChatsQuery = typeof ChatQueries.ListChatsQuery.Encoded
/** Which cells to list. */
export type ListCellsQuery = typeof ChatQueries.ListCellsQuery.Encoded

/** Where the service is, who asks, and how streams that are cut are taken up again. */
export interface ClientOptions extends Transport.TransportOptions {
  readonly resume?: ResumeOptions
}

/** What the caller of a stream may say. */
export interface FollowOptions extends Transport.RequestOptions {
  /** The id of the last event that the caller has; absent, the stream starts with the first. */
  readonly lastEventId?: string | undefined
}

/** The operations of the service. Each rejects with a `CastellanError`, or with the reason of its signal. */
export interface Client {
  readonly chats: {
    /** Asks a question and waits for the answer. */
    readonly ask: (request: AskRequest, options?: Transport.RequestOptions) => Promise<Answer>
    /**
     * Asks a question when the iteration starts, and yields the run's events up to `done`. A connection that is cut is
     * taken up again where it was. To leave the loop ends the stream, not the run.
     */
    readonly stream: (request: AskRequest, options?: Transport.RequestOptions) => AsyncIterable<ChatStreamEvent>
    /** Lists the chats that the caller may read. */
    readonly list: (query?: ListChatsQuery, options?: Transport.RequestOptions) => Promise<ChatList>
    /** A chat with its messages and assets. */
    readonly get: (id: string, options?: Transport.RequestOptions) => Promise<ChatView>
    /** The steps of a chat's runs, from the newest back. */
    readonly cells: (id: string, query?: ListCellsQuery, options?: Transport.RequestOptions) => Promise<CellList>
    /** Joins the run in progress, or replays the last one, and yields its events up to `done`. */
    readonly follow: (id: string, options?: FollowOptions) => AsyncIterable<ChatStreamEvent>
    /** Cancels the run in progress, and resolves when it has ended. */
    readonly cancel: (id: string, options?: Transport.RequestOptions) => Promise<Cancellation>
  }
  readonly connectors: {
    /** The data sources that the caller may use. */
    readonly list: (options?: Transport.RequestOptions) => Promise<ReadonlyArray<Connector>>
  }
  readonly models: {
    /** The models that the caller may choose. */
    readonly list: (options?: Transport.RequestOptions) => Promise<ModelList>
  }
  readonly assets: {
    /** Fetches an asset by one of its signed addresses. The key is not sent along. */
    readonly fetch: (url: string, options?: Transport.RequestOptions) => Promise<Response>
  }
}

const chatPath = (id: string): string => `/v2/chats/${encodeURIComponent(id)}`

const queryOf = (query: Readonly<Record<string, string | number | undefined>>): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`
}

const eventStream = { accept: "text/event-stream" }

/** A client of one service as one caller. */
export const make = (options: ClientOptions): Client => {
  const transport = Transport.make(options)

  const request = async <Body>(sent: Transport.ServiceRequest): Promise<Body> =>
    Transport.readJson<Body>(await transport.send(sent), sent.signal)

  const resume = (chatId: string, lastEventId: string | undefined, signal: AbortSignal): Promise<Response> =>
    transport.send({
      method: "GET",
      path: `${chatPath(chatId)}/stream`,
      headers: lastEventId === undefined ? eventStream : { ...eventStream, "last-event-id": lastEventId },
      signal
    })

  return {
    chats: {
      ask: (body, { signal } = {}) => request({ method: "POST", path: "/v2/chats", body, signal }),
      stream: (body, { signal } = {}) =>
        events({
          open: (connection) =>
            transport.send({
              method: "POST",
              path: "/v2/chats/stream",
              headers: eventStream,
              body,
              signal: connection
            }),
          resume,
          chatId: body.chat_id,
          repeatable: false,
          options: options.resume,
          signal
        }),
      list: (query = {}, { signal } = {}) => request({ method: "GET", path: `/v2/chats${queryOf(query)}`, signal }),
      get: (id, { signal } = {}) => request({ method: "GET", path: chatPath(id), signal }),
      cells: (id, query = {}, { signal } = {}) =>
        request({ method: "GET", path: `${chatPath(id)}/cells${queryOf(query)}`, signal }),
      follow: (id, { lastEventId, signal } = {}) =>
        events({
          open: (connection) => resume(id, lastEventId, connection),
          resume,
          chatId: id,
          lastEventId,
          repeatable: true,
          options: options.resume,
          signal
        }),
      cancel: (id, { signal } = {}) => request({ method: "POST", path: `${chatPath(id)}/cancel`, signal })
    },
    connectors: {
      list: ({ signal } = {}) => request({ method: "GET", path: "/v2/connectors", signal })
    },
    models: {
      list: ({ signal } = {}) => request({ method: "GET", path: "/v2/models", signal })
    },
    assets: {
      fetch: (url, { signal } = {}) =>
        transport.send({ method: "GET", path: url, headers: { accept: "*/*" }, authenticated: false, signal })
    }
  }
}
