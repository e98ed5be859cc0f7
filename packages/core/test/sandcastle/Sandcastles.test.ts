import type { CurrentPrincipal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import type { Position } from "@castellan/core/page/Page"
import { Retention } from "@castellan/core/retention/Retention"
import { Execution, ExecutionId } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import { ExecEvent, layerUnavailable } from "@castellan/core/sandcastle/SandboxRuntime"
import { SandboxPath } from "@castellan/core/sandcastle/SandboxPath"
import { Sandcastle, SandcastleId, SandcastleStatus } from "@castellan/core/sandcastle/Sandcastle"
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import * as SandcastlesModule from "@castellan/core/sandcastle/Sandcastles"
import * as SandcastleSessions from "@castellan/core/sandcastle/SandcastleSessions"
import { SandcastleStore } from "@castellan/core/sandcastle/SandcastleStore"
import { as, refused, words } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { salesSource } from "@castellan/testing/scripted/ScriptedOntology"
import * as ScriptedSandboxModule from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

const { Sandcastles } = SandcastlesModule
const { ScriptedSandbox } = ScriptedSandboxModule

/** A member with a sandcastle. */
const castle = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const member = yield* Fixture.someone(tenant, { fullMemberAccess: true })
  const sandcastle = yield* as(member)(Sandcastles.use((sandcastles) => sandcastles.start()))
  return { tenant, member, sandcastle, id: sandcastle.id }
})

const execute = (id: SandcastleId, code: string) =>
  Sandcastles.use((sandcastles) => sandcastles.execute(id, { code, source: "platform_api" }))

const recorded = (id: SandcastleId, limit = 100, after?: Position) =>
  Sandcastles.use((sandcastles) => sandcastles.executions(id, { limit, ...(after === undefined ? {} : { after }) }))

const statusOf = (id: SandcastleId) =>
  Effect.map(
    Sandcastles.use((sandcastles) => sandcastles.get(id)),
    ({ sandcastle }) => sandcastle.status._tag
  )

const noSession = "conflict: the sandcastle's session does not answer: start it again"

/** A deployment that sweeps by itself, where an execution may take longer than a sandcastle may be idle. */
const sweeping = Deployment.layer({ sweeps: true }).pipe(
  Layer.provide(
    Layer.effect(
      SandcastleLimits,
      Effect.map(SandcastleLimits, (limits) => ({ ...limits, executionTimeout: Duration.hours(1) }))
    )
  )
)

