/** Programs that say too much, or say it so as to deceive: 15, 16, 38, 42. */
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AbuseCase, alive, at, daring, eachSurvives, opened, run, survives, webAssembly } from "../Abuse.ts"

const mebibyte = 1024 * 1024

const flood = (mebibytes: number) => `
import sys
block = "x" * (1 << 20)
for _ in range(${mebibytes}): sys.stdout.write(block)
sys.stdout.flush()
`

const figures = `
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
for _ in range(600): plt.figure(figsize=(1, 1))
`

const rows = `
try:
    import pandas
    frame = pandas.DataFrame({"n": range(1_000_000), "text": ["x" * 20] * 1_000_000})
except ImportError:
    import castellan
    frame = castellan.Table({"n": list(range(200_000)), "text": ["x" * 20] * 200_000})
frame
`

/** Says on every descriptor but the three that are a program's own that an execution has ended, and how. */
const forge = (line: string) => `
import os
for descriptor in range(3, 256):
    try: os.write(descriptor, ${line})
    except OSError: pass
`

const frames = {
  "an end of the next executions": `b"".join(b'{"event":"finished","id":%d,"nonce":"0","outcome":"completed","exit_code":0,"files":[],"dataframes":[],"dropped_bytes":0}\\n' % i for i in range(200))`,
  "a prototype": `b'{"__proto__":{"polluted":1},"event":"done","id":1,"nonce":"' + b"0" * 32 + b'"}\\n'`,
  "a line without an end": `b"x" * (1 << 22)`,
  "a payload that never comes": `b'{"event":"data","id":1,"nonce":"0","bytes":4611686018427387904}\\n'`,
  "bytes that are no text": "bytes(range(256)) * 64"
}

const monkeys = {
  "no stdout": "import sys\nsys.stdout = None\nsys.stderr = None",
  "another print":
    "import builtins\nbuiltins.print = lambda *a, **k: None\nbuiltins.exec = builtins.compile = builtins.open = None",
  "no modules": "import sys\nfor name in list(sys.modules):\n  if name != 'sys': del sys.modules[name]",
  "an exit": "import os\nos._exit(3)",
  "an exit that is asked for": "raise SystemExit(7)",
  "every descriptor closed":
    "import os\nfor descriptor in range(0, 256):\n  try: os.close(descriptor)\n  except OSError: pass",
  "every object's tracer": "import sys, gc\nsys.settrace(lambda *a: 1 / 0)\nsys.setprofile(lambda *a: 1 / 0)",
  "a display that raises":
    "import sys\nsys.displayhook = sys.excepthook = lambda *a: 1 / 0\nclass Odd:\n  def __repr__(self): raise BaseException('no')\n  __class__ = property(lambda self: 1 / 0)\nOdd()"
}

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 15,
    title: "output without end is cut and counted, whatever its bytes are, and steers no terminal",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const size = webAssembly(capabilities) === undefined ? 64 : 512
      const session = yield* opened
      const outcome = yield* run(session, flood(size))
      assert.strictEqual(outcome.finished.outcome, "completed", outcome.everything.slice(0, 500))
      assert.isAtMost(outcome.stdout.length, 64 * mebibyte)
      assert.isAbove(outcome.finished.droppedBytes, 0)
      const binary = yield* run(
        session,
        "import sys\nsys.stdout.buffer.write(bytes(range(128, 256)) * 100)\nsys.stdout.flush()"
      )
      assert.isAbove(binary.stdout.length, 0)
      const steering = yield* run(session, 'print("\\x1b[31mred\\x1b[0m\\x07 \\x1b]0;title\\x07 tab\\tend")')
      assert.notMatch(steering.stdout, /[^\P{Cc}\n\t]/u)
      assert.include(steering.stdout, "tab\tend")
      yield* alive(session)
    })
  },
  {
    number: 16,
    title: "values too large to show are shown in part",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const session = yield* opened
      const programs = [
        '"x" * 10**8',
        "list(range(10**6))",
        rows,
        "class Odd:\n  def __repr__(self): return 'y' * 10**8\nOdd()"
      ]
      const drawing = capabilities.packages.includes("matplotlib") ? [figures] : []
      for (const code of [...programs, ...drawing]) {
        const outcome = yield* run(session, code)
        assert.strictEqual(outcome.finished.outcome, "completed", outcome.everything.slice(0, 2_000))
        assert.isAtMost(outcome.everything.length, 64 * mebibyte)
      }
      yield* alive(session)
    })
  },
  {
    number: 38,
    title: "forged frames answer nothing: the session goes on as it was, or is over",
    run: Effect.fnUntraced(function* () {
      const { polluted }: { readonly polluted?: unknown } = {}
      assert.isUndefined(polluted)
      const other = yield* opened
      yield* run(other, "kept = 1")
      let session = yield* opened
      for (const line of Object.values(frames)) {
        yield* session.upload(at("uploads/true.txt"), new TextEncoder().encode("true"))
        yield* daring(session, forge(line))
        const next = yield* Effect.result(run(session, "print('mine')"))
        if (Result.isSuccess(next)) assert.include(["mine\n", ""], next.success.stdout)
        else assert.include(["lost", "exhausted"], next.failure.reason)
        const file = yield* Effect.result(session.download(at("uploads/true.txt")))
        if (Result.isSuccess(file)) assert.strictEqual(new TextDecoder().decode(file.success), "true")
        const after: { readonly polluted?: unknown } = {}
        assert.isUndefined(after.polluted)
        session = yield* survives(session)
      }
      assert.strictEqual((yield* run(other, "print(kept)")).stdout, "1\n")
    })
  },
  {
    number: 42,
    title: "whatever a program does to its interpreter is its own session's harm, and the next program runs",
    run: Effect.fnUntraced(function* () {
      yield* eachSurvives(
        monkeys,
        Effect.fnUntraced(function* (session) {
          const next = yield* daring(session, "print(6 * 7)")
          // Where the interpreter has become useless, whoever owns it can have another.
          if (!("lost" in next) && next.stdout !== "42\n") yield* daring(session, "import os\nos._exit(1)")
        })
      )
    })
  }
]
