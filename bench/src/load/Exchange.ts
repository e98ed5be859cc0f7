/**
 * One request whose answer is a stream, and the moments at which its parts arrive.
 */
import { Effect } from "effect"
import type { Socket } from "node:net"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { type EndedStream, StreamBytes } from "./StreamBytes.ts"

/** A streamed answer with its moments, in milliseconds after the request. */
export interface Exchange {
  /** When each mark was first there, in the order of the marks. */
  readonly marks: ReadonlyArray<number>
  readonly ended: number
  readonly stream: EndedStream
}

/** Sends a request on a connection and waits for the stream to end. Every mark must be in it. */
export const exchange = (
  socket: Socket,
  request: Buffer,
  marks: ReadonlyArray<Buffer>
): Effect.Effect<Exchange, BenchmarkFailure> =>
  Effect.callback((resume) => {
    const bytes = new StreamBytes()
    const seen = marks.map(() => Number.NaN)
    const settle = (outcome: Effect.Effect<Exchange, BenchmarkFailure>) => {
      socket.removeAllListeners()
      resume(outcome)
    }
    const fail = (message: string) => settle(Effect.fail(new BenchmarkFailure({ message })))

    const sent = performance.now()
    socket.on("data", (piece) => {
      const at = performance.now() - sent
      const { ended, refused } = bytes.add(piece)
      if (refused !== undefined) return fail(`not a stream:\n${piece.toString("utf8")}`)
      marks.forEach((mark, index) => {
        if (Number.isNaN(seen[index]) && bytes.includes(mark)) seen[index] = at
      })
      if (!ended) return
      const stream = bytes.read()
      if (stream === undefined || seen.some(Number.isNaN)) return fail("the stream lacks an event")
      settle(Effect.succeed({ marks: seen, ended: at, stream }))
    })
    socket.on("error", (error) => fail(error.message))
    socket.on("close", () => fail("the server closed the connection"))
    socket.write(request)
    return Effect.sync(() => void socket.removeAllListeners())
  })
