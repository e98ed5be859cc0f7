/** The Linux tier under abuse. */
import * as AbuseSuite from "@castellan/testing/abuse/AbuseSuite"
import { failingStart, type FailingStart } from "@castellan/testing/abuse/cases/FailingStart"
import { killedHost } from "@castellan/testing/abuse/cases/KilledHost"
import type { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { afterAll, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as DefaultSandbox from "../../src/DefaultSandbox.ts"
import { tier } from "../../src/linux.ts"
import * as Host from "../../src/linux/internal/Host.ts"
import * as SelfTest from "../../src/linux/internal/SelfTest.ts"
import { LinuxUnavailable } from "../../src/linux/LinuxUnavailable.ts"
import * as DuckDbSqlExecutor from "../../src/sql/DuckDbSqlExecutor.ts"
import { type ChangedLine, startChanged } from "../support/ChangedForkServer.ts"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("the abuse of sandboxes on Linux")

const mebibyte = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), "castellan-linux-abuse-"))

// Whoever sandboxes run as has to come through.
chmodSync(folder, 0o755)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const layer: Layer.Layer<SandboxRuntime> = layerLinux({ folder }).pipe(Layer.provide(DuckDbSqlExecutor.layer()))

/** A fork-server of which a wall is missing, before the self-test of the tier. */
const without = (...lines: ReadonlyArray<ChangedLine>) =>
  Effect.gen(function* () {
    const { folder: own, names, server } = yield* startChanged(lines)
    const hidden = SelfTest.hiddenPaths(own, names)
    yield* SelfTest.run({ server, controlGroups: undefined, facts: yield* Host.facts, hidden })
  }).pipe(Effect.catch((error) => (error instanceof LinuxUnavailable ? Effect.fail(error) : Effect.die(error))))

const walls = "castellan_linux/walls.py"

const starts: ReadonlyArray<FailingStart> = [
  { what: "no bubblewrap", start: tier({ folder, bubblewrap: "/nowhere/bwrap" }), promise: "bubblewrap" },
  {
    what: "a bubblewrap that starts nothing",
    start: tier({ folder, bubblewrap: "/bin/false" }),
    promise: "bubblewrap"
  },
  { what: "no Python", start: tier({ folder, python: "/usr/bin/python-of-tomorrow" }), promise: "python" },
  { what: "the wrong user", start: tier({ folder, user: { uid: 0, gid: 0 } }), promise: "user" },
  { what: "no control group", start: tier({ folder, controlGroup: "/usr" }), promise: "control_groups" },
  { what: "no folder", start: tier({ folder: join(folder, "nowhere") }), promise: "platform" },
  {
    what: "a host that insists on it",
    start: Layer.build(
      DefaultSandbox.layer({ choice: "linux", linux: { folder, bubblewrap: "/nowhere/bwrap" }, embedded: {} })
    ),
    promise: "bubblewrap"
  },
  {
    what: "a network that is shared",
    start: without(
      { file: walls, line: "    | kernel.CLONE_NEWNET\n", becomes: "" },
      // What of the network only root of it may do.
      { file: walls, line: "    _raise_loopback()\n    _bound_connections()\n", becomes: "" }
    ),
    promise: "network"
  },
  {
    what: "no filter of system calls",
    start: without({ file: walls, line: "kernel.install_filter(system_calls)", becomes: "pass" }),
    promise: "privileges"
  },
  {
    what: "no limit of processes",
    start: without({ file: walls, line: "(resource.RLIMIT_NPROC, limits.processes),", becomes: "" }),
    promise: "processes"
  }
]

const hostProgram = fileURLToPath(new URL("../support/HostProgram.ts", import.meta.url))

describe.skipIf(missing !== undefined)("Linux", () => {
  AbuseSuite.suite("linux", layer, {
    kind: { isolation: "namespaces", realBash: true },
    // Two sessions of a gibibyte of memory and half of one of files, the process that they are forked from, and DuckDB's.
    bounds: { folders: [folder], memoryBytes: 4_608 * mebibyte, diskBytes: mebibyte, processes: 160 },
    own: [
      killedHost({
        program: [hostProgram, folder],
        // bubblewrap twice, the fork-server, the supervisor, the interpreter, and the program that was left.
        processes: 6,
        folder,
        next: Layer.build(layerLinux({ folder }))
      }),
      failingStart(starts)
    ],
    absent: { 51: "its sessions are processes of the host: there is no provider to fail" }
  })
})
