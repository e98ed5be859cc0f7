/**
 * What becomes of the processes behind a folder: bounded, stoppable, replaceable, and gone in the end.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { endless } from "@castellan/testing/connector/ConnectorDriverContract"
import { ConnectorDriver } from "@castellan/core/connector/ConnectorDriver"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"
import { detail, engines, enginesOf, eventually, visible } from "./support/Processes.ts"

const folder = Folder.create({ "cities.csv": Folder.cities })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const answers = Effect.gen(function* () {
  const { rows } = yield* Folder.query(folder, "select count(*) from cities")
  assert.deepStrictEqual(rows, [[6]])
})

/** Starts a statement that never ends, and returns when a process has been at work on it for a while. */
const startEndless = Effect.gen(function* () {
  yield* answers
  const before = new Map(engines().map((pid) => [pid, ticks(pid)]))
  const atWork = (): number | undefined => engines().find((pid) => ticks(pid) > (before.get(pid) ?? Infinity) + 5)
  const running = yield* Effect.forkChild(Effect.exit(Folder.query(folder, endless)), { startImmediately: true })
  yield* eventually(() => atWork() !== undefined)
  return { running, pid: atWork() ?? 0 }
})

/** Processor time of a process, in hundredths of a second. */
const ticks = (pid: number): number => {
  const [, rest = ""] = detail(pid, "stat").split(") ")
  const fields = rest.split(" ")
  return Number(fields[11]) + Number(fields[12])
}

const bombs: ReadonlyArray<string> = [
  "select length(repeat('x', 2000000000))",
  "select sum(length(repeat('x', 50000000) || range)) from range(64)",
  "select length(string_agg(repeat('x', 1000000), '')) from range(5000)",
  "select len(list(range)) from range(500000000)",
  "select length(lpad('x', 2000000000, 'y'))",
  "select repeat('x', 900000000)",
  "with recursive r as (select repeat('x', 1000000) as s union all select s || s from r) select max(length(s)) from r"
]

