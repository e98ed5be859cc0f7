/**
 * The self-test sees each wall that is missing: a fork-server is started from programs of which one line was changed,
 * and the promise that the line kept is told as broken.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Host from "../../src/linux/internal/Host.ts"
import * as SelfTest from "../../src/linux/internal/SelfTest.ts"
import { type Instruction, verdicts } from "../../src/linux/internal/SystemCallFilter.ts"
import { families } from "../../src/linux/internal/SystemCalls.ts"
import { type ChangedLine, startChanged } from "../support/ChangedForkServer.ts"
import { missing, sayWhatIsSkipped } from "../support/Linux.ts"

/** A line of the programs, what it becomes, and the promise that it kept. */
interface Change {
  readonly what: string
  readonly file: string
  readonly line: string
  readonly becomes: string
  /** Another line of the same file. */
  readonly also?: { readonly line: string; readonly becomes: string }
  readonly promise: string
  readonly memoryPatience?: number
}

const walls = "castellan_linux/walls.py"
const zygote = "castellan_zygote.py"

const changes: ReadonlyArray<Change> = [
  {
    what: "a network that is shared",
    file: walls,
    line: "    | kernel.CLONE_NEWNET\n",
    becomes: "",
    also: { line: "    _raise_loopback()\n    _bound_connections()\n", becomes: "" },
    promise: "network"
  },
  {
    what: "control groups that are in sight",
    file: walls,
    line: "    kernel.unshare(kernel.CLONE_NEWCGROUP)\n",
    becomes: "",
    promise: "namespaces"
  },
  {
    what: "the names of the host",
    file: walls,
    line: "    | kernel.CLONE_NEWUTS\n",
    becomes: "",
    also: { line: '    socket.sethostname("sandbox")\n', becomes: "" },
    promise: "namespaces"
  },
  {
    what: "queues and memory that are shared",
    file: walls,
    line: "    | kernel.CLONE_NEWIPC\n",
    becomes: "",
    promise: "namespaces"
  },
  {
    what: "connections whose buffers grow",
    file: walls,
    line: '    for name in ("tcp_rmem", "tcp_wmem"):',
    becomes: "    for name in ():",
    promise: "sockets"
  },
  {
    what: "no limit of processes",
    file: walls,
    line: "(resource.RLIMIT_NPROC, limits.processes),",
    becomes: "",
    promise: "processes"
  },
  {
    what: "no limit of a file's size",
    file: walls,
    line: "(resource.RLIMIT_FSIZE, limits.file_size),",
    becomes: "",
    promise: "file_size"
  },
  {
    what: "no limit of address space",
    file: walls,
    line: "(resource.RLIMIT_AS, limits.address_space),",
    becomes: "",
    promise: "memory"
  },
  {
    what: "no limit of open files",
    file: walls,
    line: "(resource.RLIMIT_NOFILE, limits.open_files),",
    becomes: "",
    promise: "descriptors"
  },
  {
    what: "disks without a quota",
    file: walls,
    line: 'f"size={size},nr_inodes',
    becomes: 'f"nr_inodes',
    promise: "disk"
  },
  {
    what: "disks without a number of entries",
    file: walls,
    line: ",nr_inodes={entries}",
    becomes: "",
    promise: "disk"
  },
  {
    what: "capabilities",
    file: walls,
    line: "kernel.drop_capabilities(_LAST_CAPABILITY)",
    becomes: "pass",
    promise: "privileges"
  },
  {
    what: "no filter of system calls",
    file: walls,
    line: "kernel.install_filter(system_calls)",
    becomes: "pass",
    promise: "privileges"
  },
  {
    what: "a root that can be written",
    file: walls,
    line: "kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY",
    becomes: "kernel.MS_REMOUNT | kernel.MS_BIND",
    promise: "files"
  },
  {
    what: "the root of the fork-server above its own",
    file: walls,
    line: '    kernel.unmount(".", kernel.MNT_DETACH)\n',
    becomes: "",
    promise: "files"
  },
  { what: "the folder of the socket", file: walls, line: '"listen", "run"', becomes: '"run"', promise: "files" },
  { what: "the kernel's settings", file: walls, line: '"subset=pid"', becomes: '""', promise: "files" },
  {
    what: "processes' settings that can be written",
    file: walls,
    line: "kernel.MS_NOEXEC | kernel.MS_RDONLY",
    becomes: "kernel.MS_NOEXEC",
    promise: "files"
  },
  {
    what: "the first process's memory",
    file: walls,
    line: "kernel.prctl(kernel.PR_SET_DUMPABLE, 0)",
    becomes: "pass",
    promise: "supervisor"
  },
  {
    what: "a variable of the fork-server's",
    file: zygote,
    line: "            walls.enter(",
    becomes: '            os.environ["LEFT"] = "1"\n            walls.enter(',
    promise: "environment"
  },
  {
    what: "descriptors of the fork-server's",
    file: zygote,
    line: "os.closerange(channel + 1, 1 << 20)",
    becomes: "os.closerange(channel + 1, 1 << 20)\n            os.dup2(0, 9)",
    promise: "descriptors"
  },
  {
    what: "no watch of memory",
    file: zygote,
    line: "            self._watch()\n",
    becomes: "",
    promise: "memory",
    memoryPatience: 3000
  }
]

