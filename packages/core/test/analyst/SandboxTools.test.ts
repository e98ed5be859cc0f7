import { Principal } from "@castellan/core/access/Principal"
import { defaultTools } from "@castellan/core/chat/Chat"
import type { ModelTurn } from "@castellan/core/model/LanguageModels"
import { layerUnavailable } from "@castellan/core/sandcastle/SandboxRuntime"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { call, calls, finished, says } from "@castellan/testing/scripted/ScriptedModel"
import * as Scripted from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { newcomer, turns } from "./Asking.ts"
import { asked, cells, json, recorded, results } from "./SandboxAsking.ts"

const toolNames = (turn: ModelTurn | undefined) => turn?.tools.map(({ name }) => name) ?? []

const bash = (command: string) => calls("bash", { title: "Look around", command })

describe("bash", () => {
  it.effect("runs a command in a fresh shell; another exit code than 0 is an answer", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      const { events, outline } = yield* asked(admin)
      assert.deepStrictEqual(outline.slice(2, 4), ["cell bash running", "cell bash completed"])
      assert.deepStrictEqual(cells(events)[1]?.result.output, ["hello", "oh"])
      const [read] = yield* results
      assert.deepStrictEqual(json(read?.content ?? ""), { output: "hello\noh\n", exit_code: 3 })
      assert.deepStrictEqual(
        (yield* recorded(admin)).map(({ input, kind }) => [kind, input]),
        [["bash", "echo hello\necho oh >&2\nexit 3"]]
      )
    }).pipe(Effect.provide(Deployment.layer({ script: [bash("echo hello\necho oh >&2\nexit 3"), says("Done.")] })))
  )
})

describe("the tools of the sandbox", () => {
  const withTools = (more: Partial<typeof defaultTools>) => ({ tools: { ...defaultTools, ...more } })

  it.effect("are not on offer where Python is off, and calls of them are refused", () =>
    Effect.gen(function* () {
      const admin = yield* newcomer
      yield* asked(admin, withTools({ python: false }))
      const [first] = yield* turns
      assert.notIncludeMembers(toolNames(first), ["python"])
      assert.notIncludeMembers(toolNames(first), ["bash"])
      assert.deepStrictEqual(
        (yield* results).map(({ content }) => content),
        ['the tool "python" is not available', 'the tool "bash" is not available']
      )
      assert.deepStrictEqual(yield* Scripted.ScriptedSandbox.use((sandbox) => sandbox.opened), [])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: [
            [
              call("python", { title: "t", code: "x = 1" }, "1"),
              call("bash", { title: "t", command: "echo" }, "2"),
              finished()
            ],
            says("No.")
          ]
        })
      )
    )
  )

  it.effect("are not on offer to who may not execute anything", () =>
    Effect.gen(function* () {
      const tenant = yield* Fixture.tenant()
      const role = yield* Fixture.role(tenant.organizationId, { permissions: ["chat:read", "chat:write"] })
      yield* asked(new Principal({ ...Fixture.adminOf(tenant), roles: [role] }))
      assert.notIncludeMembers(toolNames((yield* turns)[0]), ["python"])
    }).pipe(Effect.provide(Deployment.layer({ script: [says("No.")] })))
  )

  it.effect("are not on offer in a deployment without sandboxes", () =>
    Effect.gen(function* () {
      yield* asked(yield* newcomer)
      assert.notIncludeMembers(toolNames((yield* turns)[0]), ["python"])
      assert.notIncludeMembers(toolNames((yield* turns)[0]), ["bash"])
    }).pipe(Effect.provide(Deployment.layer({ sandbox: layerUnavailable, script: [says("No.")] })))
  )

  it.effect("say what can be imported", () =>
    Effect.gen(function* () {
      yield* asked(yield* newcomer)
      const description = (yield* turns)[0]?.tools.find(({ name }) => name === "python")?.description
      assert.include(description, "Packages beside the standard library: numpy, pandas.")
      assert.include(description, "Dataframes are pandas.DataFrame.")
    }).pipe(
      Effect.provide(
        Deployment.layer({
          sandbox: Scripted.layer({ capabilities: { packages: ["numpy", "pandas"] } }),
          script: [says("No.")]
        })
      )
    )
  )
})
