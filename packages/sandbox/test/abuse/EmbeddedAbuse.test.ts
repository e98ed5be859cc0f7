/** The embedded tier under abuse. */
import * as AbuseSuite from "@castellan/testing/abuse/AbuseSuite"
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { afterAll } from "@effect/vitest"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer as embedded } from "../../src/embedded.ts"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"

const mebibyte = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), "castellan-embedded-abuse-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Small quotas show the same as large ones, and are sooner full.
const quotas = { fileBytes: 32 * mebibyte, fileCount: 2_000 }

const layer: Layer.Layer<SandboxRuntime> = Layer.orDie(embedded({ cache: folder, ...quotas })).pipe(
  Layer.provide(DuckDbSqlExecutor.layer())
)

AbuseSuite.suite("embedded", layer, {
  kind: { isolation: "wasm", realBash: false },
  bounds: { folders: [folder], memoryBytes: 4_608 * mebibyte, diskBytes: mebibyte, processes: 60 },
  own: [],
  absent: {
    37: "a host that is killed: Orphans.test.ts",
    49: "a self-test that fails: SelfTest.test.ts",
    50: "it starts nothing that depends on who the host is",
    51: "no vendor is asked"
  }
})
