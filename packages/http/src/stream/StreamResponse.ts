/**
 * The response that streams a run to a follower: to a Node response by itself, to anything else as a web stream. Both
 * write only when the connection has room, so that one that is not read takes nothing.
 *
 * Source: decisions.md §4 ("The stream").
 */
import { IncomingMessage, ServerResponse } from "node:http"
import type { ChatId } from "@castellan/core/chat/Chat"
import type { RunId } from "@castellan/core/run/Run"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Follower } from "./RunFeed.ts"

/** Which run is streamed, so that it can be streamed again. */
export interface StreamedRun {
  readonly chatId: ChatId
  readonly runId: RunId
}

/** A body that is yet to be sent, in whichever way the server of the request takes it. */
class FollowerBody {
  readonly follower: Follower
  readonly run: StreamedRun

  constructor(follower: Follower, run: StreamedRun) {
    this.follower = follower
    this.run = run
  }
}

const contentType = "text/event-stream"

/** The response that follows a run. */
export const make = (follower: Follower, run: StreamedRun): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.raw(new FollowerBody(follower, run), {
    contentType,
    // Nobody on the way may hold the stream back, or keep it.
    headers: { "cache-control": "no-cache, no-store, no-transform", "x-accel-buffering": "no" }
  })

/** The run that a response streams; nothing for any other response. */
export const streamedRun = ({ body }: HttpServerResponse.HttpServerResponse): StreamedRun | undefined =>
  body._tag === "Raw" && body.body instanceof FollowerBody ? body.body.run : undefined

/** Streams to a Node response until the run has ended or the client is gone. */
const streamTo = (
  node: ServerResponse,
  response: HttpServerResponse.HttpServerResponse,
  follower: Follower
): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    node.writeHead(response.status, { ...response.headers })
    const { socket } = node
    // The headers and the first piece leave together.
    socket?.cork()
    node.flushHeaders()
    process.nextTick(() => socket?.uncork())
    const isChunked = socket !== null && node.chunkedEncoding
    const done = () => resume(Effect.void)
    const pass = (): void => {
      for (let piece = follower.take(); piece !== undefined; piece = follower.take()) {
        // A response in chunks costs Node three writes a piece. The chunk is the same for all followers, so it is made
        // once, and goes to the socket itself: the headers are out, and nothing else writes until `end`.
        const hasRoom = isChunked ? socket.write(piece.chunk) : node.write(piece.bytes)
        if (hasRoom) continue
        if (isChunked) socket.once("drain", pass)
        else node.once("drain", pass)
        return
      }
      if (follower.isAtEnd()) node.end(done)
      else follower.wait(pass)
    }
    node.once("close", done)
    pass()
    return Effect.sync(() => {
      node.off("close", done)
      node.off("drain", pass)
      socket?.off("drain", pass)
    })
  }).pipe(Effect.interruptible, Effect.ensuring(Effect.sync(() => follower.leave())))

/** A follower as a web stream. */
const webStream = (follower: Follower, signal: AbortSignal | undefined): ReadableStream<Uint8Array> => {
  const leave = () => {
    signal?.removeEventListener("abort", leave)
    follower.leave()
  }
  signal?.addEventListener("abort", leave, { once: true })
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        new Promise<void>((resolve) => {
          const pass = (): void => {
            const piece = follower.take()
            if (piece !== undefined) {
              controller.enqueue(piece.bytes)
              resolve()
            } else if (follower.isAtEnd()) {
              leave()
              controller.close()
              resolve()
            } else {
              follower.wait(pass)
            }
          }
          pass()
        }),
      cancel: leave
    },
    { highWaterMark: 0 }
  )
}

/** Sends a response that follows a run, or gives it a body that can be sent; any other it leaves as it is. */
export const send = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (response.body._tag !== "Raw" || !(response.body.body instanceof FollowerBody)) return Effect.succeed(response)
  const { follower } = response.body.body
  if (request.method === "HEAD") {
    follower.leave()
    return Effect.succeed(HttpServerResponse.setBody(response, HttpBody.raw(undefined, { contentType })))
  }
  if (request.source instanceof IncomingMessage) {
    const node = NodeHttpServerRequest.toServerResponse(request)
    if (node instanceof ServerResponse) {
      return Effect.as(streamTo(node, response, follower), response)
    }
  }
  const signal = request.source instanceof Request ? request.source.signal : undefined
  return Effect.succeed(
    HttpServerResponse.setBody(response, HttpBody.raw(webStream(follower, signal), { contentType }))
  )
}
