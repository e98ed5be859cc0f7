/** The embedded tier under abuse. */
import * as AbuseSuite from "@castellan/testing/abuse/AbuseSuite"
import { failingStart, type FailingStart } from "@castellan/testing/abuse/cases/FailingStart"
import { killedHost } from "@castellan/testing/abuse/cases/KilledHost"
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { afterAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as DefaultSandbox from "../../src/DefaultSandbox.ts"
import { layer as embedded, tier } from "../../src/embedded.ts"
import { EmbeddedUnavailable } from "../../src/embedded/EmbeddedUnavailable.ts"
import * as SelfTest from "../../src/embedded/internal/SelfTest.ts"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"
import { changed, readable } from "../embedded/support/ChangedInterpreter.ts"

const mebibyte = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), "castellan-embedded-abuse-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
/** What interpreters start with, which hosts of the same version share. */
const cache = join(folder, "cache")

// Small quotas show the same as large ones, and are sooner full.
const quotas = { fileBytes: 32 * mebibyte, fileCount: 2_000 }

const layer: Layer.Layer<SandboxRuntime> = Layer.orDie(embedded({ cache, ...quotas })).pipe(
  Layer.provide(DuckDbSqlExecutor.layer())
)

/** A file is where a folder has to be; a folder of which everybody can move what is in it; a wheel that is none. */
const [file, open, wheels] = [join(folder, "file"), join(folder, "open"), join(folder, "wheels")]
writeFileSync(file, "")
for (const made of [open, wheels]) mkdirSync(made)
if (process.platform !== "win32") chmodSync(open, 0o777)

/** An interpreter that keeps what it must give up, or does not do its work, before the self-test of the tier. */
const selfTest = (path: string, from: string, to: string) =>
  Effect.gen(function* () {
    yield* SelfTest.run(yield* changed(path, from, to), readable)
  }).pipe(Effect.catch((error) => (error instanceof EmbeddedUnavailable ? Effect.fail(error) : Effect.die(error))))

const keeping = "for (const name of everyPermission)"
const output = "const shown = bytes.subarray(0, this.#left)"

const starts: ReadonlyArray<FailingStart> = [
  { what: "a file for a folder", start: tier({ cache: file }), promise: "snapshot" },
  ...(process.platform === "win32"
    ? []
    : [{ what: "a folder that everybody can move", start: tier({ cache: join(open, "cache") }), promise: "snapshot" }]),
  {
    what: "wheels that are not there",
    start: tier({ cache, packages: { folder: wheels, names: ["numpy"] } }),
    promise: "packages"
  },
  {
    what: "a host that insists on it",
    start: Layer.build(DefaultSandbox.layer({ choice: "embedded", embedded: { cache: file } })),
    promise: "snapshot"
  },
  {
    what: "permissions that are kept",
    start: selfTest("internal/deno/Runtime.ts", keeping, "for (const name of [])"),
    promise: "permissions"
  },
  {
    what: "an interpreter that says nothing",
    start: selfTest("deno/interpreter.ts", output, "const shown = nothing"),
    promise: "interpreter"
  }
]

const hostProgram = fileURLToPath(new URL("../embedded/support/EmbeddedHost.ts", import.meta.url))

AbuseSuite.suite("embedded", layer, {
  kind: { isolation: "wasm", realBash: false },
  bounds: { folders: [folder], memoryBytes: 4_608 * mebibyte, diskBytes: mebibyte, processes: 60 },
  own: [
    // Deno's process for Python, and the one for the shell.
    ...(process.platform === "linux"
      ? [
          killedHost({
            program: [hostProgram, cache],
            processes: 2,
            folder: cache,
            next: Layer.build(Layer.orDie(embedded({ cache })))
          })
        ]
      : []),
    failingStart(starts)
  ],
  absent: {
    ...(process.platform === "linux" ? {} : { 37: "there is no /proc here, which shows what outlives a host" }),
    51: "its sessions are processes of the host: there is no provider to fail"
  }
})
