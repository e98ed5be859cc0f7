/**
 * A closed loop of requests: every connection sends the next request as soon as it has the answer to the last. Every
 * answer is read in full and compared with the first to the same question, byte for byte; one that is not 2xx, or not
 * the same, ends it.
 */
import { Effect } from "effect"
import type { Socket } from "node:net"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import { contentLength, headOf } from "./HttpResponse.ts"

/** What is asked for. */
export interface Question {
  readonly request: Buffer
  /** Questions about the same subject have the same answer; from 0 on. */
  readonly subject: number
}

/** What a slice of load came to. */
export interface LoadOutcome {
  readonly responses: number
  /** From the first request to the last answer. */
  readonly milliseconds: number
  /** From request to answer, in milliseconds, in rising order. */
  readonly latencies: Float64Array
  /** The body that every answer about a subject had; absent where nobody asked. */
  readonly bodies: ReadonlyArray<Buffer | undefined>
}

/** The same question, whoever asks. */
export const always = (request: Buffer): (() => Question) => {
  const question = { request, subject: 0 }
  return () => question
}

/**
 * Drives the connections for a time; answers that are under way at its end are waited for. `next` is what a connection
 * asks for next.
 */
export const drive = (
  connections: ReadonlyArray<Socket>,
  next: (connection: number) => Question,
  milliseconds: number
): Effect.Effect<LoadOutcome, BenchmarkFailure> =>
  Effect.callback<LoadOutcome, BenchmarkFailure>((resume) => {
    const latencies: Array<number> = []
    const bodies: Array<Buffer | undefined> = []
    let busy = connections.length
    const start = performance.now()
    let last = start

    const settle = () => {
      for (const socket of connections) socket.removeAllListeners()
    }
    const fail = (message: string) => {
      settle()
      resume(Effect.fail(new BenchmarkFailure({ message })))
    }
    const rest = () => {
      busy -= 1
      if (busy > 0) return
      settle()
      resume(
        Effect.succeed({
          responses: latencies.length,
          milliseconds: last - start,
          latencies: Float64Array.from(latencies).toSorted(),
          bodies
        })
      )
    }

    /** Whether the bytes are one whole answer, and the right one for the subject. */
    const judge = (bytes: Buffer, subject: number): "partial" | "right" | "wrong" => {
      const head = headOf(bytes)
      if (head === undefined) return "partial"
      const length = contentLength(head)
      if (head.status < 200 || head.status > 299 || length === undefined) {
        fail(`not an answer to measure:\n${head.text}`)
        return "wrong"
      }
      const end = head.bodyStart + length
      if (bytes.length < end) return "partial"
      // Copied once: the socket's buffer is its own.
      const expected = (bodies[subject] ??= Buffer.from(bytes.subarray(head.bodyStart, end)))
      if (bytes.length === end && bytes.compare(expected, 0, expected.length, head.bodyStart, end) === 0) return "right"
      fail(`an answer differs from the first:\n${bytes.toString("utf8", head.bodyStart)}`)
      return "wrong"
    }

    for (const [index, socket] of connections.entries()) {
      let sent = performance.now()
      let received: Buffer | undefined
      let asked = next(index)
      socket.on("data", (data) => {
        received = received === undefined ? data : Buffer.concat([received, data])
        if (judge(received, asked.subject) !== "right") return
        received = undefined
        last = performance.now()
        latencies.push(last - sent)
        if (last - start >= milliseconds) return rest()
        sent = last
        asked = next(index)
        socket.write(asked.request)
      })
      socket.on("error", (error) => fail(error.message))
      socket.on("close", () => fail("the server closed a connection"))
      socket.write(asked.request)
    }
    return Effect.sync(settle)
  })
