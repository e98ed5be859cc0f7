import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { join } from "node:path"
import { gzipSync } from "node:zlib"

/**
 * Bytes that a browser may be asked to load, minified and compressed, about a fifth above what they were when these
 * bounds were set: 4,584 and 102,558. Of the latter, 73,000 are Effect's own. Both grew, from bounds of 3,500 and
 * 88,000, when the contract did from 12 operations to 107: by a table of routes the one, by their schemas the other.
 */
const budgets = { "client/Client.ts": 5_500, "client/EffectClient.ts": 123_000 }

/** A module as a browser would load it. Nothing of Node's resolves for that platform: to need it fails the build. */
const bundle = async (module: string) => {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "../src", module)],
    absWorkingDir: join(import.meta.dirname, ".."),
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    metafile: true
  })
  const [output] = outputFiles
  assert.isDefined(output)
  return { text: output?.text ?? "", inputs: Object.keys(metafile.inputs) }
}

describe("a client in a browser", () => {
  it.each(Object.entries(budgets))("%s keeps within its budget", async (module, budget) => {
    const { text } = await bundle(module)
    assert.isAtMost(gzipSync(text, { level: 9 }).byteLength, budget)
  })

  it("brings nothing along when it makes promises", async () => {
    const { inputs } = await bundle("client/Client.ts")
    assert.isNotEmpty(inputs)
    for (const input of inputs) assert.match(input, /^src\/client\/\w+\.ts$/)
  })

  it("works as it was bundled", async () => {
    const { text } = await bundle("client/Client.ts")
    const module: unknown = await import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`)
    assert.hasAllKeys(module, ["make", "CastellanError"])
    if (typeof module !== "object" || module === null || !("make" in module)) return
    const { make } = module
    assert.isFunction(make)
    if (typeof make !== "function") return
    const client: unknown = make({ baseUrl: "http://castellan.test", apiKey: "key" })
    assert.containsAllKeys(client, ["chats", "connectors", "models", "assets", "playbooks", "publicRpc"])
  })
})
