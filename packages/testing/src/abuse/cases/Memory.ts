/** Programs that take all memory, all processes or all of the stack: 6 to 11, 43. */
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import {
  type AbuseCase,
  alive,
  daring,
  eachSurvives,
  numbered,
  opened,
  realSystem,
  run,
  shell,
  survives,
  webAssembly
} from "../Abuse.ts"

/** A fork bomb each of whose processes begins a session of its own. */
const hiding = `
import os
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: pass
`

const full = `
count=0
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 100 & count=$((count + 1)); done 2>&1
kill $(jobs -p); echo $count
`

const bomb = "held = []\nwhile True: held.append(bytearray(16 << 20))"

const many = `
import os, time
children = []
for _ in range(40):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        try:
            held = bytearray(150 << 20)
            for index in range(0, len(held), 4096): held[index] = 1
            time.sleep(2)
        finally:
            os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
`

const shared = `
import mmap
held = []
try:
    while len(held) < 64:
        one = mmap.mmap(-1, 64 << 20)
        for index in range(0, len(one), 4096): one[index] = 1
        held.append(one)
    print("OPEN", len(held) * 64, "MiB of shared memory")
except (OSError, MemoryError, ValueError) as error:
    print(type(error).__name__)
`

/** Holds messages in sockets that nobody reads: memory of the kernel's, and of no process. */
const buffers = `
import os, signal, socket
told, telling = os.pipe()
makers = 0
for _ in range(40):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        held, written = [], 0
        try:
            while True:
                held.append(socket.socketpair())
                for one in held[-1]:
                    one.setblocking(False)
                    try:
                        while True: written += one.send(b"x" * 65536)
                    except BlockingIOError: pass
        except OSError: pass
        os.write(telling, b"%d\\n" % written)
        signal.pause()
    makers += 1
os.close(telling)
total = 0
with os.fdopen(told, "rb") as answers:
    for _ in range(makers): total += int(answers.readline() or b"0")
print("OPEN" if total > 1 << 30 else "bounded", total, "bytes in sockets")
`

/** Forks until it is refused, and says whether it was. */
export const forks = `
import os, time
made = 0
for _ in range(2000):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        time.sleep(3)
        os._exit(0)
    made += 1
print("OPEN" if made >= 2000 else "bounded", made)
`

const threads = `
import threading, time
stop = threading.Event()
made = 0
try:
    for _ in range(20_000):
        threading.Thread(target=stop.wait, daemon=True).start()
        made += 1
    print("OPEN", made)
except (RuntimeError, MemoryError, OSError) as error:
    print("bounded", made, type(error).__name__)
finally:
    stop.set()
`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 6,
    title: "memory without end is an error in the program, and the session lives",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      const outcome = yield* daring(session, bomb)
      if (!("lost" in outcome)) {
        assert.strictEqual(outcome.finished.outcome, "failed")
        assert.isTrue(outcome.restarted || outcome.error?.name === "MemoryError", outcome.everything)
        yield* run(session, "held = None")
      }
      yield* survives(session)
    })
  },
  {
    number: 7,
    title: "memory of JavaScript, outside of the interpreter's own, is bounded as well",
    applies: webAssembly,
    run: Effect.fnUntraced(function* () {
      const bombs = [
        "const held = []; for (;;) held.push(new Uint8Array(64 << 20).fill(1))",
        "const held = []; for (;;) held.push(new Uint8Array(new SharedArrayBuffer(64 << 20)).fill(1))",
        "const held = []; for (;;) held.push({ text: 'x'.repeat(1000) + held.length })"
      ].map((code) => `from pyodide.code import run_js\nrun_js(${JSON.stringify(code)})`)
      yield* eachSurvives(numbered(bombs), (_session, outcome) =>
        Effect.sync(() => {
          if (!("lost" in outcome)) assert.notStrictEqual(outcome.finished.outcome, "completed")
        })
      )
    })
  },
  {
    number: 8,
    title: "a text of gigabytes in SQL is an error, and the session lives",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      const answered = yield* run(session, 'import castellan\nprint(castellan.sql("select 6 * 7 as answer"))')
      // What answers nothing at all holds no bomb back.
      assert.include(answered.stdout, "42", answered.everything)
      const statement = "select sum(length(repeat('x', 2000000000 + r.range))) as n from range(8) r"
      const outcome = yield* run(session, `import castellan\ncastellan.sql("${statement}")`)
      // An engine that never builds the text answers with its length.
      if (outcome.finished.outcome === "completed") assert.include(outcome.everything, "160000000")
      else assert.isDefined(outcome.error)
      yield* alive(session)
    })
  },
  {
    number: 9,
    title: "memory by many processes, shared, in files of memory or in the kernel's, is bounded for the whole session",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      for (const code of [many, shared, buffers]) {
        const session = yield* opened
        const outcome = yield* daring(session, code, { timeout: Duration.seconds(30) })
        if (!("lost" in outcome)) assert.notInclude(outcome.stdout, "OPEN")
        yield* survives(session)
      }
    })
  },
  {
    number: 10,
    title: "a fork bomb ends at the limit of processes, in Python and in the shell",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const session = yield* opened
      if (realSystem(capabilities) === undefined) {
        const outcome = yield* daring(session, forks)
        if (!("lost" in outcome)) assert.include(outcome.stdout, "bounded")
      } else {
        const outcome = yield* daring(session, "import os\nos.fork()")
        if (!("lost" in outcome)) assert.strictEqual(outcome.finished.outcome, "failed")
      }
      yield* survives(session)
      const other = yield* opened
      yield* Effect.ignore(shell(other, ":(){ :|:& };:", { timeout: Duration.seconds(3) }))
      const survivor = yield* survives(other)
      if (realSystem(capabilities) === undefined) {
        // Nothing of it is left, even of what went out of its parents' sight: there are as many places as before.
        yield* Effect.ignore(run(survivor, hiding, { within: "process", timeout: Duration.seconds(3) }))
        const after = yield* shell(survivor, full)
        assert.strictEqual(after.stdout, "20\n", after.everything)
      }
    })
  },
  {
    number: 11,
    title: "threads without end are bounded",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      const outcome = yield* daring(session, threads)
      if (!("lost" in outcome)) assert.notInclude(outcome.stdout, "OPEN")
      yield* survives(session)
    })
  },
  {
    number: 43,
    title: "recursion without end and a broken pointer take down no more than the interpreter",
    run: Effect.fnUntraced(function* () {
      const faults = [
        "import sys\nsys.setrecursionlimit(10**8)\ndef down(n): return down(n + 1)\ndown(0)",
        "import ctypes\nctypes.string_at(0)",
        "import ctypes\nctypes.memset(8, 1, 1 << 20)"
      ]
      yield* eachSurvives(numbered(faults), (_session, outcome, code) =>
        Effect.sync(() => {
          if (!("lost" in outcome) && !code.includes("ctypes")) assert.strictEqual(outcome.finished.outcome, "failed")
        })
      )
    })
  }
]