layer(FilesDriver.layer({ memory: 384 * 1024 * 1024 }), { excludeTestServices: true })("memory", (it) => {
  it.effect.each(bombs.map((statement) => ({ statement })))("stops $statement", ({ statement }) =>
    Effect.gen(function* () {
      yield* answers
      const before = process.memoryUsage.rss()
      const reason = yield* Folder.reasonOf(Folder.query(folder, statement))
      assert.strictEqual(reason._tag, "SourceOutOfMemory", reason.message)
      assert.isBelow(process.memoryUsage.rss() - before, 200 * 1024 * 1024)
      yield* answers
    })
  )

  it.effect("that ran out in one statement is not missed in another", () =>
    Effect.gen(function* () {
      const [bomb, table] = yield* Effect.all(
        [
          Folder.reasonOf(Folder.query(folder, bombs[0] ?? "")),
          Folder.query(folder, "select count(*) from range(50000000)")
        ],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(bomb._tag, "SourceOutOfMemory")
      assert.deepStrictEqual(table.rows, [[50_000_000]])
    })
  )
})

describe.runIf(visible)("processes", () => {
  layer(FilesDriver.layer(), { excludeTestServices: true })((it) => {
    it.effect("have no environment, no parent's files and a memory limit of their own", () =>
      Effect.gen(function* () {
        yield* answers
        const [pid = 0] = engines()
        assert.strictEqual(detail(pid, "environ"), "")
        assert.match(detail(pid, "limits"), /^Max data size\s+2147483648\s/m)
        assert.match(detail(pid, "limits"), /^Max core file size\s+0\s/m)
        assert.strictEqual(detail(pid, "oom_score_adj").trim(), "1000")
      })
    )

    it.effect("are sealed by the operating system where it can", () =>
      Effect.gen(function* () {
        const enclosure = yield* FilesDriver.enclosureOf(folder)
        assert.strictEqual(enclosure.memory, "operating-system")
        yield* answers
        const [pid = 0] = engines()
        if (enclosure.folder !== "operating-system") return
        const mount = detail(pid, "mountinfo")
          .split("\n")
          .find((line) => line.split(" ")[4] === folder)
        assert.match(mount ?? "", / ro[, ]/)
        assert.match(detail(pid, "status"), /^CapEff:\s+0+$/m)
        assert.match(detail(pid, "status"), /^NoNewPrivs:\s+1$/m)
        const interfaces = detail(pid, "net/dev").trim().split("\n").slice(2)
        assert.deepStrictEqual(
          interfaces.map((line) => line.trim().split(":")[0]),
          ["lo"]
        )
      })
    )

    it.effect("that are killed in a statement are an error of that statement, and a fresh one answers the next", () =>
      Effect.gen(function* () {
        const { pid, running } = yield* startEndless
        process.kill(pid, "SIGKILL")
        const exit = yield* Effect.flatten(Fiber.join(running)).pipe(Effect.flip)
        assert.strictEqual(exit.reason._tag, "SourceUnavailable")
        yield* answers
      })
    )

    it.effect("that crash in a statement are an error of that statement", () =>
      Effect.gen(function* () {
        const { pid, running } = yield* startEndless
        process.kill(pid, "SIGSEGV")
        const error = yield* Effect.flatten(Fiber.join(running)).pipe(Effect.flip)
        assert.strictEqual(error.reason._tag, "SourceUnavailable")
        yield* answers
      })
    )

    it.effect("that are killed between statements are replaced unseen", () =>
      Effect.gen(function* () {
        yield* answers
        const before = engines()
        for (const pid of before) process.kill(pid, "SIGKILL")
        yield* eventually(() => engines().length === 0)
        yield* answers
        assert.isEmpty(engines().filter((pid) => before.includes(pid)))
      })
    )

    it.effect("that do not stop in time are killed before the interruption completes", () =>
      Effect.gen(function* () {
        const { pid, running } = yield* startEndless
        process.kill(pid, "SIGSTOP")
        const [took] = yield* Effect.timed(Fiber.interrupt(running))
        // On whatever machine: an interruption that does not stop it never completes.
        assert.isBelow(Duration.toMillis(took), 20_000)
        yield* eventually(() => !engines().includes(pid))
        yield* answers
      })
    )

    it.effect("that do not stop in time are killed at the time limit of their statement", () =>
      Effect.gen(function* () {
        yield* answers
        const [pid = 0] = engines()
        process.kill(pid, "SIGSTOP")
        const reason = yield* Folder.reasonOf(Folder.query(folder, "select 1", { timeout: Duration.millis(200) }))
        assert.strictEqual(reason._tag, "StatementTimedOut")
        yield* eventually(() => !engines().includes(pid))
        yield* answers
      })
    )

    it.effect("that stop in time are kept", () =>
      Effect.gen(function* () {
        const { pid, running } = yield* startEndless
        yield* Fiber.interrupt(running)
        assert.include(engines(), pid)
        yield* answers
        assert.include(engines(), pid)
      })
    )
  })

  layer(FilesDriver.layer({ concurrency: 2 }), { excludeTestServices: true })((it) => {
    it.effect("are no more than allowed, and statements wait for their turn", () =>
      Effect.gen(function* () {
        const most = { engines: 0 }
        const statements = Array.from({ length: 12 }, (_, n) =>
          Folder.query(folder, `select count(*) + ${n} from range(20000000)`).pipe(
            Effect.tap(() =>
              Effect.sync(() => {
                most.engines = Math.max(most.engines, engines().length)
              })
            )
          )
        )
        const tables = yield* Effect.all(statements, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          tables.map((table) => table.rows),
          Array.from({ length: 12 }, (_, n) => [[20_000_000 + n]])
        )
        assert.strictEqual(most.engines, 2)
      })
    )

    it.effect("that wait for their turn count that time too", () =>
      Effect.gen(function* () {
        const running = yield* Effect.forkChild(
          Effect.all([Folder.query(folder, endless), Folder.query(folder, endless)], { concurrency: "unbounded" }),
          { startImmediately: true }
        )
        yield* eventually(() => engines().filter((pid) => ticks(pid) > 60).length === 2)
        const reason = yield* Folder.reasonOf(Folder.query(folder, "select 1", { timeout: Duration.millis(100) }))
        assert.strictEqual(reason._tag, "StatementTimedOut")
        yield* Fiber.interrupt(running)
        yield* answers
      })
    )

    it.effect("serve several folders in turn", () =>
      Effect.gen(function* () {
        const others = yield* Effect.all(["1", "2", "3", "4"].map((n) => Folder.scoped({ "n.csv": `n\n${n}\n` })))
        for (const round of [1, 2]) {
          const tables = yield* Effect.all(
            others.map((other) => Folder.query(other, `select n * ${round} from n`)),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            tables.map((table) => table.rows[0]?.[0]),
            [1, 2, 3, 4].map((n) => n * round)
          )
        }
        assert.isAtMost(engines().length, 2)
      })
    )
  })

  layer(FilesDriver.layer({ idle: "1 minute" }))((it) => {
    it.effect("without work are closed after a while", () =>
      Effect.gen(function* () {
        yield* answers
        assert.lengthOf(engines(), 1)
        yield* TestClock.adjust("59 seconds")
        assert.lengthOf(engines(), 1)
        yield* answers
        yield* TestClock.adjust("59 seconds")
        assert.lengthOf(engines(), 1)
        yield* TestClock.adjust("1 second")
        yield* eventually(() => engines().length === 0)
        yield* answers
      })
    )
  })

  it.live("are gone with their layer, and so is what they wrote", () =>
    Effect.gen(function* () {
      const temporary = (): ReadonlyArray<string> =>
        readdirSync(tmpdir()).filter((name) => name.startsWith("castellan-files-") && name.includes(`-${process.pid}-`))
      const before = temporary()
      const running = yield* Effect.gen(function* () {
        const started = yield* startEndless
        assert.include(engines(), started.pid)
        assert.isNotEmpty(temporary().filter((name) => !before.includes(name)))
        return started.running
      }).pipe(Effect.provide(FilesDriver.layer()))
      assert.isEmpty(engines())
      assert.isEmpty(temporary().filter((name) => !before.includes(name)))
      assert.isTrue(Exit.isFailure(yield* Fiber.join(running)))
    })
  )

  it.live("are gone when their start is interrupted", () =>
    Effect.gen(function* () {
      for (const after of [0, 10, 50, 100, 150, 200]) {
        const driver = yield* FilesDriver.make()
        const running = yield* Effect.forkChild(driver.query(Folder.connector(folder), "select 1", Folder.limits), {
          startImmediately: true
        })
        yield* Effect.sleep(after)
        yield* Fiber.interrupt(running)
        const table = yield* driver.query(Folder.connector(folder), "select count(*) from cities", Folder.limits)
        assert.deepStrictEqual(table.rows, [[6]])
      }
    }).pipe(Effect.scoped, Effect.andThen(Effect.sync(() => assert.isEmpty(engines()))))
  )

  it.live("do not outlive a server that is killed", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, [join(import.meta.dirname, "support", "server.ts"), folder], {
            stdio: ["ignore", "pipe", "inherit"]
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const { pid = 0, stdout } = server
      yield* Effect.callback<void>((resume) => {
        stdout.once("data", () => resume(Effect.void))
      })
      yield* eventually(() => enginesOf(pid).some((engine) => ticks(engine) > 60))
      const left = enginesOf(pid)
      server.kill("SIGKILL")
      yield* eventually(() => left.every((engine) => detail(engine, "cmdline") === ""))
    })
  )
})

it.layer(FilesDriver.layer(), { excludeTestServices: true })("a host", (it) => {
  it.effect("is told of a folder that does not exist, without its path", () =>
    Effect.gen(function* () {
      const gone = join(folder, "no-such-folder")
      for (const attempt of [
        Effect.asVoid(Folder.query(gone, "select 1")),
        Effect.asVoid(Folder.tables(gone)),
        Effect.asVoid(ConnectorDriver.use((driver) => driver.describe(Folder.connector(gone), "select 1")))
      ]) {
        const reason = yield* Folder.reasonOf(attempt)
        assert.strictEqual(reason._tag, "SourceUnavailable")
        assert.notInclude(reason.message, "no-such-folder")
      }
    })
  )
})