const linesOf = ({ also, becomes, file, line }: Change): ReadonlyArray<ChangedLine> => [
  { file, line, becomes },
  ...(also === undefined ? [] : [{ file, ...also }])
]

/** What the self-test says of a fork-server whose programs and filter are these. */
const verdict = (
  change: Change | undefined,
  filter: (program: ReadonlyArray<Instruction>) => ReadonlyArray<Instruction>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const facts = yield* Host.facts
      const { folder, names, server } = yield* startChanged(change === undefined ? [] : linesOf(change), filter)
      const hidden = SelfTest.hiddenPaths(folder, names)
      const patience = change?.memoryPatience === undefined ? {} : { memoryPatience: change.memoryPatience }
      return yield* Effect.result(SelfTest.run({ server, controlGroups: undefined, facts, hidden, ...patience }))
    })
  )

sayWhatIsSkipped("whether the self-test of sandboxes on Linux sees missing walls")

/** Milliseconds that only what hangs takes. */
const patience = 240_000

describe.skipIf(missing !== undefined)("the self-test", { timeout: patience }, () => {
  it.live("passes where every wall is there", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* verdict(undefined, (program) => program))._tag, "Success")
    })
  )

  it.live("looks for the host's home, and not for one that has the name of what a session has itself", () =>
    Effect.gen(function* () {
      const { env } = process
      const before = env["HOME"]
      const hiddenWith = (home: string) => {
        env["HOME"] = home
        return SelfTest.hiddenPaths("/var/tmp/private", ["usr", "etc"])
      }
      yield* Effect.sync(() => {
        assert.include(hiddenWith("/home/castellan"), "/home/castellan")
        assert.include(hiddenWith("/tmp/home"), "/tmp/home")
        for (const home of ["/tmp", "/tmp/", "/", "/dev/shm", "/usr/share/castellan"]) {
          assert.notInclude(hiddenWith(home), home)
          assert.notInclude(hiddenWith(home), "/tmp")
        }
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (before === undefined) delete env["HOME"]
            else env["HOME"] = before
          })
        )
      )
    })
  )

  it.live("passes on a kernel without the Internet's sixth version", () =>
    Effect.gen(function* () {
      const without = (program: ReadonlyArray<Instruction>) =>
        program.map((one) => (one.constant === families.AF_INET6 ? { ...one, constant: 0xff_ff } : one))
      assert.strictEqual((yield* verdict(undefined, without))._tag, "Success")
    })
  )

  it.live("waits for what is slow, and ends no fork-server for it", () =>
    Effect.gen(function* () {
      const slow = {
        what: "memory that takes its time",
        file: "castellan_linux/probe.py",
        line: "            held = bytearray(size)\n",
        becomes: "            import time\n            time.sleep(12)\n            held = bytearray(size)\n",
        promise: "memory"
      }
      assert.strictEqual((yield* verdict(slow, (program) => program))._tag, "Success")
    })
  )

  for (const change of changes) {
    it.live(`sees ${change.what}: ${change.promise}`, () =>
      Effect.gen(function* () {
        const said = yield* verdict(change, (program) => program)
        if (said._tag === "Success") assert.fail("it passed")
        assert.strictEqual(said.failure.promise, change.promise, said.failure.message)
      })
    )
  }

  const without = (verdictToo: number) => (program: ReadonlyArray<Instruction>) =>
    program.map((one) =>
      one.code === 0x06 && one.constant === verdictToo ? { ...one, constant: verdicts.allow } : one
    )

  it.live("sees a filter that permits what is refused, or any family of sockets", () =>
    Effect.gen(function* () {
      for (const [allowed, promise] of [
        [verdicts.notPermitted, "system_calls"],
        [verdicts.notImplemented, "system_calls"],
        [verdicts.familyNotSupported, "sockets"],
        [verdicts.pretended, "sockets"]
      ] as const) {
        const said = yield* verdict(undefined, without(allowed))
        if (said._tag === "Success") assert.fail("it passed")
        assert.strictEqual(said.failure.promise, promise, said.failure.message)
      }
    })
  )
})
