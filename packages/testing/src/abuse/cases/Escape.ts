/** Programs that try to get out, or to get at others' processes: 23, 25 to 32. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import {
  type AbuseCase,
  alive,
  attempts,
  closed,
  daring,
  eachSurvives,
  numbered,
  opened,
  realSystem,
  run,
  shell,
  survives,
  webAssembly
} from "../Abuse.ts"

const script = (code: string) =>
  `from pyodide.code import run_js\ntry: print(run_js(${JSON.stringify(code)}))\nexcept Exception as error: print("closed", error)`

/** Numbers of system calls, by architecture; a program takes those of the machine that it runs on. */
const call = (x64: number, arm64: number, ...given: ReadonlyArray<string>) =>
  [
    "import ctypes, os, platform",
    "libc = ctypes.CDLL(None, use_errno=True)",
    `number = ${x64} if platform.machine() == "x86_64" else ${arm64}`,
    `if libc.syscall(number, ${given.join(", ") || "0"}) < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))`
  ].join("\n")

const libc = (expression: string) =>
  [
    "import ctypes, os",
    "libc = ctypes.CDLL(None, use_errno=True)",
    `if libc.${expression} != 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))`
  ].join("\n")

const writable = (path: string) => `open(${JSON.stringify(path)}, "r+b", buffering=0)`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 23,
    title: "commands run inside, or not at all",
    run: Effect.fnUntraced(function* (host) {
      const marker = JSON.stringify(host.markerPath)
      const commands = [
        `import os\nos.system("touch " + ${marker})`,
        `import subprocess\nsubprocess.run(["touch", ${marker}])`,
        `import os\nos.popen("touch " + ${marker}).read()`,
        `import pickle, os\nclass Trap:\n  def __reduce__(self): return (os.system, ("touch " + ${marker},))\npickle.loads(pickle.dumps(Trap()))`,
        `import os\nos.execv("/bin/sh", ["sh", "-c", "touch " + ${marker}])`
      ]
      yield* eachSurvives(numbered(commands), (_session, _outcome, code) =>
        Effect.sync(() => assert.isFalse(existsSync(host.markerPath), code))
      )
    })
  },
  {
    number: 25,
    title: "JavaScript beside the interpreter reaches nothing of the host",
    applies: webAssembly,
    run: Effect.fnUntraced(function* (host) {
      let session = yield* opened
      const secretPath = JSON.stringify(host.secretPath)
      const marker = JSON.stringify(host.markerPath)
      const reading = `process.getBuiltinModule("fs").readFileSync(${secretPath}, "utf8")`
      for (const program of [
        script(reading),
        script(`Deno.readTextFileSync(${secretPath})`),
        script(`Deno.writeTextFileSync(${marker}, "x")`),
        script(`new Deno.Command("touch", { args: [${marker}] }).outputSync()`),
        script(`Deno.dlopen("libc.so.6", {})`),
        script(`process.getBuiltinModule("child_process").execFileSync("touch", [${marker}])`),
        `from pyodide.ffi import to_js\nprint(to_js([1]).constructor.constructor(${JSON.stringify(`return ${reading}`)})())`,
        `import ctypes\nf = ctypes.CDLL(None).emscripten_run_script_string\nf.restype = ctypes.c_char_p\nf.argtypes = [ctypes.c_char_p]\nprint(f(${JSON.stringify(reading)}.encode()))`,
        `import pyodide_js\npyodide_js.mountNodeFS("/mnt", "/")\nimport os\nprint(os.listdir("/mnt"), open("/mnt" + ${secretPath}).read())`,
        `import js\nprint(js.process.env)`
      ]) {
        const outcome = yield* daring(session, program)
        if ("lost" in outcome) session = yield* opened
        assert.isFalse(existsSync(host.markerPath), program)
      }
      session = yield* survives(session)
      // Drivers are the host's own: they compile what they are given, and keep it on its disk.
      const graphics = yield* run(
        session,
        'from pyodide.code import run_js\nadapter = await run_js("navigator.gpu?.requestAdapter()")\nprint("OPEN" if adapter else "closed", "graphics")'
      )
      assert.strictEqual(graphics.stdout, "closed graphics\n", graphics.everything)
      yield* survives(session)
    })
  },
  {
    number: 26,
    title: "permissions that were given up cannot be asked for again, nor had by another worker or module",
    applies: webAssembly,
    run: Effect.fnUntraced(function* (host) {
      let session = yield* opened
      for (const name of ["read", "write", "net", "env", "run", "ffi", "sys", "import"]) {
        for (const verb of ["querySync", "requestSync"]) {
          const outcome = yield* daring(
            session,
            script(`"state " + Deno.permissions.${verb}({ name: "${name}" }).state`)
          )
          if ("lost" in outcome) session = yield* opened
          else assert.notInclude(outcome.stdout, "state granted", `${verb} ${name}`)
        }
      }
      for (const code of [
        `const worker = new Worker("data:application/javascript,Deno.readTextFileSync(${JSON.stringify(host.secretPath).replaceAll('"', "'")})", { type: "module", deno: { permissions: "inherit" } }); "started"`,
        `new Worker("data:application/javascript,0", { type: "module", deno: { permissions: { read: true } } }); "OPEN a worker with more"`,
        `import("file://${host.secretPath}").then(() => undefined, () => undefined); "started"`,
        `import("npm:is-number").then(() => undefined, () => undefined); "started"`
      ]) {
        const outcome = yield* daring(session, script(code))
        closed(outcome)
        if ("lost" in outcome) session = yield* opened
      }
      yield* survives(session)
    })
  },
  {
    number: 27,
    title: "no database opens or makes a file of the host's",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      const folder = join(host.markerPath, "..")
      const path = JSON.stringify(join(folder, "made.db"))
      for (const code of [
        `import sqlite3\nsqlite3.connect(${path}).execute("create table t (n)")`,
        `import sqlite3\none = sqlite3.connect(":memory:")\none.execute("attach ? as other", (${path},))\none.execute("create table other.t (n)")`,
        `import sqlite3\nsqlite3.connect(":memory:").execute("vacuum into ?", (${path},))`,
        `from pyodide.code import run_js\nrun_js(${JSON.stringify(`new (process.getBuiltinModule("node:sqlite").DatabaseSync)(${path}).exec("create table t (n)")`)})`
      ]) {
        yield* daring(session, code)
      }
      assert.isFalse(existsSync(join(folder, "made.db")))
      yield* survives(session)
    })
  },
  {
    number: 28,
    title: "signals reach no process but the session's own",
    run: Effect.fnUntraced(function* () {
      const other = yield* opened
      const signals = [
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nos.kill(1, 9)",
        "import os\nos.kill(-1, 9)",
        `import os, signal\nfor one in (${process.pid}, ${process.ppid}): os.kill(one, signal.SIGSTOP)`,
        "import os\nos.killpg(0, 9)"
      ]
      yield* eachSurvives(numbered(signals), () => Effect.void)
      yield* alive(other)
    })
  },
  {
    number: 29,
    title: "no other process's memory or files can be had",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* attempts(yield* opened, {
        ptrace: libc("ptrace(16, os.getppid(), 0, 0)"),
        process_vm_readv: call(310, 270, "os.getppid()", "0", "0", "0", "0", "0"),
        process_vm_writev: call(311, 271, "os.getppid()", "0", "0", "0", "0", "0"),
        pidfd_getfd: call(438, 438, "3", "0", "0"),
        "the memory of process 1": 'open("/proc/1/mem", "rb")',
        "the files of process 1": 'import os\nos.listdir("/proc/1/root")\nos.listdir("/proc/1/root/root")'
      })
      yield* alive(session)
    })
  },
  {
    number: 30,
    title: "no namespace, mount, root or device can be made, and nobody becomes another user",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* attempts(yield* opened, {
        "a user namespace": libc("unshare(0x10000000)"),
        "a mount namespace": libc("unshare(0x00020000)"),
        "a mount": libc('mount(b"none", b"/tmp", b"tmpfs", 0, 0)'),
        chroot: 'import os\nos.chroot("/tmp")',
        "a device": "import os\nos.mknod('/tmp/device', 0o20666, os.makedev(1, 1))\nopen('/tmp/device', 'rb').read(1)",
        setuid: "import os\nos.setuid(0)",
        setgroups: "import os\nos.setgroups([0])",
        "a clone with namespaces": call(56, 220, "0x10000000 | 17", "0", "0", "0", "0"),
        setns: libc("setns(0, 0)"),
        su: 'import subprocess\nassert subprocess.run(["su", "-c", "true"], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0',
        "a higher priority": "import os\nos.nice(-5)"
      })
      yield* alive(session)
    })
  },
  {
    number: 31,
    title: "the kernel's wider interfaces are closed",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* attempts(yield* opened, {
        io_uring: call(425, 425, "8", "ctypes.byref(ctypes.create_string_buffer(256))"),
        bpf: call(321, 280, "0", "ctypes.byref(ctypes.create_string_buffer(256))", "128"),
        userfaultfd: call(323, 282, "0"),
        keyctl: call(250, 219, "0", "-3", "1"),
        add_key: call(248, 217, 'b"user"', 'b"a"', 'b"b"', "1", "-3"),
        perf_event_open: call(298, 241, "ctypes.byref(ctypes.create_string_buffer(256))", "0", "-1", "-1", "0"),
        open_by_handle_at: call(304, 265, "0", "0", "0"),
        // What the kernel counts for all sessions of a user together.
        inotify: call(294, 26, "0"),
        epoll: "import select\nselect.epoll()",
        "a queue of messages": call(240, 180, 'b"castellan"', "0o102", "0o600", "0"),
        kexec_load: call(246, 104, "0", "0", "0", "0"),
        reboot: call(169, 142, "0", "0", "0", "0")
      })
      yield* alive(session)
      // Those who wait do so without.
      const waiting = yield* run(
        session,
        "import asyncio\nchild = await asyncio.create_subprocess_exec('echo', 'heard', stdout=asyncio.subprocess.PIPE)\nprint((await child.communicate())[0].decode().strip())"
      )
      assert.strictEqual(waiting.stdout, "heard\n", waiting.everything)
    })
  },
  {
    number: 32,
    title: "nothing of the kernel's settings can be opened to write",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* attempts(yield* opened, {
        core_pattern: writable("/proc/sys/kernel/core_pattern"),
        "sysrq-trigger": writable("/proc/sysrq-trigger"),
        modprobe: writable("/proc/sys/kernel/modprobe"),
        sysfs: writable("/sys/kernel/uevent_helper"),
        cgroups: 'import os\nos.mkdir("/sys/fs/cgroup/castellan")',
        "the OOM killer's order": 'open("/proc/self/oom_score_adj", "wb", buffering=0).write(b"-1000")',
        "the kernel's log": 'open("/dev/kmsg", "rb").read(1)',
        "the machine's memory": 'open("/dev/mem", "rb").read(1)',
        KVM: writable("/dev/kvm")
      })
      closed(yield* shell(session, "echo x > /proc/sys/kernel/hostname && echo OPEN"))
      yield* alive(session)
    })
  }
]
