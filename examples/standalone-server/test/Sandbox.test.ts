/** Questions that take a program, answered by the whole server in a real sandbox, wherever the machine has one. */
import * as CastellanClient from "@castellan/api/client/Client"
import type { ChatStreamEvent } from "@castellan/api/client/Client"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer, Option } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readFile } from "node:fs/promises"
import { afterAll } from "vitest"
import { startServer } from "../src/demo/ServerProcess.ts"
import * as Sandbox from "../src/Sandbox.ts"

const folders: Array<string> = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "castellan-sandbox-test-"))
  folders.push(made)
  return made
}
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })))

const count = 40
/** y = 3x + 2 exactly, so that every figure of it is known. */
const points = `x,y\n${Array.from({ length: count }, (_, n) => `${n + 1},${3 * (n + 1) + 2}`).join("\n")}\n`

const served = async (kind: string, question: string) => {
  const [data, files] = [folder(), folder()]
  writeFileSync(join(files, "points.csv"), points)
  const before = process.env["CASTELLAN_SANDBOX"]
  process.env["CASTELLAN_SANDBOX"] = kind
  try {
    await using server = await startServer(data, files, new AbortController().signal)
    const apiKey = (await readFile(join(data, "admin.key"), "utf8")).trim()
    const client = CastellanClient.make({ baseUrl: server.url, apiKey })
    const events: Array<ChatStreamEvent> = []
    for await (const event of client.chats.stream({ question })) events.push(event)
    const pictures = await Promise.all(
      events.flatMap((event) => {
        const format = event.type === "asset" ? event.asset.formats.find((one) => one.format === "png") : undefined
        return format === undefined
          ? []
          : [client.assets.fetch(format.url).then(async (response) => new Uint8Array(await response.arrayBuffer()))]
      })
    )
    return { sandboxes: server.sandboxes, events, pictures }
  } finally {
    if (before === undefined) delete process.env["CASTELLAN_SANDBOX"]
    else process.env["CASTELLAN_SANDBOX"] = before
  }
}

const textOf = (events: ReadonlyArray<ChatStreamEvent>) =>
  events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")

const pythonCells = (events: ReadonlyArray<ChatStreamEvent>) =>
  events.flatMap((event) => (event.type === "cell" && event.cell.type === "python" ? [event.cell] : []))

describe("a question that takes a program", () => {
  it("is answered with its figures and its picture in the sandbox that the machine has, or plainly not at all", async () => {
    const { events, pictures, sandboxes } = await served("auto", "linear regression of y on x")
    if (sandboxes.startsWith("none")) {
      process.stderr.write("\nSKIPPED: this machine has no sandboxes at all; that the analyst says so is tested.\n\n")
      assert.match(textOf(events), /has no Python to run one/)
      return
    }
    assert.match(textOf(events), /changes by \*\*3\*\*/)
    assert.match(textOf(events), /R² = 1\.00/)
    assert.include(textOf(events), `over ${count} records`)
    const cells = pythonCells(events)
    assert.strictEqual(cells.at(0)?.status, "running")
    assert.strictEqual(cells.at(-1)?.status, "completed")
    assert.match(cells.at(-1)?.execution_id ?? "", /^[0-9a-f-]{36}$/)
    const assets = events.flatMap((event) => (event.type === "asset" ? [event.asset] : []))
    assert.strictEqual(assets.length, 1)
    assert.strictEqual(assets[0]?.cell_id, cells[0]?.id)
    assert.deepStrictEqual(Array.from(pictures[0] ?? []).slice(0, 4), [0x89, 0x50, 0x4e, 0x47])
    assert.deepStrictEqual(events.at(-1), { type: "done", status: "completed" })
  }, 300_000)

  it("is declined plainly where no program is to be run", async () => {
    const { events, sandboxes } = await served("none", "linear regression of y on x")
    assert.match(sandboxes, /^none/)
    assert.match(textOf(events), /this chat has no Python to run one, so I have no figures/)
    assert.deepStrictEqual(pythonCells(events), [])
  }, 300_000)
})

describe("sandboxes that are asked for by name", () => {
  it.effect("end the start where they cannot be had, with the reason and what mends it", () =>
    Effect.gen(function* () {
      const none = Option.none()
      const packages = Option.some(join(folder(), "absent"))
      const settings = { kind: "embedded", root: none, packages, memory: none, timeout: none } as const
      const cause = yield* Effect.flip(Effect.sandbox(Effect.scoped(Layer.build(Sandbox.layer(settings)))))
      assert.match(
        Cause.pretty(cause),
        /CASTELLAN_SANDBOX: the folder of the packages cannot be read: .*absent' \(to mend it: fetch the packages anew: npx castellan-sandbox-prefetch .*\)/u
      )
    })
  )
})
