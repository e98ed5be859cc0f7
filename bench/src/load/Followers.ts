/**
 * Many connections that follow a stream of server-sent events. While the clock runs they only gather bytes; what the
 * bytes say is read afterwards.
 */
import { Deferred, Effect } from "effect"
import type { Socket } from "node:net"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { type EndedStream, StreamBytes } from "./StreamBytes.ts"

/** Connections that follow. */
export interface Followers {
  /** Done when each has had its first event. */
  readonly attached: Effect.Effect<void, BenchmarkFailure>
  /** Done when each stream has ended. */
  readonly ended: Effect.Effect<void, BenchmarkFailure>
  /** What each received; for when the streams have ended. */
  readonly streams: Effect.Effect<ReadonlyArray<EndedStream>, BenchmarkFailure>
}

/** Where an event begins that is not a comment. */
const event = Buffer.from("data:")

/** Time for all of it. */
const patience = "60 seconds"

/** Sends the request on every connection, and gathers what comes back. */
export const follow = (connections: ReadonlyArray<Socket>, request: Buffer): Effect.Effect<Followers> =>
  Effect.sync(() => {
    const attached = Deferred.makeUnsafe<void, BenchmarkFailure>()
    const ended = Deferred.makeUnsafe<void, BenchmarkFailure>()
    let toAttach = connections.length
    let toEnd = connections.length

    const fail = (message: string) => {
      const failed = Effect.fail(new BenchmarkFailure({ message }))
      Deferred.doneUnsafe(attached, failed)
      Deferred.doneUnsafe(ended, failed)
    }
    const all = connections.map((socket) => {
      const bytes = new StreamBytes()
      let isAttached = false
      let isEnded = false
      socket.on("data", (piece) => {
        const added = bytes.add(piece)
        if (added.refused !== undefined) return fail(`not a stream to follow:\n${piece.toString("utf8")}`)
        if (!isAttached && bytes.includes(event)) {
          isAttached = true
          toAttach -= 1
          if (toAttach === 0) Deferred.doneUnsafe(attached, Effect.void)
        }
        if (!added.ended) return
        isEnded = true
        toEnd -= 1
        if (toEnd === 0) Deferred.doneUnsafe(ended, Effect.void)
      })
      socket.on("error", (error) => fail(error.message))
      socket.on("close", () => {
        if (!isEnded) fail("the server closed a connection before its stream had ended")
      })
      socket.write(request)
      return bytes
    })

    const within = (what: string, done: Deferred.Deferred<void, BenchmarkFailure>, missing: () => number) =>
      Effect.timeoutOrElse(Deferred.await(done), {
        duration: patience,
        orElse: () =>
          Effect.fail(
            new BenchmarkFailure({ message: `${missing()} of ${all.length} streams have not ${what} in ${patience}` })
          )
      })
    return {
      attached: within("begun", attached, () => toAttach),
      ended: within("ended", ended, () => toEnd),
      streams: Effect.forEach(all, (bytes) => {
        const stream = bytes.read()
        return stream === undefined
          ? Effect.fail(new BenchmarkFailure({ message: "the answer is not a stream in chunks" }))
          : Effect.succeed(stream)
      })
    }
  })
