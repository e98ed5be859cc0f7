import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as SandcastleSample from "@castellan/testing/fixture/SandcastleSample"
import * as ScriptedSandboxModule from "@castellan/testing/scripted/ScriptedSandbox"
import { Retention } from "@castellan/core/retention/Retention"
import { ExecutionStatus } from "@castellan/core/sandcastle/Execution"
import { ExecutionStore } from "@castellan/core/sandcastle/ExecutionStore"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import * as SandboxRuntime from "@castellan/core/sandcastle/SandboxRuntime"
import * as PassingTime from "@castellan/testing/fixture/PassingTime"
import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer } from "effect"
import { code, json, keyOf, powerless, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const { ScriptedSandbox } = ScriptedSandboxModule

const started = Effect.map(json("POST", "/v2/sandcastles"), ({ body }): string => body.sandbox_id)

const pathOf = (id: string) => `/v2/sandcastles/${id}`

/** Runs Python in the session. */
const execute = (path: string, program: string) => json("POST", `${path}/execute`, { code: program })

const tables = [
  {
    name: "orders",
    columns: [
      { name: "region", type: "text" },
      { name: "sales", type: "integer" }
    ],
    rows: [
      ["North", 3],
      ["South", 4]
    ]
  }
] as const

layer(Site.layer({ deployment: { tables } }), { timeout: "180 seconds", excludeTestServices: true })(
  "sandcastles over HTTP",
  (it) => {
    it.effect("one is started, looked at, listed, stopped and started again", () =>
      Effect.gen(function* () {
        const key = yield* keyOf()
        const fresh = yield* json("POST", "/v2/sandcastles", {}, key)
        assert.strictEqual(fresh.status, 201)
        assert.deepStrictEqual(Object.keys(fresh.body), ["sandbox_id", "created_at"])
        const id: string = fresh.body.sandbox_id
        const running = yield* json("GET", pathOf(id), undefined, key)
        assert.deepStrictEqual(running, { status: 200, body: { status: "running", memory_usage: 0, dataframes: [] } })
        const listed = (yield* json("GET", "/v2/sandcastles", undefined, key)).body
        assert.strictEqual(listed.sandboxes.length, 1)
        assert.deepInclude(listed.sandboxes[0], { sandbox_id: id, status: "running" })

        assert.deepStrictEqual(yield* json("DELETE", pathOf(id), undefined, key), {
          status: 200,
          body: { success: true }
        })
        assert.match(yield* refusal(code.conflict, "DELETE", pathOf(id), undefined, key), /stopped/)
        assert.deepStrictEqual((yield* json("GET", pathOf(id), undefined, key)).body, { status: "stopped" })
        assert.deepStrictEqual((yield* json("GET", "/v2/sandcastles", undefined, key)).body, { sandboxes: [] })
        const stopped = (yield* json("GET", "/v2/sandcastles?status=stopped", undefined, key)).body
        assert.property(stopped.sandboxes[0], "released_at")
        assert.match(yield* refusal(code.conflict, "POST", `${pathOf(id)}/execute`, { code: "x = 1" }, key), /stopped/)

        const again = yield* json("POST", "/v2/sandcastles", { sandbox_id: id }, key)
        assert.deepStrictEqual(again, { status: 201, body: fresh.body })
        assert.strictEqual((yield* json("GET", pathOf(id), undefined, key)).body.status, "running")
      })
    )

    it.effect("a program's variables stay, and its failure is an answer; a process has its own output and exit", () =>
      Effect.gen(function* () {
        const path = pathOf(yield* started)
        yield* execute(path, "x = 41")
        const printed = yield* execute(path, "y = x + 1\nprint(y)")
        assert.strictEqual(printed.status, 200)
        assert.deepInclude(printed.body, { output: ["42\n"], files: [], dataframes: [] })
        assert.isNumber(printed.body.execution_time_ms)
        const failed = yield* execute(path, 'raise ValueError("no")')
        assert.strictEqual(failed.status, 200)
        assert.include(failed.body.error, "ValueError")

        const echoed = yield* json("POST", `${path}/exec`, {
          command: "echo $WHO\necho oh >&2\nexit 3",
          kind: "bash",
          env: { WHO: "Ann" }
        })
        assert.strictEqual(echoed.status, 200)
        assert.deepInclude(echoed.body, { stdout: "Ann\n", stderr: "oh\n", exit_code: 3 })
      })
    )

    it.effect("what a query answers is a dataframe of the session", () =>
      Effect.gen(function* () {
        const path = pathOf(yield* started)
        const answer = yield* json("POST", `${path}/query`, {
          connector_id: 1,
          query: "select * from orders",
          dataframe_name: "orders",
          max_rows: 1
        })
        assert.strictEqual(answer.status, 200)
        assert.deepInclude(answer.body, {
          dataframe_name: "orders",
          num_rows: 1,
          num_cols: 2,
          truncated: true,
          columns: tables[0].columns
        })
        assert.include(answer.body.preview, "| North |")
        assert.deepStrictEqual((yield* json("GET", path)).body.dataframes, [
          { name: "orders", num_rows: 1, num_cols: 2 }
        ])
        yield* refusal(code.denied, "POST", `${path}/query`, { connector_id: 99, query: "select * from orders" })
        yield* refusal(code.failed, "POST", `${path}/query`, { connector_id: 1, query: "select * from nothing" })
        yield* refusal(code.denied, "POST", `${path}/query`, { connector_id: 1, query: "drop table orders" })
      })
    )

    it.effect("what runs without an end is interrupted, and says so", () =>
      Effect.gen(function* () {
        const path = pathOf(yield* started)
        const running = yield* Effect.forkChild(execute(path, "while True: pass"))
        yield* ScriptedSandbox.use((sandbox) => sandbox.stuck(1))
        assert.deepStrictEqual(yield* json("POST", `${path}/interrupt`), { status: 200, body: { success: true } })
        const { body, status } = yield* Fiber.join(running)
        assert.deepStrictEqual([status, body.error], [200, "interrupted"])
      })
    )

    it.effect(
      "executions are listed newest first, page by page, also after the stop; a cursor that was altered is none",
      () =>
        Effect.gen(function* () {
          const path = pathOf(yield* started)
          for (const program of ["print(1)", "print(2)", 'raise ValueError("3")']) yield* execute(path, program)
          const first = (yield* json("GET", `${path}/executions?limit=2`)).body
          assert.deepStrictEqual(
            first.executions.map(({ input }: { readonly input: string }) => input),
            ['raise ValueError("3")', "print(2)"]
          )
          assert.deepInclude(first.executions[1], { kind: "python", source: "platform_api", output_preview: "2\n" })
          assert.include(first.executions[0].error, "ValueError")
          yield* json("DELETE", path)
          const rest = (yield* json("GET", `${path}/executions?limit=2&cursor=${first.next_cursor}`)).body
          assert.strictEqual(rest.executions[0].input, "print(1)")
          assert.notProperty(rest, "next_cursor")

          const flipped = `${first.next_cursor.slice(0, -1)}${first.next_cursor.endsWith("A") ? "B" : "A"}`
          assert.match(yield* refusal(code.invalid, "GET", `${path}/executions?cursor=${flipped}`), /^cursor: /)
          // A cursor of one list is none of another.
          const address = `/v2/sandcastles?cursor=${first.next_cursor}`
          assert.match(yield* refusal(code.invalid, "GET", address), /^cursor: /)
        })
    )

    it.effect("sandcastles are listed page by page without a gap or a repeat", () =>
      Effect.gen(function* () {
        const key = yield* keyOf()
        for (let count = 0; count < 5; count += 1) yield* json("POST", "/v2/sandcastles", undefined, key)
        const seen: Array<string> = []
        let cursor = ""
        for (let pages = 0; pages < 3; pages += 1) {
          const { body } = yield* json("GET", `/v2/sandcastles?limit=2${cursor}`, undefined, key)
          seen.push(...body.sandboxes.map(({ sandbox_id: id }: { readonly sandbox_id: string }) => id))
          assert.strictEqual(body.next_cursor === undefined, pages === 2)
          cursor = `&cursor=${body.next_cursor}`
        }
        assert.strictEqual(new Set(seen).size, 5)
        assert.strictEqual(seen.length, 5)
      })
    )

    it.effect("what is malformed is refused by the name of its field", () =>
      Effect.gen(function* () {
        const path = pathOf("0197c0de-0000-7000-8000-000000000000")
        const refused: ReadonlyArray<readonly [string, string, unknown, RegExp]> = [
          ["POST", "/v2/sandcastles", { sandbox_id: "../etc" }, /^sandbox_id: /],
          ["POST", "/v2/sandcastles", [1], /^body: must be a JSON object, got an array$/],
          ["GET", "/v2/sandcastles?status=sleeping", undefined, /^status: /],
          ["GET", "/v2/sandcastles?limit=201", undefined, /^limit: /],
          ["POST", `${path}/execute`, {}, /^code: is missing/],
          ["POST", `${path}/exec`, { command: "ls", kind: "perl" }, /^kind: /],
          ["POST", `${path}/exec`, { command: "ls", kind: "bash", env: { "A=B": "c" } }, /^env/],
          ["POST", `${path}/query`, { connector_id: 1 }, /must have either query or ontology_path/],
          ["POST", `${path}/query`, { connector_id: 1, query: "select 1", max_rows: 0 }, /^max_rows: /],
          ["POST", `${path}/query`, { connector_id: 1, query: "select 1", dataframe_name: "a b" }, /^dataframe_name: /],
          ["GET", `${path}/executions?limit=none`, undefined, /^limit: /]
        ]
        for (const [method, address, body, message] of refused) {
          assert.match(yield* refusal(code.invalid, method, address, body), message)
        }
        yield* refusal(code.notFound, "GET", "/v2/sandcastles/..%2f..")
      })
    )

    it.effect("somebody else's is hidden, and one that is not there is not found", () =>
      Effect.gen(function* () {
        const other = yield* keyOf()
        const ids = [yield* started, "nothing"]
        for (const id of ids) {
          for (const [method, suffix, body] of [
            ["GET", ""],
            ["DELETE", ""],
            ["POST", "/execute", { code: "x = 1" }],
            ["POST", "/exec", { command: "ls", kind: "bash" }],
            ["POST", "/query", { connector_id: 1, query: "select * from orders" }],
            ["POST", "/interrupt"],
            ["GET", "/files"],
            ["GET", "/files/a.txt"],
            ["DELETE", "/files/a.txt"],
            ["GET", "/executions"],
            ["GET", "/library/diff"],
            ["POST", "/library/changes", { title: "T", description: "" }]
          ] as const) {
            yield* refusal(code.notFound, method, `${pathOf(id)}${suffix}`, body, other)
          }
        }
        yield* refusal(code.notFound, "POST", "/v2/sandcastles", { sandbox_id: ids[0] }, other)
        const nobody = yield* powerless
        yield* refusal(code.denied, "POST", "/v2/sandcastles", undefined, nobody)
        yield* refusal(code.denied, "GET", "/v2/sandcastles", undefined, nobody)
      })
    )

    it.effect("a session that is gone is a conflict, and is opened again by its id", () =>
      Effect.gen(function* () {
        const id = yield* started
        yield* ScriptedSandbox.use((sandbox) => sandbox.lose(SandcastleId.make(id)))
        assert.match(yield* refusal(code.conflict, "GET", `${pathOf(id)}/files`), /start it again/)
        yield* refusal(code.conflict, "POST", `${pathOf(id)}/execute`, { code: "x = 1" })
        const { body } = yield* json("GET", "/v2/sandcastles?status=all&limit=200")
        assert.deepInclude(
          body.sandboxes.find(({ sandbox_id: other }: { readonly sandbox_id: string }) => other === id),
          { status: "unknown" }
        )
        assert.strictEqual((yield* json("POST", "/v2/sandcastles", { sandbox_id: id })).status, 201)
        assert.strictEqual((yield* execute(pathOf(id), "print(1)")).status, 200)
      })
    )
  }
)

layer(Site.layer({ deployment: { sandbox: SandboxRuntime.layerUnavailable } }), {
  timeout: "180 seconds",
  excludeTestServices: true
})("a deployment without sandboxes", (it) => {
  it.effect("says that it has none, and has no sandcastle left over", () =>
    Effect.gen(function* () {
      assert.match(yield* refusal(code.failed, "POST", "/v2/sandcastles"), /./)
      assert.deepStrictEqual((yield* json("GET", "/v2/sandcastles?status=all")).body, { sandboxes: [] })
      yield* refusal(code.notFound, "GET", pathOf("nothing"))
    })
  )
})

const hurried = { requestTimeout: Duration.millis(300), answerTimeout: Duration.millis(900) }

layer(Site.layer({ limits: hurried }), { timeout: "180 seconds" })(
  "an execution that takes longer than requests may",
  (it) => {
    it.effect("is waited for as long as answers may take, and then stopped and recorded", () =>
      Effect.gen(function* () {
        const { tenant } = yield* Site.Site
        const key = yield* keyOf({ roles: [tenant.adminRole, tenant.memberRole] })
        yield* Fixture.connector(tenant.organizationId)
        const path = pathOf((yield* json("POST", "/v2/sandcastles", undefined, key)).body.sandbox_id)
        const waiting = refusal(code.timeout, "POST", `${path}/execute`, { code: "while True: pass" }, key)
        const executing = yield* Effect.forkChild(Effect.timed(waiting))
        const begun = Effect.map(json("GET", `${path}/executions`, undefined, key), ({ body }) => body.executions)
        yield* Effect.repeat(begun, { until: (executions) => executions.length > 0 })
        const [took, message] = yield* PassingTime.join(executing)
        assert.isAtLeast(Duration.toMillis(took), 900)
        assert.include(message, "interrupted")
        const { executions } = (yield* json("GET", `${path}/executions`, undefined, key)).body
        assert.deepInclude(executions[0], { input: "while True: pass", error: "interrupted" })
      })
    )
  }
)

const picture = Uint8Array.of(137, 80, 78, 71)

const unusual = Site.layer({
  http: { publicUrl: "https://example.org" },
  deployment: {
    tables,
    sandbox: ScriptedSandboxModule.layer({
      dataframeBytes: 4096,
      teaches: ({ code: program }) =>
        program === "show"
          ? [
              SandboxRuntime.ExecEvent.cases.Rich.make({
                forms: [
                  { mediaType: "image/png", body: picture },
                  { mediaType: "text/plain", body: "<Figure>" }
                ]
              })
            ]
          : undefined
    })
  }
})

layer(unusual, { timeout: "180 seconds", excludeTestServices: true })("what sandcastles show over HTTP", (it) => {
  it.effect("a picture that is displayed is a file with an address and a media type", () =>
    Effect.gen(function* () {
      const path = pathOf(yield* started)
      const { body } = yield* execute(path, "show")
      assert.deepStrictEqual(body.output, ["<Figure>"])
      const [file, ...others] = body.files
      assert.deepStrictEqual(others, [])
      assert.strictEqual(file.mime_type, "image/png")
      assert.strictEqual(file.name, `${body.execution_id}-1.png`)
      const address = file.url.slice("https://example.org".length)
      assert.deepStrictEqual([...new Uint8Array((yield* Site.call(address)).body)], [...picture])
      assert.deepStrictEqual((yield* json("GET", `${path}/files?path=outputs`)).body.files, [
        { name: file.name, path: `outputs/${file.name}`, type: "file", size: picture.length }
      ])
    })
  )

  it.effect("a dataframe says what memory it takes, where that can be told", () =>
    Effect.gen(function* () {
      const path = pathOf(yield* started)
      yield* json("POST", `${path}/query`, { connector_id: 1, query: "select * from orders", dataframe_name: "orders" })
      const { dataframes } = (yield* json("GET", path)).body
      assert.deepStrictEqual(dataframes, [{ name: "orders", num_rows: 2, num_cols: 2, memory_usage: 4096 }])
    })
  )

  it.effect("executions of thirty days ago are listed until they are purged, later ones after that as well", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const id = SandcastleId.make(yield* started)
      const now = yield* DateTime.now
      const kept = (age: Duration.Input, input: string) =>
        Effect.flatMap(
          SandcastleSample.execution(
            { id, organizationId: tenant.organizationId },
            {
              input,
              createdAt: DateTime.subtractDuration(now, age),
              status: ExecutionStatus.cases.Completed.make({ endedAt: now })
            }
          ),
          (execution) => ExecutionStore.use((store) => store.save(execution))
        )
      yield* kept("31 days", "old")
      yield* kept("29 days", "young")
      const listed = Effect.map(json("GET", `${pathOf(id)}/executions`), ({ body }) =>
        body.executions.map(({ input }: { readonly input: string }) => input)
      )
      assert.deepStrictEqual(yield* listed, ["young", "old"])
      yield* Retention.use((retention) => retention.purge)
      assert.deepStrictEqual(yield* listed, ["young"])
    })
  )
})

