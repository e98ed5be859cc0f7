/** Programs that look for what is the host's: 17 to 19, 24, 39, 40. */
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { env } from "node:process"
import {
  type AbuseCase,
  alive,
  at,
  attempts,
  closed,
  daring,
  opened,
  realSystem,
  run,
  shell,
  webAssembly
} from "../Abuse.ts"
import { secret, secretVariable } from "../HostWatch.ts"

/**
 * A process of the host's that was started with the secret in its environment: what a process sets later, as this one
 * did, is not in what the system shows of it.
 */
const bearer = Effect.acquireRelease(
  Effect.sync(() => {
    const child = spawn("sleep", ["600"], { env: { PATH: env["PATH"], [secretVariable]: secret }, stdio: "ignore" })
    // A system without the command shows no environments either.
    return child.on("error", () => undefined)
  }),
  (child) => Effect.sync(() => child.kill("SIGKILL"))
)

/** Reads whatever there is at a place, and shows it. */
const show = (place: string) => `
import os
place = ${JSON.stringify(place)}
try:
    if os.path.isdir(place): print(os.listdir(place))
    else: print(open(place, "rb").read(100_000))
except OSError as error:
    print("closed", type(error).__name__)
`

const environments = `
import os, glob
print(dict(os.environ))
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + ["/proc/self/mountinfo", "/proc/mounts"]:
    try: print(path, open(path, "rb").read())
    except OSError as error: print(path, type(error).__name__)
`

const descriptors = `
import os
for name in os.listdir("/proc/self/fd"):
    try: print(name, os.readlink(f"/proc/self/fd/{name}"))
    except OSError: pass
`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 17,
    title: "the host's files are not there",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      for (const place of [
        host.secretPath,
        process.cwd(),
        homedir(),
        "/root",
        "/home",
        "/etc/shadow",
        `${homedir()}/.ssh`
      ]) {
        const { stdout } = yield* run(session, show(place))
        assert.match(stdout, /^(closed|\[\]|\['?(sandbox|web_user|pyodide|user)[^\]]*\]$)/mu, `${place}: ${stdout}`)
      }
      const users = yield* run(session, show("/etc/passwd"))
      assert.notMatch(users.stdout, /\/root:|postgres|systemd|\/home\/(?!pyodide|sandbox)/u, users.stdout)
      yield* shell(session, `cat ${host.secretPath} /etc/shadow; ls ${process.cwd()} ${homedir()}`)
    })
  },
  {
    number: 18,
    title: "no variable of the host's environment is there, in no process",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      assert.isDefined(env[secretVariable])
      yield* bearer
      const session = yield* opened
      const told = [yield* run(session, environments), yield* shell(session, "env; cat /proc/*/environ")]
      if (webAssembly(capabilities) === undefined) {
        for (const code of ["JSON.stringify(process.env)", "JSON.stringify(Deno.env.toObject())"]) {
          const program = `from pyodide.code import run_js\ntry: print(run_js(${JSON.stringify(code)}))\nexcept Exception as error: print("closed", error)`
          const outcome = yield* daring(session, program)
          if (!("lost" in outcome)) told.push(outcome)
        }
      }
      for (const { everything } of told) assert.notInclude(everything, secretVariable)
    })
  },
  {
    number: 19,
    title: "the host's name, paths and command lines are not there",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      const code = `import os, platform, socket\nprint(platform.node(), socket.gethostname())\nprint(os.getcwd())`
      const { stdout } = yield* run(session, code)
      if (host.hostname !== "localhost" && host.hostname !== "sandbox") {
        assert.notInclude(stdout.split(/\s+/u), host.hostname)
      }
      const { everything } = yield* run(session, environments)
      assert.notInclude(everything, process.cwd())
    })
  },
  {
    number: 24,
    title: "what a session hands out is never unpickled: an object that runs a program when it is, runs none",
    run: Effect.fnUntraced(function* (host) {
      const session = yield* opened
      const payload = `
import pickle, os
class Trap:
    def __reduce__(self):
        return (eval, ("open(${JSON.stringify(host.markerPath).replaceAll('"', "'")}, 'w').close()",))
    def __repr__(self): return "Trap()"
open("outputs/trap.pkl", "wb").write(pickle.dumps(Trap()))
try:
    import pandas
    frame = pandas.DataFrame({"trap": [Trap()]})
except ImportError:
    frame = None
Trap()
`
      yield* run(session, payload)
      yield* run(session, "frame")
      const bytes = yield* session.download(at("outputs/trap.pkl"))
      assert.isAbove(bytes.length, 0)
      yield* session.usage
      assert.isFalse(existsSync(host.markerPath))
    })
  },
  {
    number: 39,
    title: "no descriptor of the host's is open in a program",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      for (const within of ["session", "process"] as const) {
        const { stdout } = yield* run(session, descriptors, { within })
        const open = stdout.split("\n").filter((line) => line !== "")
        assert.isAtMost(open.length, 12, stdout)
        for (const line of open) {
          const target = line.slice(line.indexOf(" ") + 1)
          assert.match(
            target,
            /^(pipe:|socket:|anon_inode:|\/dev\/null|\/dev\/full|\/proc\/|\/sandbox\/|\/tmp\/|\/memfd)/u,
            line
          )
        }
        // Beyond a program's own three, no more than what leads to its supervisor.
        const leading = open.filter((line) => /socket:/u.test(line) && Number(line.split(" ")[0]) > 2)
        assert.isAtMost(leading.length, within === "session" ? 2 : 1, stdout)
      }
    })
  },
  {
    number: 40,
    title: "there is no terminal to type into",
    applies: realSystem,
    run: Effect.fnUntraced(function* () {
      const session = yield* opened
      yield* attempts(session, {
        TIOCSTI: 'import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b"x")',
        TIOCLINUX: 'import fcntl\nfcntl.ioctl(0, 0x541C, b"\\x02")',
        terminal: 'open("/dev/tty", "w").write("x")'
      })
      closed(
        yield* run(session, 'import sys\nfor one in (sys.stdin, sys.stdout):\n  if one and one.isatty(): print("OPEN")')
      )
      yield* alive(session)
    })
  }
]
