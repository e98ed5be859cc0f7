/**
 * What is the embedded tier's own: a memory that sessions start from, files that the host keeps, interpreters and shells
 * that come and go, and quotas inside of Pyodide. Time is the machine's.
 */
import { layer } from "@castellan/sandbox/embedded"
import * as DuckDbSqlExecutor from "@castellan/sandbox/sql/DuckDbSqlExecutor"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, it, vi } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { patience, patient } from "./support/Patience.ts"
import { all, bash, errorsOf, namesOf, opened, outcomeOf, path, restarted, textOf } from "./support/Sessions.ts"

vi.setConfig({ testTimeout: patience, hookTimeout: patience })

const mebibyte = 1024 * 1024
const sandboxes = layer({ fileBytes: 16 * mebibyte, fileCount: 500 }).pipe(Layer.provide(DuckDbSqlExecutor.layer()))

const utf8 = new TextEncoder()
const read = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Takes JavaScript from Pyodide, as hostile programs do. */
const javascript = (code: string): string => `from pyodide.code import run_js\nrun_js(${JSON.stringify(code)})`

it.layer(sandboxes, { timeout: patience, excludeTestServices: true })("sessions of the embedded tier", (it) => {
  it.effect("say what they keep", () =>
    Effect.gen(function* () {
      const { capabilities } = yield* SandboxRuntime
      assert.deepStrictEqual(capabilities, {
        isolation: "wasm",
        statefulPython: true,
        realBash: false,
        packages: [],
        gentleInterrupt: true,
        persistent: false,
        limits: {
          cpu: "none",
          memory: "watchdog",
          processes: "hard",
          disk: process.platform === "linux" ? "watchdog" : "none",
          network: "hard",
          time: "watchdog"
        }
      })
    })
  )

  it.effect("start from one memory, and have random numbers of their own", () =>
    Effect.gen(function* () {
      const code = "import random, uuid, os; print(random.random(), uuid.uuid4(), os.urandom(8).hex())"
      const [one, other] = [yield* opened(), yield* opened()]
      const said = [textOf(yield* all(one, code)), textOf(yield* all(other, code))].map((text) => text.split(" "))
      for (const index of [0, 1, 2]) assert.notStrictEqual(said[0]?.[index], said[1]?.[index])
    })
  )

  it.effect("tell an interrupt of the program's own from one of its user's, and that nobody answers input()", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      for (const within of ["session", "process"] as const) {
        const raised = yield* all(session, "raise KeyboardInterrupt", { within })
        assert.strictEqual(outcomeOf(raised), "failed", within)
      }
      assert.deepStrictEqual(namesOf(yield* all(session, "raise KeyboardInterrupt")), ["KeyboardInterrupt"])
      assert.deepStrictEqual(namesOf(yield* all(session, "input()")), ["EOFError"])
      assert.include(errorsOf(yield* all(session, "input()", { within: "process" })), "nobody")
    })
  )

  it.effect("have the files of the last execution that ended, when one is killed", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* all(session, 'open("outputs/kept.txt", "w").write("kept"); x = 1')
      const endless = 'open("outputs/lost.txt", "w").write("lost")\nsum(range(10**12))'
      const events = yield* all(session, endless, { timeout: Duration.millis(200) })
      assert.strictEqual(outcomeOf(events), "timed_out")
      assert.isTrue(restarted(events))
      const next = yield* all(session, 'import os; print(sorted(os.listdir("outputs")), "x" in globals())')
      assert.strictEqual(textOf(next), "['kept.txt'] False\n")
      assert.strictEqual(read(yield* session.download(path("outputs/kept.txt"))), "kept")
      assert.strictEqual((yield* Effect.flip(session.download(path("outputs/lost.txt")))).reason, "not_found")
    })
  )

  it.effect("share their files between Python and the shell, links included", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* all(session, 'import os; os.makedirs("outputs/d"); open("outputs/d/a", "w").write("from python")')
      const shell = yield* bash(
        session,
        "cat outputs/d/a; printf 'from bash' > outputs/b; rm -r outputs/d; ln -s b outputs/l"
      )
      assert.strictEqual(textOf(shell), "from python")
      const python = yield* all(
        session,
        'print(os.listdir("outputs"), open("outputs/l").read(), os.readlink("outputs/l"))'
      )
      assert.strictEqual(textOf(python), "['b', 'l'] from bash b\n")
      const alone = yield* all(session, 'print(open("outputs/b").read())', { within: "process" })
      assert.strictEqual(textOf(alone), "from bash\n")
      assert.strictEqual((yield* Effect.flip(session.download(path("outputs/l")))).reason, "invalid")
    })
  )

  it.effect("end fatally without harm: what ended is told, and another interpreter is there", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const fatal = [
        "import os; os._exit(7)",
        javascript("Deno.exit(3)"),
        javascript("close()"),
        javascript("process.exit(0)"),
        javascript("process.reallyExit(3)"),
        javascript("setTimeout(() => { throw null }, 1)") + "\nimport asyncio; await asyncio.sleep(600)",
        // Nobody is told: that the thread has gone is seen all the same.
        javascript("globalThis.postMessage = () => undefined; Deno.exit(5)"),
        javascript("globalThis.postMessage = Atomics.wait = () => { throw 1 }; process.reallyExit(0)")
      ]
      for (const code of fatal) {
        // Only the end of the time that a program has would say `timed_out`.
        const events = yield* all(session, code)
        assert.strictEqual(outcomeOf(events), "failed", code)
        assert.isTrue(restarted(events), code)
      }
      assert.strictEqual(textOf(yield* all(session, "print(1)")), "1\n")
      assert.deepStrictEqual(namesOf(yield* all(session, "import os; os.system('id')")), ["OSError"])
    })
  )

  it.effect("do not fill a disk that is a memory", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const fill = 'with open("/tmp/fill", "wb") as f:\n  for _ in range(40): f.write(b"x" * 2**20)'
      assert.deepStrictEqual(namesOf(yield* all(session, fill)), ["OSError"])
      yield* all(session, 'import os; os.truncate("/tmp/fill", 0)')
      assert.strictEqual(outcomeOf(yield* all(session, 'open("/tmp/a", "wb").write(b"x" * 10 * 2**20)')), "completed")
      const many = 'for i in range(2000): open(f"/tmp/{i}", "w").close()'
      assert.deepStrictEqual(namesOf(yield* all(session, many)), ["OSError"])
      const grow = 'os.truncate("/tmp/fill", 2**31 - 1)'
      assert.deepStrictEqual(namesOf(yield* all(session, grow)), ["OSError"])
    })
  )

  it.effect("lose what a program wrote where the host cannot keep it, and nothing else", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      yield* all(session, 'open("outputs/kept.txt", "w").write("kept")')
      const deep = 'import os\nfor i in range(60):\n  os.mkdir("outputs/" + "d" * 200 + str(i))'
      assert.strictEqual(outcomeOf(yield* all(session, deep)), "completed")
      const odd = "import pyodide_js; pyodide_js.FS.mkdir('/sandbox/files/outputs/' + 'x' * 300)"
      const events = yield* all(session, odd)
      assert.deepStrictEqual(namesOf(events), ["OSError"])
      assert.strictEqual(outcomeOf(events), "failed")
      assert.isTrue(restarted(events))
      const left = yield* all(session, 'import os; print(len(os.listdir("outputs")), open("outputs/kept.txt").read())')
      assert.strictEqual(textOf(left), "61 kept\n")
      assert.isFalse(restarted(left))
    })
  )

  it.effect("are ended where they forge what their interpreter says; the session lives", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const forgeries = [
        '{"event":"finished","id":1,"nonce":"guess","outcome":"completed","exit_code":0,"dataframes":[],"changed":[],"dropped_bytes":0}\n',
        "no report at all\n",
        `${"x".repeat(2 * mebibyte)}\n`
      ]
      for (const forged of forgeries) {
        const code = javascript(`Deno.stdout.writeSync(new TextEncoder().encode(${JSON.stringify(forged)}))`)
        const events = yield* all(session, `${code}\nimport time; time.sleep(600)`)
        assert.deepStrictEqual(namesOf(events), ["ProtocolViolation"])
        assert.strictEqual(outcomeOf(events), "failed")
        assert.isTrue(restarted(events))
      }
      assert.strictEqual(textOf(yield* all(session, "print(2)")), "2\n")
    })
  )

  it.effect("are ended where they write errors without end, which nothing holds back", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const flood = "const block = new Uint8Array(65536).fill(120); for (;;) Deno.stderr.writeSync(block)"
      const events = yield* all(session, javascript(flood))
      assert.deepStrictEqual(namesOf(events), ["ProtocolViolation"])
      assert.isTrue(restarted(events))
      assert.strictEqual(textOf(yield* all(session, "print(2)")), "2\n")
    })
  )

  it.effect("tell of many files with long names what fits, and live on", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const code =
        'import os\nos.mkdir("outputs/many")\nfor i in range(400): open("outputs/many/" + "é" * 100 + "x" * 50 + str(i), "w").close()'
      const deep = [
        "for i in range(16):",
        "  os.mkdir('d' * 250); os.chdir('d' * 250)",
        "for i in range(40): open('y' * 240 + str(i), 'w').close()",
        "os.chdir('/sandbox/files')"
      ].join("\n")
      const events = yield* all(session, `${code}\n${deep}`)
      assert.strictEqual(outcomeOf(events), "completed", JSON.stringify(events).slice(-500))
      assert.include(errorsOf(events), "more files were changed than are listed")
      const last = events.at(-1)
      assert.isAbove(last?._tag === "Finished" ? last.files.length : 0, 20)
      assert.lengthOf(yield* session.list(path("outputs/many")), 400)
      assert.isFalse(restarted(yield* all(session, "print(1)")))
    })
  )

  it.effect("ask for SQL while they wait for it, and hand results of any size over", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      const code = [
        "import castellan",
        'sales = castellan.Table({"region": ["north", "south", "north"], "amount": [1, 2, 3]})',
        'totals = castellan.sql("select region, sum(amount)::bigint as total from sales group by region order by region")',
        "print(list(totals))",
        'many = castellan.sql("select i, i * 2 as j from range(100000) r(i)")',
        "print(len(many))"
      ].join("\n")
      const events = yield* all(session, code)
      assert.deepStrictEqual(namesOf(events), [])
      assert.match(textOf(events), /north.*4.*south.*2/)
      assert.match(textOf(events), /100000\n$/)
      assert.deepStrictEqual(namesOf(yield* all(session, 'castellan.sql("select nothing")')), ["QueryFailed"])
    })
  )

  it.effect("run hardened shells: limits, no programs of the host, no network", () =>
    Effect.gen(function* () {
      const session = yield* opened()
      for (const code of [
        "while true; do :; done",
        ":(){ :|:& };:",
        'awk "BEGIN { system(\\"id\\") }"',
        "curl http://x"
      ]) {
        const events = yield* bash(session, code)
        assert.strictEqual(outcomeOf(events), "failed", code)
        assert.notStrictEqual(errorsOf(events), "", code)
      }
      const endless = yield* bash(session, "sleep 600", { timeout: Duration.millis(300) })
      assert.strictEqual(outcomeOf(endless), "timed_out")
      assert.strictEqual(
        textOf(yield* bash(session, "cat /etc/passwd; echo $HOME; pwd")),
        "/sandbox/files\n/sandbox/files\n"
      )
    })
  )
})