const few = Site.layer().pipe(
  Layer.provide(
    Layer.effect(
      SandcastleLimits,
      Effect.map(SandcastleLimits, (limits) => ({ ...limits, perOrganization: 2 }))
    )
  )
)

const single = Site.layer().pipe(
  Layer.provide(
    Layer.effect(
      SandcastleLimits,
      Effect.map(SandcastleLimits, (limits) => ({ ...limits, perServer: 1 }))
    )
  )
)

layer(few, { timeout: "180 seconds", excludeTestServices: true })("an organization of two sandcastles", (it) => {
  it.effect("has a third refused as a conflict that says what to do", () =>
    Effect.gen(function* () {
      const first = yield* started
      yield* started
      assert.match(yield* refusal(code.conflict, "POST", "/v2/sandcastles"), /runs 2 sandcastles.*stop one/u)
      yield* json("DELETE", pathOf(first))
      assert.strictEqual((yield* json("POST", "/v2/sandcastles")).status, 201)
      assert.match(yield* refusal(code.conflict, "POST", "/v2/sandcastles", { sandbox_id: first }), /stop one/u)
    })
  )
})

layer(single, { timeout: "180 seconds", excludeTestServices: true })("a server of one sandcastle", (it) => {
  it.effect("has a second refused, with when to try again", () =>
    Effect.gen(function* () {
      yield* started
      const reply = yield* Site.call("/v2/sandcastles", { method: "POST" })
      assert.deepStrictEqual([reply.status, Site.envelopeOf(reply).code], [429, "rate_limit_exceeded"])
      assert.strictEqual(reply.headers["retry-after"], "60")
    })
  )
})
