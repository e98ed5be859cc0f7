/**
 * The body of a response that follows a run: a Node stream for Node's own server, a web stream for everything else.
 * Both pull, so that a connection that is not read takes nothing.
 */
import { Readable } from "node:stream"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Follower } from "./RunFeed.ts"

/** A follower as a Node stream. It holds no more than the one piece that its destination did not take yet. */
class FollowerReadable extends Readable {
  private readonly follower: Follower

  constructor(follower: Follower) {
    super({ highWaterMark: 1 })
    this.follower = follower
  }

  override _read(): void {
    this.pass()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.follower.leave()
    callback(error)
  }

  private readonly pass = (): void => {
    const bytes = this.follower.take()
    if (bytes !== undefined) this.push(bytes)
    else if (this.follower.isAtEnd()) this.push(null)
    else this.follower.wait(this.pass)
  }
}

/** A follower as a web stream. */
const webStream = (follower: Follower, signal: AbortSignal): ReadableStream<Uint8Array> => {
  const onAbort = () => follower.leave()
  const leave = () => {
    signal.removeEventListener("abort", onAbort)
    follower.leave()
  }
  return new ReadableStream<Uint8Array>(
    {
      start: () => {
        if (signal.aborted) follower.leave()
        else signal.addEventListener("abort", onAbort, { once: true })
      },
      pull: (controller) =>
        new Promise<void>((resolve) => {
          const pass = (): void => {
            const bytes = follower.take()
            if (bytes !== undefined) {
              controller.enqueue(bytes)
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

/** What keeps proxies from holding a stream back or keeping it. */
const headers = {
  "cache-control": "no-cache, no-store, no-transform",
  "x-accel-buffering": "no"
}

/** The response that streams to a follower. */
export const respond = (
  request: HttpServerRequest.HttpServerRequest,
  follower: Follower
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.raw(
    request.source instanceof Request ? webStream(follower, request.source.signal) : new FollowerReadable(follower),
    { headers, contentType: "text/event-stream" }
  )
