/**
 * Plants forbidden lines in a copy of the workspace and asks the linter, so that a rule which stops biting is noticed.
 */
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { arrows } from "../imports.ts"
import { publicPackages, root } from "../packages.ts"

const restricted = "eslint(no-restricted-imports)"
const cycle = "import(no-cycle)"

/** A file, one line of it, and the rules that must refuse it: none for a line that is fine. */
type Case = readonly [file: string, line: string, rules: ReadonlyArray<string>]

const core = "packages/core/src/planted"
const connectors = "packages/connectors/src/planted"

const cases: ReadonlyArray<Case> = [
  [`${core}/A01.ts`, `import "effect/Effect"`, []],
  [`${core}/A02.ts`, `import "diff"`, []],
  [`${core}/A03.ts`, `import "./A01.ts"`, []],
  [`${core}/A04.ts`, `export { Effect } from "effect"`, [restricted]],
  [`${core}/A05.ts`, `export type { Stats } from "node:fs"`, [restricted]],
  [`${core}/A06.ts`, `export const late = () => import("node:fs")`, [restricted]],
  [`${core}/A07.ts`, `import "effect/http/HttpClient"`, [restricted]],
  [`${core}/A08.ts`, `import "effect/http-api/HttpApi"`, [restricted]],
  [`${core}/A09.ts`, `import "effect/sql/SqlClient"`, [restricted]],
  [`${core}/A10.ts`, `import "effect/process/ChildProcess"`, [restricted]],
  [`${core}/A11.ts`, `import "effect/socket/Socket"`, [restricted]],
  [`${core}/A12.ts`, `import "effect/FileSystem"`, [restricted]],
  [`${core}/A13.ts`, `import "@effect/platform-node/NodeHttpServer"`, [restricted]],
  [`${core}/A14.ts`, `import "@effect/sql-pg/PgClient"`, [restricted]],
  [`${core}/A15.ts`, `import "@castellan/api/Api"`, [restricted]],
  [`${core}/A16.ts`, `import "@castellan/testing/Suite"`, [restricted]],
  [`${core}/A17.ts`, `import "../index.ts"`, [restricted]],
  [`${core}/A18.ts`, `import "../../../api/src/Api.ts"`, [restricted]],
  [`${core}/A19.ts`, `import "../../test/helper.ts"`, [restricted]],
  [`${core}/A20.ts`, `import "../../../../examples/embed/src/main.ts"`, [restricted]],
  [`${core}/A21.ts`, `import "../../../../bench/src/main.ts"`, [restricted]],
  [`${core}/A22.ts`, `import "fastify"`, [restricted]],
  [`${core}/B1.ts`, `export * as B2 from "./internal/b2.ts"`, [cycle]],
  [`${core}/internal/b2.ts`, `import * as B1 from "../B1.ts"; export const b = B1`, [cycle]],
  [`${core}/C1.ts`, `import type { C2 } from "./C2.ts"; export type C1 = C2`, [cycle]],
  [`${core}/C2.ts`, `import type { C1 } from "./C1.ts"; export type C2 = C1`, [cycle]],
  [`${core}/D1.ts`, `export const f = (): void => console.log(1)`, ["eslint(no-console)"]],
  [`${core}/D2.ts`, `export const f = (x: any): void => x`, ["typescript(no-explicit-any)"]],
  [`${core}/D3.ts`, `export const f = (x?: string): string => x!`, ["typescript(no-non-null-assertion)"]],
  [`${core}/D4.ts`, `export const f = (x: unknown) => x as string`, ["typescript(consistent-type-assertions)"]],
  [`${core}/D5.ts`, `import { A } from "./A01.ts"; export type B = A`, ["typescript(consistent-type-imports)"]],
  ["packages/api/src/planted/A1.ts", `import "effect/http-api/HttpApi"`, []],
  ["packages/api/src/planted/A2.ts", `import "@castellan/core/chat/Chat"`, []],
  ["packages/api/src/planted/A3.ts", `import "node:fs"`, [restricted]],
  ["packages/api/src/planted/A4.ts", `import "@castellan/http/Server"`, [restricted]],
  ["packages/http/src/planted/A1.ts", `import "@castellan/api/Api"`, []],
  ["packages/http/src/planted/A2.ts", `import "@castellan/connectors/duckdb/DuckDb"`, [restricted]],
  [`${connectors}/A1.ts`, `import "node:fs"`, []],
  [`${connectors}/A2.ts`, `import "@duckdb/node-api"`, []],
  [`${connectors}/A3.ts`, `import "@castellan/core/chat/Chat"`, []],
  [`${connectors}/A4.ts`, `import "@castellan/core"`, [restricted]],
  [`${connectors}/A5.ts`, `import "@castellan/core/chat/internal/x"`, [restricted]],
  [`${connectors}/A6.ts`, `import "@castellan/ontology/Ontology"`, [restricted]],
  [`${connectors}/A7.ts`, `import "vitest"`, [restricted]],
  ["packages/core/test/planted/A1.ts", `import "effect"; import "@castellan/core"`, []],
  ["packages/core/test/planted/A2.ts", `import "../../src/chat/internal/x.ts"`, []],
  ["packages/core/test/planted/A3.ts", `import "../../../api/src/Api.ts"`, [restricted]],
  ["examples/planted/src/A1.ts", `import "@castellan/core"; console.log(1)`, []],
  ["examples/planted/src/A2.ts", `import "../../../packages/core/src/chat/Chat.ts"`, [restricted]]
]

const readReport = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ diagnostics: Schema.Array(Schema.Struct({ filename: Schema.String, code: Schema.String })) })
  )
)

describe("the linter's rules", () => {
  const copy = mkdtempSync(join(tmpdir(), "castellan-imports-"))
  let findings: ReadonlyArray<{ readonly filename: string; readonly code: string }> = []

  beforeAll(() => {
    for (const path of [
      "oxlint.config.ts",
      "scripts",
      ...publicPackages().map(({ id }) => `packages/${id}/package.json`)
    ]) {
      cpSync(join(root, path), join(copy, path), { recursive: true })
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
    for (const [file, line] of cases) {
      mkdirSync(dirname(join(copy, file)), { recursive: true })
      writeFileSync(join(copy, file), `${line}\n`)
    }
    const args = ["--allow=import/no-unassigned-import", "--format=json", "packages", "examples"]
    const { stdout } = spawnSync(join(root, "node_modules/.bin/oxlint"), args, { cwd: copy, encoding: "utf8" })
    findings = readReport(stdout).diagnostics
  })
  afterAll(() => rmSync(copy, { recursive: true }))

  for (const [file, line, rules] of cases) {
    it(`${rules.length === 0 ? "allows" : "refuses"} ${line} in ${file}`, () => {
      const found = findings.filter(({ filename }) => filename === file).map(({ code }) => code)
      assert.deepStrictEqual([...new Set(found)], rules)
    })
  }

  it("knows every package", () => {
    const ids = publicPackages().map(({ id }) => id)
    assert.deepStrictEqual(Object.keys(arrows).toSorted(), ids.toSorted())
  })

  it("agrees with the manifests about our own packages", () => {
    for (const { id, needs } of publicPackages()) {
      const ours = needs
        .filter((name) => name.startsWith("@castellan/"))
        .map((name) => name.slice("@castellan/".length))
      assert.sameMembers([...(arrows[id]?.inwards ?? [])], ours, id)
    }
  })
})
