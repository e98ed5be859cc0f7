/**
 * Package sets end to end, with small wheels that are made here: fetched from a server on the loopback interface,
 * verified, and imported in a session. The real wheels of numpy and its like are not run: there is no network in tests.
 */
import { layer } from "@castellan/sandbox/embedded"
import { type PrefetchOptions, prefetch } from "@castellan/sandbox/embedded/PackagePrefetch"
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { patience } from "./support/Patience.ts"
import { all, opened, outcomeOf, textOf } from "./support/Sessions.ts"
import { wheelOf } from "./support/Wheels.ts"

const require = createRequire(import.meta.url)

const wheels = {
  "towers-1.0.0-py3-none-any.whl": wheelOf("towers", "1.0.0", {
    "towers/__init__.py": "import moats\nheight = 2 * moats.depth\n"
  }),
  "moats-2.1.0-py3-none-any.whl": wheelOf("moats", "2.1.0", { "moats/__init__.py": "depth = 21\n" })
}
const files = new Map<string, Uint8Array>(Object.entries(wheels))

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

const locked = (name: string, version: string, depends: ReadonlyArray<string>) => {
  const file_name = `${name}-${version}-py3-none-any.whl`
  const sha256 = hashOf(files.get(file_name) ?? new Uint8Array(0))
  const rest = { install_dir: "site", package_type: "package", imports: [name], unvendored_tests: false }
  return { ...rest, name, version, file_name, sha256, depends }
}

/** A folder that is gone afterwards, with a lock that names the wheels; the head of it is Pyodide's own. */
const workshop = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-wheels-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const lock = join(folder, "lock.json")
  yield* Effect.promise(async () => {
    const { info } = JSON.parse(await readFile(require.resolve("pyodide/pyodide-lock.json"), "utf8"))
    const packages = { towers: locked("towers", "1.0.0", ["moats"]), moats: locked("moats", "2.1.0", []) }
    await writeFile(lock, JSON.stringify({ info, packages }))
  })
  return { lock, folder: join(folder, "wheels") }
})

interface Served {
  readonly source: URL
  readonly requests: Array<string>
  /** What is served in the place of a file, once each. */
  readonly instead: Map<string, Uint8Array>
}

/** A server of the wheels. It answers ranges, and breaks off in the middle where it is told to. */
const served = Effect.acquireRelease(
  Effect.promise(async () => {
    const requests: Array<string> = []
    const instead = new Map<string, Uint8Array>()
    const server = createServer((request, response) => {
      const name = decodeURIComponent((request.url ?? "/").slice(1))
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? "0")
      requests.push(from > 0 ? `${name} from ${from}` : name)
      const other = instead.get(name)
      instead.delete(name)
      const content = other ?? files.get(name)
      if (content === undefined) return response.writeHead(404).end()
      if (from >= content.length && from > 0) return response.writeHead(416).end()
      return response.writeHead(from > 0 ? 206 : 200).end(content.subarray(from))
    })
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve)
    })
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { server, requests, instead, source: new URL(`http://127.0.0.1:${port}/`) }
  }),
  ({ server }) =>
    Effect.promise(
      () =>
        new Promise<void>((resolve) => {
          server.closeAllConnections()
          server.close(() => resolve())
        })
    )
)

const fetching = (place: { readonly lock: string; readonly folder: string }, { source }: Served): PrefetchOptions => ({
  ...place,
  source,
  packages: ["Towers"]
})

const moats = "moats-2.1.0-py3-none-any.whl"
const towers = "towers-1.0.0-py3-none-any.whl"

vi.setConfig({ testTimeout: patience })

