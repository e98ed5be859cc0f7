/**
 * The client for programs on Effect: every operation as the contract has it, with core's own errors, and two streams
 * that outlive a connection which is cut.
 *
 * Source: api-v2.md; decisions.md §4 ("`Last-Event-ID` … resumes after it without a gap or a repeat").
 */
import type { ChatId } from "@castellan/core/chat/Chat"
import type {
  Conflict,
  InvalidRequest,
  NotFound,
  PermissionDenied,
  RateLimitExceeded,
  Unauthenticated
} from "@castellan/core/error/Failure"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Api } from "../Api.ts"
import type { AskRequest } from "../chat/AskRequest.ts"
import type { ChatStreamEvent } from "../chat/ChatStreamEvent.ts"
import type { ChatStreamFrame } from "../chat/ChatStreamFrame.ts"
import type { Internal } from "../error/ErrorEnvelope.ts"

/** The stream was cut, and cannot be taken up again. The run goes on all the same. */
export class StreamLost extends Schema.TaggedError<StreamLost>()("StreamLost", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** How a stream can fail: as its request, or by a connection that does not come back. */
export type StreamError =
  | InvalidRequest
  | Unauthenticated
  | PermissionDenied
  | NotFound
  | Conflict
  | RateLimitExceeded
  | Internal
  | StreamLost
  | HttpClientError.HttpClientError
  | Schema.SchemaError
  | Sse.SseError

/** Where the service is, who asks, and how streams that are cut are taken up again. */
export interface Options {
  /** The address that the service is mounted at. */
  readonly baseUrl: string | URL
  readonly apiKey: Redacted.Redacted<string>
  readonly resume?: {
    /** Attempts in a row that bring no event before a stream is given up; 0 turns resumption off. 8 by default. */
    readonly attempts?: number
    /** Before the first attempt; each further one waits twice as long. 250 milliseconds by default. */
    readonly initialDelay?: Duration.Duration
    /** Between two attempts at most. 5 seconds by default. */
    readonly maximumDelay?: Duration.Duration
  }
}

/** The operations of the contract, and its streams. */
export type Service = HttpApiClient.ForApi<typeof Api> & {
  /**
   * Asks a question each time it is run, and emits the run's events up to `done`. A connection that is cut is taken up
   * again where it was. To stop the stream does not stop the run.
   */
  readonly stream: (request: AskRequest) => Stream.Stream<ChatStreamEvent, StreamError>
  /** Joins the run in progress, or replays the last one, and emits its events up to `done`. */
  readonly follow: (
    id: ChatId,
    options?: { readonly lastEventId?: string }
  ) => Stream.Stream<ChatStreamEvent, StreamError>
}

/** The client as a service. */
export class EffectClient extends Context.Service<EffectClient, Service>()("@castellan/api/client/EffectClient") {}

type Frames = Stream.Stream<ChatStreamFrame, StreamError | Sse.Retry>

/** One way to open a stream. */
type Open = Effect.Effect<Frames, StreamError>

interface Source {
  readonly open: Open
  readonly resume: (id: ChatId, lastEventId: string | undefined) => Open
  readonly chatId: ChatId | undefined
  readonly lastEventId: string | undefined
  /** Whether the first request may be repeated: a question may not, or it would be asked twice. */
  readonly repeatable: boolean
}

/** How far a stream has come. It changes as events arrive, within one run of the stream. */
interface Progress {
  chatId: ChatId | undefined
  lastEventId: string | undefined
  /** The answer that the stream tells; another one's would be another run. */
  answerId: string | undefined
  /** Whether the server has taken the first request. */
  accepted: boolean
  /** Whether `done` has come. */
  ended: boolean
  /** Attempts in a row that brought no event. */
  failures: number
  /** Why the last connection ended. */
  cut: StreamError | Sse.Retry | undefined
}

/** Whether the same request may succeed when it is sent again. */
const isTransient = (error: StreamError | Sse.Retry): boolean => {
  switch (error._tag) {
    case "Retry":
    case "Internal":
    case "RateLimitExceeded":
      return true
    case "HttpClientError":
      return error.response === undefined
        ? error.reason._tag === "TransportError"
        : error.response.status >= 500 || error.response.status === 200
    default:
      return false
  }
}

/** How long the server itself asked to wait. */
const asked = (error: StreamError | Sse.Retry | undefined): Duration.Duration => {
  switch (error?._tag) {
    case "Retry":
      return error.duration
    case "RateLimitExceeded":
      return Duration.seconds(error.retryAfterSeconds)
    default:
      return Duration.zero
  }
}

const isNumber = (id: string): boolean => /^\d+$/.test(id)

/**
 * Whether an id is that of an event that came already. `done` is not asked: nothing comes after it, and a server that
 * cannot go on sends one without an id of its own.
 */
const isRepeat = (id: string | undefined, last: string | undefined): boolean =>
  id !== undefined &&
  last !== undefined &&
  (id === last || (isNumber(id) && isNumber(last) && Number(id) <= Number(last)))

/** Takes note of a frame; false when it came already. */
const take = (progress: Progress, { data, id }: ChatStreamFrame): Effect.Effect<boolean, StreamLost> => {
  if (data.type === "metadata") {
    if (progress.answerId === data.id) return Effect.succeed(false)
    if (progress.answerId !== undefined) {
      return Effect.fail(new StreamLost({ message: "the stream was cut, and another run has taken its place" }))
    }
    progress.answerId = data.id
    progress.chatId = data.chat_id
  } else if (data.type !== "done" && isRepeat(id, progress.lastEventId)) return Effect.succeed(false)
  if (id !== undefined) progress.lastEventId = id
  progress.failures = 0
  progress.ended = data.type === "done"
  return Effect.succeed(true)
}

/** Makes streams that outlive their connections. */
const makeEvents = ({ attempts = 8, initialDelay, maximumDelay }: NonNullable<Options["resume"]>) => {
  const first = initialDelay ?? Duration.millis(250)
  const longest = maximumDelay ?? Duration.seconds(5)

  /** Half to all of the delay, so that a thousand clients of a server that restarts do not come back at once. */
  const pause = (progress: Progress): Effect.Effect<void> =>
    Effect.flatMap(Random.nextBetween(0.5, 1), (part) => {
      const delay = Duration.times(Duration.min(longest, Duration.times(first, 2 ** progress.failures)), part)
      return Effect.sleep(Duration.max(delay, asked(progress.cut)))
    })

  const reopen = (source: Source, progress: Progress): Open => {
    const { chatId, cut } = progress
    if (chatId === undefined || progress.failures >= attempts) {
      const message = chatId === undefined ? "the stream was cut before it named its chat" : "the stream was cut"
      return Effect.fail(new StreamLost({ message, ...(cut === undefined ? {} : { cause: cut }) }))
    }
    return Effect.andThen(
      pause(progress),
      Effect.suspend(() => {
        progress.failures += 1
        return source.resume(chatId, progress.lastEventId)
      })
    )
  }

  /** The events of one connection. To be cut is not to fail: the next connection goes on. */
  const connection = (source: Source, progress: Progress, open: Open): Stream.Stream<ChatStreamEvent, StreamError> =>
    Stream.unwrap(
      Effect.tap(open, () =>
        Effect.sync(() => {
          progress.accepted = true
          progress.cut = undefined
        })
      )
    ).pipe(
      Stream.filterEffect((frame) => take(progress, frame)),
      Stream.map(({ data }) => data),
      Stream.takeUntil(({ type }) => type === "done"),
      Stream.catch((error): Stream.Stream<never, StreamError> => {
        if (isTransient(error) && (progress.accepted || source.repeatable)) {
          progress.cut = error
          return Stream.empty
        }
        // A request to reconnect is transient always, so that it can only come here from a question not yet taken.
        return Stream.fail(error._tag === "Retry" ? new StreamLost({ message: "the stream was cut" }) : error)
      })
    )

  return (source: Source): Stream.Stream<ChatStreamEvent, StreamError> =>
    Stream.suspend(() => {
      const progress: Progress = {
        chatId: source.chatId,
        lastEventId: source.lastEventId,
        answerId: undefined,
        accepted: false,
        ended: false,
        failures: 0,
        cut: undefined
      }
      return Stream.unfold(source.open, (open) =>
        Effect.sync(() =>
          progress.ended
            ? undefined
            : ([connection(source, progress, open), Effect.suspend(() => reopen(source, progress))] as const)
        )
      ).pipe(Stream.flatMap((events) => events))
    })
}

/** A request with the key of its caller: the RPC surface takes it in a header of its own. */
const withKey =
  (apiKey: Redacted.Redacted<string>) =>
  (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest =>
    request.url.includes("/svc.rpc.")
      ? HttpClientRequest.setHeader(request, "svc_api_key", Redacted.value(apiKey))
      : HttpClientRequest.bearerToken(request, apiKey)

/** A client of one service as one caller, over whatever sends HTTP requests here. */
export const make = (options: Options): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const client = yield* HttpApiClient.make(Api, {
      baseUrl: options.baseUrl,
      transformClient: HttpClient.mapRequest(withKey(options.apiKey))
    })
    const events = makeEvents(options.resume ?? {})
    const resume = (id: ChatId, lastEventId: string | undefined): Open =>
      client.chats.follow({
        params: { id },
        headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId }
      })
    return {
      ...client,
      stream: (request) =>
        events({
          open: client.chats.askStream({ payload: request }),
          resume,
          chatId: request.chat_id,
          lastEventId: undefined,
          repeatable: false
        }),
      follow: (id, { lastEventId } = {}) =>
        events({ open: resume(id, lastEventId), resume, chatId: id, lastEventId, repeatable: true })
    }
  })

/** The client as a layer. */
export const layer = (options: Options): Layer.Layer<EffectClient, never, HttpClient.HttpClient> =>
  Layer.effect(EffectClient, make(options))
