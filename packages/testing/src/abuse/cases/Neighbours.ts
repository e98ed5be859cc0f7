/** Programs that stay behind, or look at their neighbours: 36, 41. */
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type AbuseCase, alive, opened, realSystem, run, shell } from "../Abuse.ts"

const orphans = `
import os, time
for _ in range(200):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        if os.fork() == 0: time.sleep(0.01)
        os._exit(0)
    os.waitpid(child, 0)
time.sleep(0.5)
zombies = 0
for name in os.listdir("/proc"):
    if name.isdigit():
        try: zombies += open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError: pass
print("zombies", zombies)
`

const daemon = `
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for one in range(1, 32):
            try: signal.signal(one, signal.SIG_IGN)
            except OSError: pass
        time.sleep(1000)
    os._exit(0)
`

const traces = `
import os, socket, tempfile
open("/tmp/trace", "w").write("here")
open("/sandbox/files/outputs/trace", "w").write("here")
try: open("/dev/shm/trace", "w").write("here")
except OSError: pass
try:
    one = socket.socket(socket.AF_UNIX); one.bind("\\0castellan-trace"); one.listen(1)
except Exception: pass
import random
print(random.random(), os.urandom(4).hex())
`

const searching = `
import os, socket
for path in ("/tmp/trace", "/sandbox/files/outputs/trace", "/dev/shm/trace"):
    if os.path.exists(path): print("OPEN", path)
try:
    one = socket.socket(socket.AF_UNIX); one.connect("\\0castellan-trace"); print("OPEN socket")
except Exception: pass
import random
print(random.random(), os.urandom(4).hex())
`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 36,
    title: "orphans are collected, and daemons end with their session",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      const { stdout } = yield* run(session, orphans)
      assert.include(stdout, "zombies 0")
      yield* run(session, daemon)
      yield* shell(session, "nohup sleep 1000 >/dev/null 2>&1 & disown; setsid sleep 1000 >/dev/null 2>&1 &")
      yield* alive(session)
    })
  },
  {
    number: 41,
    title: "two sessions share no file, no socket, no process and no chance",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const [one, other] = [yield* opened, yield* opened]
      const first = (yield* run(one, traces)).stdout.trim().split("\n")
      const second = (yield* run(other, searching)).stdout.trim().split("\n")
      assert.deepStrictEqual(
        second.filter((line) => line.startsWith("OPEN")),
        []
      )
      assert.notStrictEqual(first.at(-1)?.split(" ")[0], second.at(-1)?.split(" ")[0], "the same random numbers")
      if (capabilities.packages.includes("numpy")) {
        const drawing = "import numpy\nprint(numpy.random.random())"
        assert.notStrictEqual((yield* run(one, drawing)).stdout, (yield* run(other, drawing)).stdout)
      }
      if (realSystem(capabilities) === undefined) {
        const processes = 'import os\nprint(sorted(int(n) for n in os.listdir("/proc") if n.isdigit()))'
        assert.isAtMost((yield* run(other, processes)).stdout.split(",").length, 6)
      }
    })
  }
]
