import { AuditStore } from "@castellan/core/audit/AuditStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { Retention } from "@castellan/core/retention/Retention"
import { Execution, ExecutionId } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import { ExecEvent } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as, refused, words } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { salesSource } from "@castellan/testing/scripted/ScriptedOntology"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import * as ScriptedSandboxModule from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { castle, execute, noSession, recorded, statusOf } from "./Castle.ts"

describe("Sandcastles: what runs in them", () => {
  it.effect("a program answers with what it put out, and its session remembers", () =>
    Effect.gen(function* () {
      const { id, member } = yield* castle
      const first = yield* as(member)(execute(id, 'x = 41\nprint("hello")\nprint(x + 1)'))
      assert.deepStrictEqual(first.output, ["hello\n42\n"])
      assert.isUndefined(first.error)
      assert.deepStrictEqual((yield* as(member)(execute(id, "print(x)"))).output, ["41\n"])
      const made = yield* as(member)(execute(id, 'open("outputs/sales.csv", "w").write("a,b")'))
      assert.deepStrictEqual(made.files, [
        { name: "sales.csv", path: SandboxPath.make("outputs/sales.csv"), mediaType: "text/csv" }
      ])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("what ran is recorded in full, with the beginning of what it put out and how it ended", () =>
    Effect.gen(function* () {
      const { id, member, tenant } = yield* castle
      const long = `print("${"y".repeat(300)}" * 100)`
      yield* as(member)(execute(id, long))
      const failed = yield* as(member)(execute(id, 'print("so far")\nraise ValueError("no")'))
      assert.strictEqual(failed.error, 'line: raise ValueError("no")\nValueError: no')
      yield* as(member)(
        Sandcastles.use((sandcastles) =>
          sandcastles.exec(id, { command: "echo hi; exit 3", kind: "bash", source: "platform_api" })
        )
      )
      const { items } = yield* as(member)(recorded(id))
      assert.deepStrictEqual(
        items.map(({ input, kind, outputPreview, source, status }) => [
          kind,
          source,
          input,
          outputPreview.length,
          status._tag
        ]),
        [
          ["bash", "platform_api", "echo hi; exit 3", 3, "Failed"],
          ["python", "platform_api", 'print("so far")\nraise ValueError("no")', 7, "Failed"],
          ["python", "platform_api", long, 16 * 1024 - 2, "Completed"]
        ]
      )
      assert.isTrue(items[2]?.outputPreview.endsWith("…[truncated]"))
      const audited = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 10, action: "execute" })
      )
      assert.deepStrictEqual(
        audited.items.map(({ target }) => target.id),
        items.map((item) => item.id)
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a command has its variables, and only such as a shell takes", () =>
    Effect.gen(function* () {
      const { id, member } = yield* castle
      const exec = (environment: Readonly<Record<string, string>>) =>
        as(member)(
          Sandcastles.use((sandcastles) =>
            sandcastles.exec(id, { command: "echo $NAME", kind: "bash", environment, source: "platform_api" })
          )
        )
      assert.deepInclude(yield* exec({ NAME: "Ada; exit" }), { stdout: "Ada; exit\n", stderr: "", exitCode: 0 })
      for (const environment of [{ "A=B": "x" }, { "1A": "x" }, { "": "x" }, { NAME: "a\0b" }]) {
        assert.match(yield* refused(exec(environment)), /^invalid_request: env: /u)
      }
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("the input is on the record before it runs; an interrupt ends it, and the session goes on", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const sandbox = yield* ScriptedSandbox
      const { id, member } = yield* castle
      const running = yield* as(member)(execute(id, 'print("begun")\nwhile True: pass')).pipe(
        Effect.forkChild({ startImmediately: true })
      )
      yield* sandbox.stuck(1)
      const [begun] = (yield* as(member)(recorded(id))).items
      assert.deepStrictEqual([begun?.status._tag, begun?.input], ["Running", 'print("begun")\nwhile True: pass'])
      assert.isTrue(yield* as(member)(sandcastles.interrupt(id)))
      const answer = yield* Fiber.join(running)
      assert.deepStrictEqual([answer.output, answer.error], [["begun\n"], "interrupted"])
      const [ended] = (yield* as(member)(recorded(id))).items
      assert.deepStrictEqual([ended?.status._tag, ended?.outputPreview], ["Interrupted", "begun\n"])
      assert.isFalse(yield* as(member)(sandcastles.interrupt(id)))
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a caller who leaves stops what it asked for, and it is recorded", () =>
    Effect.gen(function* () {
      const sandbox = yield* ScriptedSandbox
      const { id, member } = yield* castle
      const running = yield* as(member)(execute(id, 'print("begun")\nwhile True: pass')).pipe(
        Effect.forkChild({ startImmediately: true })
      )
      yield* sandbox.stuck(1)
      yield* Fiber.interrupt(running)
      const [ended] = (yield* as(member)(recorded(id))).items
      assert.deepStrictEqual([ended?.status._tag, ended?.outputPreview], ["Interrupted", "begun\n"])
      assert.deepStrictEqual((yield* as(member)(execute(id, "print(2)"))).output, ["2\n"])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("an execution ends at its time limit; one whose interpreter goes down tells what is lost", () =>
    Effect.gen(function* () {
      const sandbox = yield* ScriptedSandbox
      const { id, member } = yield* castle
      const running = yield* as(member)(execute(id, "while True: pass")).pipe(
        Effect.forkChild({ startImmediately: true })
      )
      yield* sandbox.stuck(1)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* Fiber.join(running)).error, "the execution ran past its time limit")
      const crashed = yield* as(member)(execute(id, "import os; os._exit(1)"))
      assert.strictEqual(crashed.error, "exit code 1; the session was restarted, and its variables are gone")
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a stop ends what runs, and the record says so", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const sandbox = yield* ScriptedSandbox
      const { id, member } = yield* castle
      const running = yield* as(member)(execute(id, "while True: pass")).pipe(
        Effect.forkChild({ startImmediately: true })
      )
      yield* sandbox.stuck(1)
      yield* as(member)(sandcastles.stop(id))
      assert.strictEqual(words(yield* Effect.flip(Fiber.join(running))), noSession)
      const [ended] = (yield* as(member)(recorded(id))).items
      assert.strictEqual(ended?.status._tag, "Failed")
      assert.strictEqual(yield* as(member)(statusOf(id)), "Stopped")
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("what is displayed and no text becomes a file; what a session says of files is checked", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      const answer = yield* as(member)(execute(id, "chart"))
      assert.deepStrictEqual(answer.output, ["<a chart>"])
      const [file, ...others] = answer.files
      assert.strictEqual(file?.mediaType, "image/png")
      assert.deepStrictEqual(others, [])
      const downloaded = yield* as(member)(sandcastles.download(id, file?.path ?? ""))
      assert.deepStrictEqual([...downloaded.content], [1, 2, 3])
      const [specification] = (yield* as(member)(execute(id, "vega"))).files
      assert.match(specification?.name ?? "", /\.json$/u)
    }).pipe(
      Effect.provide(
        Deployment.layer({
          teaches: ({ code }) =>
            code === "vega"
              ? [
                  ExecEvent.cases.Rich.make({
                    forms: [{ mediaType: "application/vnd.vegalite.v5+json", body: "{}" }]
                  })
                ]
              : code === "chart"
                ? [
                    ExecEvent.cases.Rich.make({
                      forms: [
                        { mediaType: "image/png", body: Uint8Array.of(1, 2, 3) },
                        { mediaType: "text/plain", body: "<a chart>" }
                      ]
                    })
                  ]
                : undefined
        })
      )
    )
  )

  it.effect(
    "what is displayed where there is no room for it is missing, and is said to be; what was put out is not",
    () =>
      Effect.gen(function* () {
        const { id, member } = yield* castle
        const answer = yield* as(member)(execute(id, "charts"))
        assert.deepStrictEqual(answer.output, [
          "before\n",
          "[image/png was displayed and could not be kept: the disk is full]"
        ])
        assert.deepStrictEqual(
          answer.files.map(({ mediaType, name }) => [mediaType, name.endsWith("-2.svg")]),
          [["image/svg+xml", true]]
        )
        const [recordedOne] = (yield* as(member)(recorded(id))).items
        assert.deepStrictEqual([recordedOne?.status._tag, recordedOne?.outputPreview], ["Completed", "before\n"])
      }).pipe(
        Effect.provide(
          Deployment.layer({
            sandbox: ScriptedSandboxModule.layer({
              maximumFileBytes: 10,
              teaches: () => [
                ExecEvent.cases.Stdout.make({ text: "before\n" }),
                ExecEvent.cases.Rich.make({ forms: [{ mediaType: "image/png", body: new Uint8Array(11) }] }),
                ExecEvent.cases.Rich.make({ forms: [{ mediaType: "image/svg+xml", body: "<svg/>" }] })
              ]
            })
          })
        )
      )
  )

  it.effect("a query's result becomes a dataframe; its rows are in no record", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, tenant } = yield* castle
      yield* Fixture.connector(tenant.organizationId)
      const query = (more: Partial<Parameters<typeof sandcastles.query>[1]> = {}) =>
        as(member)(
          sandcastles.query(id, {
            connectorId: ConnectorId.make(1),
            text: { _tag: "Statement", query: "select * from sales" },
            source: "platform_api",
            ...more
          })
        )
      const answer = yield* query({ dataframeName: "sales" })
      assert.deepStrictEqual(answer.dataframe, { name: "sales", rows: 3, columns: 3 })
      assert.include(answer.preview, "north")
      assert.deepStrictEqual((yield* as(member)(execute(id, "print(len(sales))"))).output, ["3\n"])
      assert.isTrue((yield* query({ maxRows: 2 })).truncated)
      const view = yield* query({ text: { _tag: "View", path: "sales.everything" } })
      assert.strictEqual(view.dataframe.name, "df")
      const invalid = [
        [{ dataframeName: "class" }, "dataframe_name"],
        [{ dataframeName: "a b" }, "dataframe_name"],
        [{ dataframeName: "__builtins__" }, "dataframe_name"],
        [{ maxRows: 0 }, "max_rows"],
        [{ maxRows: 100_001 }, "max_rows"],
        [{ maxRows: 1.5 }, "max_rows"],
        [{ text: { _tag: "Statement", query: "  " } }, "query"],
        [{ text: { _tag: "View", path: "sales" } }, "ontology_path"],
        [{ text: { _tag: "View", path: "sales.nothing" } }, "ontology_path"],
        [{ text: { _tag: "View", path: "sales.everything" }, parameters: { a: 1 } }, "params"]
      ] as const
      for (const [more, field] of invalid) {
        assert.match(yield* refused(query(more)), new RegExp(`^invalid_request: ${field}: `, "u"))
      }
      assert.strictEqual(
        yield* refused(query({ connectorId: ConnectorId.make(9) })),
        "permission_denied: permission denied: connector 9 is not available to you"
      )
      assert.strictEqual(
        yield* refused(query({ text: { _tag: "Statement", query: "delete from sales" } })),
        "permission_denied: only statements that read are allowed"
      )
      const { items } = yield* as(member)(recorded(id))
      const first = items.at(-1)
      assert.deepStrictEqual([first?.kind, first?.outputPreview], ["sql", "sales: 3 rows, 3 columns"])
      assert.include(
        items.map(({ kind }) => kind),
        "ontology"
      )
      assert.isFalse(items.some(({ outputPreview }) => outputPreview.includes("north")))
    }).pipe(Effect.provide(Deployment.layer({ sources: [{ ...salesSource, views: [{ name: "everything" }] }] })))
  )

  it.effect("executions are paged, outlive their sandcastle, and are purged after 30 days", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      for (let index = 0; index < 5; index++) {
        yield* as(member)(execute(id, `x = ${index}`))
        yield* TestClock.adjust("1 second")
      }
      yield* as(member)(sandcastles.stop(id))
      const first = yield* as(member)(recorded(id, 3))
      const second = yield* as(member)(recorded(id, 3, first.next))
      assert.deepStrictEqual(
        [...first.items, ...second.items].map(({ input }) => input),
        ["x = 4", "x = 3", "x = 2", "x = 1", "x = 0"]
      )
      assert.isUndefined(second.next)
      const monthAgo = DateTime.subtract(yield* DateTime.now, { days: 30 })
      const last = first.items[0]
      assert.isDefined(last)
      yield* ExecutionStore.use((store) =>
        Effect.forEach([monthAgo, DateTime.subtract(monthAgo, { milliseconds: 1 })], (createdAt, index) =>
          store.save(
            new Execution({ ...last, id: ExecutionId.make(`018f0000-0000-7000-8000-00000000000${index}`), createdAt })
          )
        )
      )
      assert.strictEqual((yield* as(member)(recorded(id))).items.length, 7)
      const purged = yield* Retention.use((retention) => retention.purge)
      assert.deepStrictEqual(purged, { executions: 1, idempotentRequests: 0 })
      assert.deepStrictEqual((yield* as(member)(recorded(id))).items.at(-1)?.createdAt, monthAgo)
    }).pipe(Effect.provide(Deployment.layer()))
  )
})