it.layer(layer().pipe(Layer.provide(patient)), { timeout: patience, excludeTestServices: true })(
  "sessions of the embedded tier on a patient host",
  (it) => {
    it.effect("stop sleeping when they are interrupted, and keep their variables", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const running = yield* Latch.make()
        const code = 'x = 41\nprint("asleep")\nimport time; time.sleep(600)'
        const fiber = yield* session
          .exec({ language: "python", code, within: "session", timeout: Duration.minutes(10) })
          .pipe(
            Stream.tap((event) => (event._tag === "Stdout" ? running.open : Effect.void)),
            Stream.runCollect,
            Effect.forkChild({ startImmediately: true })
          )
        yield* running.await
        assert.isTrue(yield* session.interrupt)
        const events = yield* Fiber.join(fiber)
        assert.strictEqual(outcomeOf(events), "interrupted")
        assert.isFalse(restarted(events))
        assert.strictEqual(textOf(yield* all(session, "print(x + 1)")), "42\n")
      })
    )

    it.effect("answer for their files while a program runs, which gets what was uploaded when the next begins", () =>
      Effect.gen(function* () {
        const session = yield* opened()
        const running = yield* Latch.make()
        const fiber = yield* session
          .exec({
            language: "python",
            code: 'print("running")\nwhile True: pass',
            within: "session",
            timeout: Duration.minutes(10)
          })
          .pipe(
            Stream.tap((event) => (event._tag === "Stdout" ? running.open : Effect.void)),
            Stream.runDrain,
            Effect.forkChild({ startImmediately: true })
          )
        yield* running.await
        yield* session.upload(path("uploads/now.txt"), utf8.encode("now"))
        assert.strictEqual(read(yield* session.download(path("uploads/now.txt"))), "now")
        yield* session.interrupt
        yield* Fiber.join(fiber)
        assert.strictEqual(textOf(yield* all(session, 'print(open("uploads/now.txt").read())')), "now\n")
      })
    )
  }
)