describe("Sandcastles: their life", () => {
  it.effect("one is started, listed, looked at, stopped, and started again", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, sandcastle, tenant } = yield* castle
      assert.strictEqual(sandcastle.status._tag, "Running")
      const list = (status: "running" | "stopped" | "all") =>
        Effect.map(as(member)(sandcastles.list({ status, limit: 10 })), ({ items }) => items.map((one) => one.id))
      assert.deepStrictEqual(yield* list("running"), [id])
      const view = yield* as(member)(sandcastles.get(id))
      assert.deepStrictEqual(view.usage?.dataframes, [])
      yield* as(member)(sandcastles.stop(id))
      assert.deepStrictEqual(yield* ScriptedSandbox.use((sandbox) => sandbox.open), [])
      assert.deepStrictEqual([yield* list("running"), yield* list("stopped")], [[], [id]])
      assert.deepStrictEqual(Object.keys(yield* as(member)(sandcastles.get(id))), ["sandcastle"])
      assert.strictEqual(
        yield* refused(as(member)(sandcastles.stop(id))),
        "conflict: cannot stop a sandcastle that is stopped"
      )
      assert.strictEqual(
        yield* refused(as(member)(execute(id, "print(1)"))),
        "conflict: cannot use a sandcastle that is stopped"
      )
      const again = yield* as(member)(sandcastles.start({ id }))
      assert.deepStrictEqual([again.id, again.status._tag], [id, "Running"])
      assert.deepStrictEqual((yield* as(member)(execute(id, "print(1)"))).output, ["1\n"])
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 100, targetType: "sandcastle" })
      )
      assert.deepStrictEqual(items.map(({ action, target }) => [action, target.id === id]).toReversed(), [
        ["create", true],
        ["stop", true],
        ["update", true]
      ])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("to start one needs leave; another's is not there, but for an administrator who stops it", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, tenant } = yield* castle
      const powerless = yield* Fixture.someone(tenant, { roles: [] })
      const colleague = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(powerless)(sandcastles.start())),
        "permission_denied: permission denied: sandcastle:execute is required"
      )
      const unknown = SandcastleId.make("nobody")
      for (const [principal, of] of [
        [colleague, id],
        [colleague, unknown],
        [powerless, id]
      ] as const) {
        const doors: ReadonlyArray<
          Effect.Effect<unknown, Parameters<typeof words>[0], CurrentPrincipal | SandcastlesModule.Sandcastles>
        > = [
          sandcastles.start({ id: of }),
          sandcastles.get(of),
          sandcastles.stop(of),
          execute(of, "print(1)"),
          sandcastles.exec(of, { command: "echo", kind: "bash", source: "platform_api" }),
          sandcastles.interrupt(of),
          recorded(of),
          sandcastles.listFiles(of),
          sandcastles.upload(of, { name: "a.txt", content: new Uint8Array() }),
          sandcastles.download(of, "a.txt"),
          sandcastles.removeFile(of, "a.txt"),
          sandcastles.libraryDiff(of),
          sandcastles.query(of, {
            connectorId: ConnectorId.make(1),
            text: { _tag: "Statement", query: "select * from sales" },
            source: "platform_api"
          })
        ]
        for (const door of doors) {
          assert.strictEqual(yield* refused(as(principal)(Effect.asVoid(door))), "not_found: sandcastle not found")
        }
      }
      yield* as(Fixture.adminOf(tenant))(sandcastles.stop(id))
      assert.deepStrictEqual(yield* ScriptedSandbox.use((sandbox) => sandbox.open), [])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("where no session opens, nothing is kept", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(member)(sandcastles.start())),
        "execution_failed: this deployment has no sandboxes"
      )
      assert.deepStrictEqual((yield* as(member)(sandcastles.list({ status: "all", limit: 10 }))).items, [])
    }).pipe(Effect.provide(Deployment.layer({ sandbox: layerUnavailable })))
  )

  it.effect("one serves a chat that its maker may go on with", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const tenant = yield* Fixture.tenant()
      const member = yield* Fixture.someone(tenant)
      const run = yield* Conversation.ask(member, "How many?")
      yield* Conversation.events(run)
      const started = yield* as(member)(sandcastles.start({ chatId: run.chatId }))
      assert.strictEqual(started.chatId, run.chatId)
      const other = yield* Fixture.someone(tenant)
      assert.strictEqual(
        yield* refused(as(other)(sandcastles.start({ chatId: run.chatId }))),
        "not_found: chat not found"
      )
    }).pipe(Effect.provide(Deployment.layer({ script: () => says("Three.") })))
  )

  it.effect("an idle one is stopped by the sweep, at the very moment; a used one is not", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, tenant } = yield* castle
      const busy = yield* as(member)(sandcastles.start())
      yield* TestClock.adjust("10 minutes")
      yield* as(member)(execute(busy.id, "x = 1"))
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
      yield* TestClock.adjust("1 second")
      yield* sandcastles.sweep
      assert.strictEqual(yield* as(member)(statusOf(id)), "Stopped")
      assert.strictEqual(yield* as(member)(statusOf(busy.id)), "Running")
      assert.deepStrictEqual(yield* ScriptedSandbox.use((sandbox) => sandbox.open), [busy.id])
      const { items } = yield* AuditStore.use((store) =>
        store.list(tenant.organizationId, { limit: 1, action: "stop" })
      )
      assert.deepStrictEqual(items[0]?.actor.credential, { _tag: "System", name: "sandcastle-sweep" })
      assert.strictEqual(items[0]?.actor.memberId, member.memberId)
      yield* TestClock.adjust("14 minutes")
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 1 })
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 0 })
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("the session of one that another server stopped is closed here, and none that was opened since", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member, sandcastle } = yield* castle
      const open = ScriptedSandbox.use((sandbox) => sandbox.open)
      yield* TestClock.adjust("1 minute")
      const releasedAt = yield* DateTime.now
      const startedAt = sandcastle.createdAt
      const stopped = new Sandcastle({
        ...sandcastle,
        status: SandcastleStatus.cases.Stopped.make({ startedAt, releasedAt, cause: "asked" })
      })
      yield* SandcastleStore.use((store) => store.save(stopped))
      assert.deepStrictEqual(yield* open, [id])
      assert.deepStrictEqual(yield* sandcastles.sweep, { stopped: 0 })
      assert.deepStrictEqual(yield* open, [])
      yield* TestClock.adjust("1 minute")
      yield* as(member)(sandcastles.start({ id }))
      // As it is kept while its new session is being opened.
      yield* SandcastleStore.use((store) => store.save(stopped))
      yield* sandcastles.sweep
      assert.deepStrictEqual(yield* open, [id])
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("a deployment sweeps by itself, and leaves alone what runs", () =>
    Effect.gen(function* () {
      const sandbox = yield* ScriptedSandbox
      const { id, member } = yield* castle
      const busy = yield* as(member)(Sandcastles.use((sandcastles) => sandcastles.start()))
      yield* Effect.forkChild(as(member)(execute(busy.id, "while True: pass")), { startImmediately: true })
      yield* sandbox.stuck(1)
      yield* TestClock.adjust("16 minutes")
      assert.strictEqual(yield* as(member)(statusOf(id)), "Stopped")
      assert.strictEqual(yield* as(member)(statusOf(busy.id)), "Running")
    }).pipe(Effect.provide(sweeping))
  )

  it.effect("another server's sweep leaves alone what is in use here for longer than a sandcastle may be idle", () =>
    Effect.gen(function* () {
      const { id, member } = yield* castle
      const elsewhere = yield* Layer.build(
        SandcastlesModule.layer.pipe(
          Layer.provide(SandcastleSessions.layer),
          Layer.provide(layerUnavailable),
          Layer.fresh
        )
      )
      const sweepElsewhere = Effect.flatMap(Effect.provide(Sandcastles, elsewhere), (sandcastles) => sandcastles.sweep)
      yield* Effect.forkChild(as(member)(execute(id, "while True: pass")), { startImmediately: true })
      yield* ScriptedSandbox.use((sandbox) => sandbox.stuck(1))
      for (let minute = 0; minute < 20; minute++) {
        yield* TestClock.adjust("1 minute")
        yield* sweepElsewhere
      }
      assert.strictEqual(yield* as(member)(statusOf(id)), "Running")
    }).pipe(Effect.provide(sweeping))
  )

  it.effect("one whose session is gone is unknown, refuses work, and is started again", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      yield* as(member)(execute(id, "x = 1"))
      yield* ScriptedSandbox.use((sandbox) => sandbox.lose(id))
      assert.strictEqual(yield* refused(as(member)(execute(id, "print(x)"))), noSession)
      assert.strictEqual(yield* as(member)(statusOf(id)), "Unknown")
      yield* as(member)(sandcastles.start({ id }))
      const answer = yield* as(member)(execute(id, "print(x)"))
      assert.include(answer.error ?? "", "NameError")
      // The one that met the lost session is recorded as well.
      const { items } = yield* as(member)(recorded(id))
      assert.deepStrictEqual(
        items.map(({ status }) => status._tag),
        ["Failed", "Failed", "Completed"]
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )
})

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