describe("package sets", () => {
  it.effect(
    "are fetched with what they need, once, and imported in a session",
    () =>
      Effect.gen(function* () {
        const place = yield* workshop
        const server = yield* served
        const fetched = yield* prefetch(fetching(place, server))
        assert.deepStrictEqual(
          fetched.map(({ file, state }) => `${state} ${file}`),
          [`fetched ${moats}`, `fetched ${towers}`]
        )
        assert.deepStrictEqual((yield* Effect.promise(() => readdir(place.folder))).toSorted(), [moats, towers])
        const again = yield* prefetch(fetching(place, server))
        assert.deepStrictEqual(
          again.map(({ state }) => state),
          ["present", "present"]
        )
        assert.lengthOf(server.requests, 2)

        yield* Effect.gen(function* () {
          const { capabilities } = yield* SandboxRuntime
          assert.deepStrictEqual([...capabilities.packages].toSorted(), ["moats", "towers"])
          const session = yield* opened()
          const events = yield* all(session, "import towers; print(towers.height)")
          assert.strictEqual(textOf(events), "42\n")
          // The permission to read them is gone.
          const code = `from pyodide.code import run_js\nrun_js('Deno.readFileSync(${JSON.stringify(join(place.folder, moats))})')`
          assert.strictEqual(outcomeOf(yield* all(session, code)), "failed")
        }).pipe(Effect.scoped, Effect.provide(layer({ packages: place }), { local: true }))
      }).pipe(Effect.scoped),
    patience
  )

  it.effect("are taken up again where they were broken off", () =>
    Effect.gen(function* () {
      const place = yield* workshop
      const server = yield* served
      yield* prefetch({ ...fetching(place, server), packages: ["moats"] })
      const whole = yield* Effect.promise(() => readFile(join(place.folder, moats)))
      yield* Effect.promise(() => rm(join(place.folder, moats)))
      const part = join(place.folder, `${moats}.part`)
      yield* Effect.promise(() => writeFile(part, whole.subarray(0, 100)))
      yield* prefetch({ ...fetching(place, server), packages: ["moats"] })
      assert.deepStrictEqual(server.requests, [moats, `${moats} from 100`])
      // What was there of another version is fetched anew.
      yield* Effect.promise(() => rm(join(place.folder, moats)))
      yield* Effect.promise(() => writeFile(part, "another"))
      yield* prefetch({ ...fetching(place, server), packages: ["moats"] })
      assert.deepStrictEqual(server.requests.slice(2), [`${moats} from 7`, moats])
      assert.deepStrictEqual(yield* Effect.promise(() => readFile(join(place.folder, moats))), whole)
    }).pipe(Effect.scoped)
  )

  it.effect("are refused where they are not what the lock names", () =>
    Effect.gen(function* () {
      const place = yield* workshop
      const server = yield* served
      const forged = wheelOf("moats", "2.1.0", { "moats/__init__.py": "depth = 666\n" })
      files.set(moats, forged)
      const error = yield* Effect.flip(prefetch({ ...fetching(place, server), packages: ["moats"] })).pipe(
        Effect.ensuring(Effect.sync(() => files.set(moats, wheels[moats])))
      )
      assert.match(error.message, /is not the file that the lock names/)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(place.folder)), [])
      assert.match(
        (yield* Effect.flip(prefetch({ ...fetching(place, server), packages: ["dragons"] }))).message,
        /dragons/
      )

      yield* Effect.promise(() => writeFile(join(place.folder, moats), forged))
      const layers = [
        { ...place, names: ["moats"] },
        { ...place, names: ["towers"] },
        { ...place, names: ["dragons"] }
      ]
      for (const packages of layers) {
        const unavailable = yield* Effect.flip(Effect.scoped(Effect.provide(SandboxRuntime, layer({ packages }))))
        assert.strictEqual(unavailable.promise, "packages")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are fetched by a command", () =>
    Effect.gen(function* () {
      const place = yield* workshop
      const { source } = yield* served
      const program = require.resolve("@castellan/sandbox/embedded/prefetch")
      const run = (...given: ReadonlyArray<string>) =>
        Effect.promise(
          () =>
            new Promise<string>((resolve) => {
              execFile(process.execPath, [program, ...given], (error, stdout, stderr) =>
                resolve(`${error === null ? 0 : 1} ${stdout}${stderr}`)
              )
            })
        )
      const given = ["--folder", place.folder, "--lock", place.lock, "--source", source.href]
      assert.strictEqual(yield* run(...given, "towers"), `0 fetched ${moats}\nfetched ${towers}\n`)
      assert.match(yield* run(...given, "dragons"), /^1 Pyodide has no package dragons/)
      for (const wrong of [["--what"], ["--folder"], ["--folder", place.folder, "--source", "nowhere"]]) {
        const told = yield* run(...wrong)
        assert.match(told, /^1 [^]*\ncastellan-sandbox-prefetch --folder/)
        assert.notMatch(told, /\n\s+at /)
      }
      assert.match(yield* run(), /^1 castellan-sandbox-prefetch --folder/)
    }).pipe(Effect.scoped)
  )
})
