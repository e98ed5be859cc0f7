/** Programs that do not stop, or that play with interrupts: 1 to 5, 44, 48. */
import type { SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type AbuseCase, alive, opened, realSystem, run, running, shell } from "../Abuse.ts"

/** Interrupts a program that never ends; says whether the session's variables are still there. */
const stops = Effect.fnUntraced(function* (session: SandboxSession, code: string) {
  yield* run(session, "kept = 1")
  const fiber = yield* running(session, code)
  assert.isTrue(yield* session.interrupt)
  const { finished, restarted } = yield* Fiber.join(fiber)
  assert.strictEqual(finished.outcome, "interrupted")
  const next = yield* run(session, "print(kept)")
  assert.strictEqual(next.stdout, restarted ? "" : "1\n")
  return restarted
})

const stubborn = {
  "a program that catches everything": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
  "a program that ignores signals":
    "import signal\nfor one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n  try: signal.signal(one, signal.SIG_IGN)\n  except Exception: pass\nwhile True: pass"
}

const waiting = {
  "time.sleep": "import time\ntime.sleep(1000)",
  "asyncio.sleep":
    "import asyncio\nasync def wait():\n  await asyncio.sleep(1000)\nasyncio.new_event_loop().run_until_complete(wait())"
}

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 1,
    title: "a loop that never ends is interrupted, and its session's variables stay where the runtime says so",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const restarted = yield* stops(yield* opened, "while True: pass")
      if (capabilities.gentleInterrupt) assert.isFalse(restarted)
    })
  },
  {
    number: 2,
    title: "a loop inside the interpreter, which a signal may not reach, is killed after its grace, and that is told",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      // Some interpreters look for interrupts there, too: `stops` holds them to what they tell of their variables.
      yield* stops(session, "sum(range(10**13))")
      yield* alive(session)
    })
  },
  {
    number: 3,
    title: "a program that catches every exception or ignores every signal is killed all the same",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      for (const code of Object.values(stubborn)) yield* stops(session, code)
    })
  },
  {
    number: 4,
    title: "a program that waits is interrupted",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const session = yield* opened
      for (const code of Object.values(waiting)) yield* stops(session, code)
      if (realSystem(capabilities) === undefined) {
        yield* stops(session, 'import subprocess\nsubprocess.run(["sleep", "1000"])')
      }
    })
  },
  {
    number: 5,
    title: "a regular expression that takes for ever is interrupted, in Python, SQL and the shell",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      yield* stops(session, 'import re\nre.match(r"(a+)+$", "a" * 64 + "b")')
      const pattern =
        "castellan.sql(\"select count(*) from range(1000000000) r where regexp_matches(repeat('a', 200) || r.range, '(a|aa)+b$')\")"
      yield* stops(session, `import castellan\n${pattern}`)
      const command = `text=$(printf 'a%.0s' {1..64}); [[ "\${text}b" =~ ^(a|a?)+$ ]]; echo done`
      const { finished } = yield* shell(session, command, { timeout: Duration.seconds(5) })
      // Some engines take no time for it.
      assert.include(["completed", "failed", "timed_out"], finished.outcome)
      yield* alive(session)
    })
  },
  {
    number: 44,
    title: "interrupts in a storm, while nothing runs, and right before the next program harm no other program",
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      for (let round = 0; round < 5; round += 1) {
        const fiber = yield* running(session, "while True: pass")
        yield* Effect.all(
          Array.from({ length: 20 }, () => session.interrupt),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* Fiber.join(fiber)).finished.outcome, "interrupted")
        for (let idle = 0; idle < 5; idle += 1) assert.isFalse(yield* session.interrupt)
        const next = yield* run(session, "for turn in range(200_000): pass\nprint(turn)")
        assert.strictEqual(next.stdout, "199999\n", next.everything)
        assert.isUndefined(next.error)
      }
    })
  },
  {
    number: 48,
    title: "a program that stops its own clock, or itself, ends at its time limit by the host's clock",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const session = yield* opened
      const setting = yield* run(
        session,
        [
          "import time",
          "try:",
          "  time.clock_settime(time.CLOCK_REALTIME, 0)",
          '  print("OPEN clock_settime")',
          "except (OSError, AttributeError, PermissionError): pass"
        ].join("\n")
      )
      assert.notInclude(setting.stdout, "OPEN")
      const limit = { timeout: Duration.millis(500) }
      assert.strictEqual((yield* run(session, "while True: pass", limit)).finished.outcome, "timed_out")
      if (realSystem(capabilities) === undefined) {
        const frozen = yield* run(session, "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", limit)
        assert.strictEqual(frozen.finished.outcome, "timed_out")
      }
      yield* alive(session)
    })
  }
]