describe("Sandcastles: their files", () => {
  it.effect("files go in, are listed, come out, and go", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      const content = new TextEncoder().encode("a,b\n1,2\n")
      const put = (path?: string) =>
        as(member)(sandcastles.upload(id, { name: "data.csv", content, ...(path === undefined ? {} : { path }) }))
      assert.strictEqual(yield* put(), "uploads/data.csv")
      assert.strictEqual(yield* put("uploads/2030/"), "uploads/2030/data.csv")
      assert.strictEqual(yield* put("outputs/other.csv"), "outputs/other.csv")
      const listed = yield* as(member)(sandcastles.listFiles(id, "uploads/"))
      assert.deepStrictEqual(
        listed.map(({ kind, path, size }) => [path, kind, size]),
        [
          ["uploads/2030", "directory", 0],
          ["uploads/data.csv", "file", 8]
        ]
      )
      const file = yield* as(member)(sandcastles.download(id, "uploads/data.csv"))
      assert.deepStrictEqual([file.mediaType, [...file.content]], ["text/csv", [...content]])
      yield* as(member)(sandcastles.removeFile(id, "uploads/data.csv"))
      assert.strictEqual(
        yield* refused(as(member)(sandcastles.download(id, "uploads/data.csv"))),
        "not_found: there is no file uploads/data.csv"
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("no path leads out, and no dotfile in", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      const content = new Uint8Array(1)
      for (const path of ["../x", "/etc/passwd", "uploads/../../x", ".bashrc", "library/.git/config", "a\0b"]) {
        for (const door of [
          sandcastles.listFiles(id, path),
          sandcastles.download(id, path),
          sandcastles.removeFile(id, path),
          sandcastles.upload(id, { name: "x", path, content })
        ]) {
          assert.match(yield* refused(as(member)(Effect.asVoid(door))), /^invalid_request: path: /u, path)
        }
      }
      for (const name of ["../x", ".env", "a/b", ""]) {
        assert.match(
          yield* refused(as(member)(sandcastles.upload(id, { name, content }))),
          /^invalid_request: file: /u,
          name
        )
      }
      const large = new Uint8Array(25 * 1024 * 1024 + 1)
      assert.match(
        yield* refused(as(member)(sandcastles.upload(id, { name: "x", content: large }))),
        /^invalid_request: file: must not be larger/u
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )
})
