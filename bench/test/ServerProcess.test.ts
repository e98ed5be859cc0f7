import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { connect } from "node:net"
import { answerOf, orderOf, usageOf } from "../src/server/Protocol.ts"
import * as ServerProcess from "../src/server/ServerProcess.ts"

const raw = new URL("../src/json-read/raw.ts", import.meta.url)

/** Whether anybody listens on a port. */
const listens = (port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.succeed(true)))
    socket.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => void socket.destroy())
  })

describe("ServerProcess", () => {
  it.live("tells its usage, obeys, says what it cannot do, and ends with its scope", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* ServerProcess.start("raw", raw, undefined)
          const before = yield* server.usage
          const after = yield* server.usage
          assert.isAbove(before.cpuMicros, 0)
          assert.isAtLeast(after.cpuMicros, before.cpuMicros)
          assert.isAbove(after.residentBytes, 1_000_000)
          assert.match(
            (yield* Effect.flip(server.order("dance"))).message,
            /the server raw failed: unknown command dance/
          )
          assert.isTrue(yield* listens(server.port))
          return server.port
        })
      )
      assert.isFalse(yield* listens(port))
    })
  )

  it.live("stands still, and goes on, as it is told", () =>
    Effect.gen(function* () {
      const [still, other] = [
        yield* ServerProcess.start("still", raw, undefined),
        yield* ServerProcess.start("other", raw, undefined)
      ]
      yield* still.run(false)
      const asked = yield* Effect.forkChild(still.usage)
      // Long enough for it to have answered many times, if it ran.
      yield* Effect.repeat(other.usage, { times: 100 })
      assert.isUndefined(asked.pollUnsafe())
      yield* still.run(true)
      assert.isAbove((yield* Fiber.join(asked)).cpuMicros, 0)
    }).pipe(Effect.scoped)
  )

  it.live("fails when the program ends before it listens", () =>
    Effect.gen(function* () {
      const program = new URL("../src/json-read/Payload.ts", import.meta.url)
      const failure = yield* Effect.flip(ServerProcess.start("mute", program, undefined))
      assert.match(failure.message, /the server mute ended by itself with 0/)
    }).pipe(Effect.scoped)
  )
})

describe("Protocol", () => {
  const nonsense: ReadonlyArray<unknown> = [
    undefined,
    null,
    7,
    "ready",
    {},
    { type: "ready" },
    { type: "ready", port: "1", bearer: "key" },
    { type: "done", id: 1 },
    { type: "failed", id: 1, message: 2 },
    { type: "order", id: 1, command: "usage" },
    { type: "else", id: 1, output: "" }
  ]
  for (const message of nonsense) {
    it(`understands nothing in ${JSON.stringify(message)}`, () => {
      assert.isUndefined(answerOf(message))
      assert.isUndefined(orderOf(message))
    })
  }

  it("reads what it should", () => {
    assert.deepStrictEqual(answerOf({ type: "ready", port: 1, bearer: "key", more: true }), {
      type: "ready",
      port: 1,
      bearer: "key"
    })
    assert.deepStrictEqual(orderOf({ type: "order", id: 1, command: "play", input: "x" }), {
      type: "order",
      id: 1,
      command: "play",
      input: "x"
    })
    assert.deepStrictEqual(usageOf('{"cpuMicros":1,"residentBytes":2}'), { cpuMicros: 1, residentBytes: 2 })
    assert.isUndefined(usageOf('{"cpuMicros":"1"}'))
  })
})
