/** What a fork-server says when a session cannot be opened, and that it goes on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readLine } from "../../src/linux/internal/ForkServer.ts"
import { defaultLimits } from "../../src/linux/LinuxLimits.ts"
import { startChanged } from "../support/ChangedForkServer.ts"
import { missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("what a fork-server says when it has no session")

/** Milliseconds that only what hangs takes. */
const patience = 240_000

const opening = (token: string) =>
  ({ token, limits: defaultLimits, controlGroup: undefined, work: { program: "serve", nonce: "n" } }) as const

const refusing = (file: string, line: string) => ({ file, line, becomes: `_try(request["token"])\n        ${line}` })

const failing = [
  {
    file: "castellan_zygote.py",
    line: "@dataclass\n",
    becomes: `def _try(token: str) -> None:
    if token == "refused":
        raise OSError(11, "Resource temporarily unavailable", "fork")


@dataclass
`
  },
  refusing("castellan_zygote.py", "pid = kernel.fork_into(walls.OWN)")
]

describe.skipIf(missing !== undefined)("a fork-server", { timeout: patience }, () => {
  it.live("for which there is no process says so to that session, and serves the others", () =>
    Effect.gen(function* () {
      const { server } = yield* startChanged(failing)
      const neighbour = yield* server.open(opening("neighbour"))
      const refused = yield* Effect.flip(Effect.scoped(server.open(opening("refused"))))
      assert.deepStrictEqual(refused, { step: "fork", reason: "Resource temporarily unavailable" })
      const next = yield* server.open(opening("next"))
      for (const { channel } of [neighbour, next]) assert.include(yield* readLine(channel), '"event":"ready"')
      assert.isTrue(server.isRunning())
    })
  )

  it.live("in which a library started threads forks sessions that wait for none of them", () =>
    Effect.gen(function* () {
      const file = "castellan_zygote.py"
      const { server } = yield* startChanged([
        {
          file,
          line: "    _leave_threads_behind()\n",
          becomes: `    import threading
    global held
    held, isHeld = threading.Lock(), threading.Event()
    def hold() -> None:
        with held:
            isHeld.set()
            time.sleep(86400)
    threading.Thread(target=hold, daemon=True).start()
    isHeld.wait()
    os.register_at_fork(after_in_child=held._at_fork_reinit)
    _leave_threads_behind()
`
        },
        {
          file,
          line: '        os.mkdir(os.environ["HOME"], 0o700)\n',
          becomes: '        os.mkdir(os.environ["HOME"], 0o700)\n        assert held.acquire(blocking=False)\n'
        }
      ])
      const { channel } = yield* server.open(opening("one"))
      assert.include(yield* readLine(channel), '"event":"ready"')
    })
  )

  it.live("of which a wall does not come up says which one, and nothing of that session is left", () =>
    Effect.gen(function* () {
      const { server } = yield* startChanged([
        {
          file: "castellan_linux/walls.py",
          line: "    _enter_root()\n",
          becomes: '    kernel.unmount("/nowhere", 0)\n'
        }
      ])
      const refused = yield* Effect.flip(Effect.scoped(server.open(opening("one"))))
      assert.deepInclude(refused, { step: "unmount /nowhere", reason: "No such file or directory" })
    })
  )

  it.live("hears of a session's end whoever ends it, and knows its memory until then", () =>
    Effect.gen(function* () {
      const { server } = yield* startChanged([])
      const session = yield* server.open(opening("one"))
      assert.include(yield* readLine(session.channel), '"event":"ready"')
      assert.isDefined(yield* session.memory)
      session.channel.destroy()
      assert.isFalse(yield* session.gone)
      assert.isUndefined(yield* session.memory)
    })
  )
})
