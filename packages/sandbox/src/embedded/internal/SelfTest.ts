/**
 * Tries, in a session's Python at the start of the host, everything that no session may do. What worked is the reason
 * why the tier does not start.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { EmbeddedUnavailable } from "../EmbeddedUnavailable.ts"
import type { ChildEnded } from "./ChildEnded.ts"
import type { DenoChild, Told } from "./DenoChild.ts"

/**
 * Ways out of Pyodide and of Deno, each by a name. One that throws, as it has to, was held; the names of the others are
 * answered. Nothing here needs a network: what is not permitted fails before it is tried. `readable` is the path of a file
 * that the process could read while it started.
 */
const attempts = (readable: string): string => `(async () => {
  const held = (error) => error !== undefined
  const node = (name) => process.getBuiltinModule(name)
  const granted = (name) => { if (Deno.permissions.requestSync({ name }).state !== "granted") throw new Error(name) }
  const notCapable = async (work) => {
    try { await work() } catch (error) {
      if (error.name === "NotCapable" || /NotCapable|requires|permission/i.test(String(error.message))) throw error
    }
  }
  const ways = {
    "read the environment": () => Deno.env.toObject(),
    "read the environment through Node": () => { if (Object.keys(process.env).length === 0) throw new Error("empty") },
    "read a folder": () => Deno.readDirSync("/"),
    "read a file": () => Deno.readTextFileSync("/etc/hosts"),
    "read through Node": () => node("node:fs").readdirSync("/"),
    "read its own files": () => Deno.readFileSync(${JSON.stringify(readable)}),
    "write a file": () => Deno.writeTextFileSync("/tmp/castellan-self-test", ""),
    "write through Node": () => node("node:fs").writeFileSync("/tmp/castellan-self-test", ""),
    "write through SQLite": () => new (node("node:sqlite").DatabaseSync)("/tmp/castellan-self-test"),
    "run a program": () => new Deno.Command("/bin/true").outputSync(),
    "run a program through Node": () => { const { error } = node("node:child_process").spawnSync("/bin/true"); if (error) throw error },
    "load a library": () => Deno.dlopen("libc.so.6", {}),
    "signal a process": () => Deno.kill(Deno.ppid, "SIGURG"),
    "ask for the host's name": () => Deno.hostname(),
    "listen": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
    "connect": () => notCapable(() => Deno.connect({ hostname: "127.0.0.1", port: 9 })),
    "connect through Node": () => notCapable(() => new Promise((resolve, reject) => {
      node("node:net").connect(9, "127.0.0.1").on("connect", resolve).on("error", reject)
    })),
    "fetch": () => notCapable(() => fetch("http://127.0.0.1:61234/")),
    "look a name up": () => notCapable(() => Deno.resolveDns("localhost", "A")),
    "reach a graphics processor": async () => { if (!await navigator.gpu?.requestAdapter()) throw new Error("there is none") },
    "store in a cache": () => caches.open("castellan"),
    "store locally": () => localStorage.setItem("castellan", "x"),
    "import a file": () => import("file:///etc/hosts.mjs").catch((error) => { if (!/not found/i.test(error.message)) throw error }),
    ...Object.fromEntries(
      ["read", "write", "net", "env", "run", "sys", "ffi"].map((name) => ["be given: " + name, () => granted(name)])
    )
  }
  const open = []
  for (const [name, way] of Object.entries(ways)) {
    let error
    try { await way() } catch (caught) { error = caught ?? new Error("thrown") }
    if (!held(error)) open.push(name)
  }
  return JSON.stringify(open)
})()`

const program = (readable: string): string => `from pyodide.code import run_js
print(await run_js(${JSON.stringify(attempts(readable))}))
`

const Open = Schema.fromJsonString(Schema.Array(Schema.String))
const readOpen = Schema.decodeUnknownEffect(Open)

/**
 * Runs the self-test in an interpreter, which is of no use afterwards. `readable` is a file that it was made of.
 */
export const run: (child: DenoChild, readable: string) => Effect.Effect<void, ChildEnded | EmbeddedUnavailable> =
  Effect.fnUntraced(function* (child, readable) {
    const nonce = randomBytes(16).toString("hex")
    const said: Array<string> = []
    const take = ({ head, payload }: Told) =>
      Effect.sync(() => {
        if (head.event === "output" || head.event === "error") {
          said.push(head.event === "error" ? `${head.name}: ${head.message}` : new TextDecoder().decode(payload))
        }
        return head.event === "finished" ? ("last" as const) : ("more" as const)
      })
    const order = { op: "execute", id: 1, nonce, within: "session", environment: {}, outputBytes: 65_536 } as const
    yield* child.ask(order, new TextEncoder().encode(program(readable)), { id: 1, nonce, take })
    const open = yield* readOpen(said.join("")).pipe(
      Effect.mapError(
        () =>
          new EmbeddedUnavailable({
            promise: "interpreter",
            message: `the self-test did not run: ${said.join("").slice(0, 500)}`,
            remedy: "install the package @castellan/sandbox anew with its dependencies"
          })
      )
    )
    if (open.length > 0) {
      return yield* new EmbeddedUnavailable({
        promise: "permissions",
        message: `a session could: ${open.join(", ")}`,
        remedy: "use the version of Deno that this package names; if it is that one, report this as a vulnerability"
      })
    }
  })
