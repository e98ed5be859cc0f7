/**
 * The bytes of a control channel: in order, held back where nobody reads, and over with the connection.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { connect, createServer, type Socket } from "node:net"
import * as SessionBytes from "../../src/linux/internal/SessionBytes.ts"

/** Two ends of a connection. */
const connection = Effect.acquireRelease(
  Effect.callback<{ readonly ours: Socket; readonly other: Socket }>((resume) => {
    const server = createServer({ allowHalfOpen: true }, (other) => {
      server.close()
      resume(Effect.succeed({ ours, other }))
    })
    let ours: Socket
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      ours = connect({ port: typeof address === "object" && address !== null ? address.port : 0, host: "127.0.0.1" })
      // An end and an error are the same, as for the tier, which listens as well.
      ours.on("error", () => {})
    })
  }),
  ({ other, ours }) =>
    Effect.sync(() => {
      ours.destroy()
      other.destroy()
    })
)

const mebibyte = 1024 * 1024

it.live("come in order, however slowly they are read, and end with the other side", () =>
  Effect.gen(function* () {
    const { other, ours } = yield* connection
    const size = 8 * mebibyte
    const sent = Buffer.alloc(size)
    for (let at = 0; at < size; at += 4) sent.writeUInt32LE(at, at)
    other.end(sent)
    let most = 0
    const received = yield* SessionBytes.read(ours).pipe(
      Stream.mapEffect((chunk) => {
        most = Math.max(most, ours.readableLength)
        return Effect.as(Effect.yieldNow, chunk)
      }),
      Stream.runCollect
    )
    assert.isTrue(Buffer.concat(received).equals(sent))
    assert.isBelow(most, mebibyte)
  }).pipe(Effect.scoped)
)

it.live("are held back while nobody reads, and go on when somebody does", () =>
  Effect.gen(function* () {
    const { other, ours } = yield* connection
    const size = 64 * mebibyte
    other.end(Buffer.alloc(size))
    let came = 0
    let most = 0
    yield* SessionBytes.read(ours).pipe(
      Stream.runForEach((chunk) =>
        Effect.gen(function* () {
          came += chunk.length
          if (came > chunk.length) return
          while (!ours.isPaused()) yield* Effect.sleep("1 millis")
          most = ours.bytesRead
        })
      )
    )
    assert.isBelow(most, mebibyte)
    assert.strictEqual(came, size)
  }).pipe(Effect.scoped)
)

it.live("that go out wait for whoever does not read, and go nowhere once nobody is there", () =>
  Effect.gen(function* () {
    const { other, ours } = yield* connection
    assert.isTrue(yield* SessionBytes.write(ours, Buffer.from("x")))
    // More than the system holds for a connection.
    const waiting = yield* Effect.timeoutOption(SessionBytes.write(ours, Buffer.alloc(64 * mebibyte)), "100 millis")
    assert.strictEqual(waiting._tag, "None")
    other.destroy()
    yield* Stream.runDrain(SessionBytes.read(ours))
    assert.isFalse(yield* SessionBytes.write(ours, Buffer.from("x")))
  }).pipe(Effect.scoped)
)
