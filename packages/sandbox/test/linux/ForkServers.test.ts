/** Which fork-server a session comes from, with fork-servers that do nothing. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { ForkServer } from "../../src/linux/internal/ForkServer.ts"
import * as ForkServers from "../../src/linux/internal/ForkServers.ts"

/** Fork-servers by the number in which they were started, with what became of them. */
const make = () => {
  const ended = new Set<number>()
  const closed: Array<number> = []
  let count = 0
  let isBroken = false
  const start = Effect.gen(function* () {
    if (isBroken) return yield* Effect.fail("it does not start" as const)
    const number = ++count
    yield* Effect.addFinalizer(() => Effect.sync(() => closed.push(number)))
    const server: ForkServer = {
      packages: [],
      python: String(number),
      isRunning: () => !ended.has(number),
      pid: number,
      open: () => Effect.die("not asked")
    }
    return server
  })
  return { start, ended, closed, breakIt: () => (isBroken = true), mendIt: () => (isBroken = false) }
}

/** A session, as long as its scope is open, and the number of its fork-server. */
const session = Effect.fnUntraced(function* (servers: ForkServers.ForkServers<string>) {
  const scope = yield* Scope.make()
  const server = yield* Scope.provide(servers.use, scope)
  return { number: server.pid, close: Scope.close(scope, Exit.void) }
})

it.effect("sessions come from one until it has had its number, and the old one stays for those that it has", () =>
  Effect.gen(function* () {
    const { closed, start } = make()
    const servers = yield* ForkServers.make(start, 2)
    const [one, two, three] = [yield* session(servers), yield* session(servers), yield* session(servers)]
    assert.deepStrictEqual([one.number, two.number, three.number], [1, 1, 2])
    yield* one.close
    assert.deepStrictEqual(closed, [])
    yield* two.close
    assert.deepStrictEqual(closed, [1])
    yield* three.close
    // It may still serve one more.
    assert.deepStrictEqual(closed, [1])
  })
)

it.effect("one that has ended is replaced, and gone once its sessions know", () =>
  Effect.gen(function* () {
    const { closed, ended, start } = make()
    const servers = yield* ForkServers.make(start, 100)
    const one = yield* session(servers)
    ended.add(1)
    const two = yield* session(servers)
    assert.deepStrictEqual([one.number, two.number], [1, 2])
    yield* one.close
    assert.deepStrictEqual(closed, [1])
  })
)

it.effect("where none starts, a session fails, and the next one tries again", () =>
  Effect.gen(function* () {
    const { breakIt, ended, mendIt, start } = make()
    const servers = yield* ForkServers.make(start, 100)
    ended.add(1)
    breakIt()
    assert.strictEqual(yield* Effect.flip(session(servers)), "it does not start")
    mendIt()
    assert.strictEqual((yield* session(servers)).number, 2)
  })
)

it.effect("where the next one does not start, sessions go on in the old one, and it is tried again", () =>
  Effect.gen(function* () {
    const { breakIt, closed, mendIt, start } = make()
    const servers = yield* ForkServers.make(start, 1)
    yield* session(servers)
    breakIt()
    assert.strictEqual((yield* session(servers)).number, 1)
    mendIt()
    assert.strictEqual((yield* session(servers)).number, 2)
    assert.deepStrictEqual(closed, [])
  })
)

it.effect("all are gone when the scope closes", () =>
  Effect.gen(function* () {
    const { closed, start } = make()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const servers = yield* ForkServers.make(start, 1)
        yield* session(servers)
        yield* session(servers)
      })
    )
    assert.deepStrictEqual(closed.toSorted(), [1, 2])
  })
)
