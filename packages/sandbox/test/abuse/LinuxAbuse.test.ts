/** The Linux tier under abuse. */
import * as AbuseSuite from "@castellan/testing/abuse/AbuseSuite"
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { afterAll, describe } from "@effect/vitest"
import * as Layer from "effect/Layer"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("the abuse of sandboxes on Linux")

const mebibyte = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), "castellan-linux-abuse-"))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Whoever sandboxes run as has to come through.
chmodSync(folder, 0o755)
afterAll(() => rmSync(folder, { recursive: true }))

const layer: Layer.Layer<SandboxRuntime> = layerLinux({ folder }).pipe(Layer.provide(DuckDbSqlExecutor.layer()))

describe.skipIf(missing !== undefined)("Linux", () => {
  AbuseSuite.suite("linux", layer, {
    kind: { isolation: "namespaces", realBash: true },
    // Two sessions of a gibibyte of memory and half of one of files, the process that they are forked from, and DuckDB's.
    bounds: { folders: [folder], memoryBytes: 4_608 * mebibyte, diskBytes: mebibyte, processes: 160 },
    own: [],
    absent: {
      37: "a host that is killed: Leftovers.test.ts",
      49: "a self-test that fails: SelfTest.test.ts",
      50: "a host that is root: SelfTest.test.ts",
      51: "no vendor is asked"
    }
  })
})
