/** Limits of a session that are reached: what happens to it, what is said, and that nobody else is concerned. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { type ExecEvent, SandboxRuntime, type SandboxSession } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import { defaultLimits } from "../../src/linux/LinuxLimits.ts"
import { layerLinux, missing, sayWhatIsSkipped } from "../support/Linux.ts"

sayWhatIsSkipped("whether the limits of sandboxes on Linux hold")

const mebibyte = 1024 * 1024

const limits = {
  memory: 256 * mebibyte,
  addressSpace: 512 * mebibyte,
  cpu: Duration.seconds(2),
  disk: { ...defaultLimits.disk, files: 16 * mebibyte, entries: 500 }
}

const open = (id: string) =>
  SandboxRuntime.use((runtime) =>
    runtime.open({
      id: SandcastleId.make(id),
      organizationId: OrganizationId.make("018f0000-0000-7000-8000-000000000001"),
      library: []
    })
  )

const run = (session: SandboxSession, code: string) =>
  Stream.runCollect(session.exec({ language: "python", code, within: "session", timeout: Duration.minutes(2) }))

const said = (events: ReadonlyArray<ExecEvent>): string =>
  events.map((event) => (event._tag === "Stdout" ? event.text : "")).join("")

const errorOf = (events: ReadonlyArray<ExecEvent>) => events.find((event) => event._tag === "Error")

const outOfMemory = "the sandbox held more memory than it may, and was ended"

describe.skipIf(missing !== undefined)("limits", () => {
  it.layer(layerLinux({ limits }), { timeout: "240 seconds", excludeTestServices: true })("of a session", (it) => {
    it.effect(
      "memory of several processes together ends the session, and its neighbour stays",
      () =>
        Effect.gen(function* () {
          const [greedy, modest] = [yield* open("greedy"), yield* open("modest")]
          yield* run(modest, "x = 41")
          const code = [
            "import ctypes, os, signal",
            "for _ in range(16):",
            "    if os.fork() == 0:",
            // PR_SET_DUMPABLE: whoever counts memory may not look at this process's pages.
            "        ctypes.CDLL(None).prctl(4, 0)",
            "        held = bytearray(40_000_000)",
            "        for at in range(0, len(held), 4096): held[at] = 1",
            "        signal.pause()",
            "signal.pause()"
          ].join("\n")
          const error = yield* Effect.flip(run(greedy, code))
          assert.deepInclude(error, { reason: "lost", message: outOfMemory })
          assert.deepInclude(yield* Effect.flip(greedy.usage), { reason: "lost", message: outOfMemory })
          assert.strictEqual(said(yield* run(modest, "print(x + 1)")), "42\n")
        }),
      240_000
    )

    it.effect(
      "memory that a process has let go of, and keeps all the same, ends the session as well",
      () =>
        Effect.gen(function* () {
          const session = yield* open("hider")
          const code = [
            "import mmap, os, signal",
            "step = 1 << 20",
            "for _ in range(4):",
            "    if os.fork() == 0:",
            "        held = mmap.mmap(-1, 100 * step)",
            "        for at in range(0, len(held), step):",
            "            held[at : at + step] = b'x' * step",
            "            held.madvise(mmap.MADV_DONTNEED, at, step)",
            "        assert held[0] == held[-1] == ord('x')",
            "        signal.pause()",
            "signal.pause()"
          ].join("\n")
          assert.deepInclude(yield* Effect.flip(run(session, code)), { reason: "lost", message: outOfMemory })
        }),
      240_000
    )

    it.effect(
      "memory that the kernel keeps for a process, which maps its own in the smallest pieces, ends the session as well",
      () =>
        Effect.gen(function* () {
          const session = yield* open("mapper")
          const code = [
            "import ctypes, os, signal",
            "libc = ctypes.CDLL(None, use_errno=True)",
            "libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 4",
            "libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]",
            "count, page = 50_000, 4096",
            "at = libc.mmap(None, count * page, 0, 0x22, -1, 0)",
            // Neighbours that may be read and may not are a mapping each.
            "assert all(libc.mprotect(at + n * page, page, 1) == 0 for n in range(0, count, 2))",
            "for _ in range(8):",
            "    if os.fork() == 0: signal.pause()",
            "signal.pause()"
          ].join("\n")
          assert.deepInclude(yield* Effect.flip(run(session, code)), { reason: "lost", message: outOfMemory })
        }),
      240_000
    )

    it.effect(
      "memory that the kernel keeps for sockets, which no process has, ends the session as well",
      () =>
        Effect.gen(function* () {
          const modest = yield* open("talker")
          const few = [
            "import socket",
            "one, other = socket.socketpair()",
            "one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)",
            "one.sendall(b'x' * 100_000)",
            "listener = socket.create_server(('127.0.0.1', 0))",
            "held = [socket.create_connection(listener.getsockname()) for _ in range(50)]",
            "print(len(other.recv(1 << 20)), one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < 1 << 22)"
          ].join("\n")
          assert.strictEqual(said(yield* run(modest, few)), "100000 True\n")
          const session = yield* open("flooder")
          const code = [
            "import os, signal, socket",
            "for _ in range(16):",
            "    if os.fork() == 0:",
            "        held = []",
            "        try:",
            "            while True:",
            "                held.append(socket.socketpair())",
            "                held[-1][0].setblocking(False)",
            "                try:",
            "                    while True: held[-1][0].send(b'x' * 65536)",
            "                except BlockingIOError: pass",
            "        except OSError: pass",
            "        signal.pause()",
            "signal.pause()"
          ].join("\n")
          assert.deepInclude(yield* Effect.flip(run(session, code)), { reason: "lost", message: outOfMemory })
        }),
      240_000
    )

    it.effect(
      "memory of one process is refused to it, and the session goes on; what it holds is told",
      () =>
        Effect.gen(function* () {
          const session = yield* open("one")
          const refused = yield* run(session, "x = bytearray(600_000_000)")
          assert.deepInclude(errorOf(refused), { name: "MemoryError" })
          const before = (yield* session.usage).memoryBytes ?? 0
          yield* run(session, "x = bytearray(100_000_000)\nfor at in range(0, len(x), 4096): x[at] = 1")
          const after = (yield* session.usage).memoryBytes ?? 0
          assert.isAbove(after - before, 80_000_000)
          assert.isBelow(after - before, 200_000_000)
        }),
      240_000
    )

    it.effect(
      "a disk that is full says so, and has room again",
      () =>
        Effect.gen(function* () {
          const session = yield* open("disk")
          const full = yield* run(session, 'open("outputs/big", "wb").write(bytes(20_000_000))')
          assert.deepInclude(errorOf(full), { name: "OSError" })
          assert.include(errorOf(full)?.message, "No space left on device")
          const many = yield* run(session, 'for n in range(1000): open(f"outputs/{n}", "w").close()')
          assert.include(errorOf(many)?.message, "No space left on device")
          const code = "import shutil; shutil.rmtree('outputs'); print(open('uploads/small', 'w').write('small'))"
          assert.strictEqual(said(yield* run(session, code)), "5\n")
        }),
      240_000
    )

    it.effect(
      "processor time of a process is over: it is killed, and the session has another",
      () =>
        Effect.gen(function* () {
          const session = yield* open("cpu")
          const code = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
          const events = yield* run(session, code)
          assert.deepInclude(
            events.find((event) => event._tag === "KernelRestarted"),
            { stateLost: true }
          )
          assert.strictEqual(said(yield* run(session, "print(2)")), "2\n")
        }),
      240_000
    )

    it.effect(
      "two sessions draw different numbers",
      () =>
        Effect.gen(function* () {
          const code = [
            "import random, uuid",
            "print(random.random(), uuid.uuid4())",
            "try:",
            "    import numpy; print(numpy.random.random())",
            "except ImportError: pass"
          ].join("\n")
          const [one, two] = [said(yield* run(yield* open("a"), code)), said(yield* run(yield* open("b"), code))]
          const numbers = [one, two].flatMap((text) => text.trim().split(/\s+/))
          assert.strictEqual(new Set(numbers).size, numbers.length, numbers.join(" "))
        }),
      240_000
    )
  })
})
