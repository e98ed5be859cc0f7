import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it, onTestFinished } from "vitest"
import { isEntry, isInternal, isModule, publicPackages } from "../packages.ts"

/** A workspace of packages that need each other. */
const workspaceOf = (needs: Record<string, ReadonlyArray<string>>): string => {
  const workspace = mkdtempSync(join(tmpdir(), "castellan-packages-"))
  onTestFinished(() => rmSync(workspace, { recursive: true }))
  for (const [id, others] of Object.entries(needs)) {
    const dependencies = Object.fromEntries(others.map((other) => [`@castellan/${other}`, "workspace:*"]))
    mkdirSync(join(workspace, "packages", id), { recursive: true })
    const manifest = { name: `@castellan/${id}`, version: "0.0.0", dependencies }
    writeFileSync(join(workspace, "packages", id, "package.json"), JSON.stringify(manifest))
  }
  return workspace
}

describe("publicPackages", () => {
  it("has each package after those it needs", () => {
    const workspace = workspaceOf({ api: ["core"], bare: [], core: [], http: ["zone", "api"], zone: ["core"] })
    const ids = publicPackages(workspace).map(({ id }) => id)
    assert.deepStrictEqual(ids, ["core", "api", "bare", "zone", "http"])
  })

  it("refuses packages that need each other", () => {
    const workspace = workspaceOf({ a: ["b"], b: ["a"] })
    assert.throws(() => publicPackages(workspace), /@castellan\/a -> @castellan\/b -> @castellan\/a/)
  })
})

describe("the kinds of sources", () => {
  const kinds: ReadonlyArray<readonly [path: string, module: boolean, entry: boolean, internal: boolean]> = [
    ["Root.ts", true, false, false],
    ["chat/Chat.ts", true, false, false],
    ["duckdb/child.ts", false, true, false],
    ["chat/internal/Table.ts", false, false, true],
    ["internal/text.ts", false, false, true],
    ["index.ts", false, false, false],
    ["chat/index.ts", false, false, false]
  ]
  for (const [path, module, entry, internal] of kinds) {
    it(path, () => assert.deepStrictEqual([isModule(path), isEntry(path), isInternal(path)], [module, entry, internal]))
  }
})
