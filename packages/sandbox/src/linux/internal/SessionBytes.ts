/**
 * The bytes of a session's control channel, at the edge to Node. Whoever reads goes on within the very event that brings
 * them: an execution is over in less than a millisecond, of which an iterator of Node's would take a part.
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { Socket } from "node:net"

/** Bytes that may wait for a reader before no more are taken from the other side. */
const highWater = 256 * 1024

/** What comes out of a channel until it ends. An error of it is an end: nobody is there. */
export const read = (channel: Socket): Stream.Stream<Uint8Array> =>
  Stream.fromPull(
    Effect.sync(() => {
      let chunks: Array<Uint8Array> = []
      let size = 0
      let hasEnded = false
      let reader: ((given: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>>) => void) | undefined

      const serve = (): void => {
        if (reader === undefined || (chunks.length === 0 && !hasEnded)) return
        const [resume, given] = [reader, chunks]
        reader = undefined
        chunks = []
        size = 0
        if (channel.isPaused()) channel.resume()
        resume(Arr.isReadonlyArrayNonEmpty(given) ? Effect.succeed(given) : Cause.done())
      }
      const end = (): void => {
        hasEnded = true
        serve()
      }

      channel.on("data", (chunk: Uint8Array) => {
        chunks.push(chunk)
        size += chunk.length
        serve()
        if (size > highWater) channel.pause()
      })
      channel.once("end", end).once("close", end)
      if (channel.destroyed) end()

      return Effect.callback<Arr.NonEmptyReadonlyArray<Uint8Array>, Cause.Done>((resume) => {
        reader = resume
        serve()
        return Effect.sync(() => (reader = undefined))
      })
    })
  )

/** Writes to a channel, and waits while the other side takes nothing; false where nobody reads any more. */
export const write = (channel: Socket, bytes: Uint8Array): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    if (!channel.writable) return resume(Effect.succeed(false))
    const hasRoom = channel.write(bytes, (error) => resume(Effect.succeed(!error)))
    if (hasRoom) resume(Effect.succeed(true))
  })
