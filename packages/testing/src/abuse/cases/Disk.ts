/** Programs that fill a disk, with bytes or with names: 12 to 14. */
import { SandboxRuntime } from "@castellan/core/sandcastle/SandboxRuntime"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AbuseCase, closed, daring, library, opened, survives, webAssembly } from "../Abuse.ts"

const places = [
  "/",
  "/dev",
  "/dev/shm",
  "/etc",
  "/home",
  "/run",
  "/sandbox",
  "/sandbox/home",
  "/sandbox/files",
  "/sandbox/files/library",
  "/sandbox/files/outputs",
  "/sandbox/files/uploads",
  "/tmp",
  "/usr",
  "/var/tmp"
]

/** Those of an interpreter that is compiled to WebAssembly: all of it is one file system, whose quota is one. */
const placesInMemory = ["/", "/dev", "/sandbox/files/library", "/tmp"]

/** Writes up to 4 GiB to one place. */
const fill = (place: string) => `
import os
path = os.path.join(${JSON.stringify(place)}, "filler")
written = 0
block = b"x" * (4 << 20)
try:
    with open(path, "wb", buffering=0) as file:
        while written < (4 << 30):
            done = file.write(block)
            if not done: break
            written += done
    if written >= (4 << 30): print("OPEN", path, written)
except (OSError, MemoryError) as error:
    print("bounded", path, written, type(error).__name__)
finally:
    try: os.remove(path)
    except OSError: pass
`

/** The same beyond the limit of one file: as many as it takes. */
const fillByMany = `
import os
written = 0
block = b"x" * (4 << 20)
made = []
try:
    while written < (4 << 30):
        made.append(f"/sandbox/files/outputs/filler-{len(made)}")
        with open(made[-1], "wb", buffering=0) as file:
            for _ in range(8): written += file.write(block)
    print("OPEN", written)
except (OSError, MemoryError) as error:
    print("bounded", written, type(error).__name__)
finally:
    for path in made:
        try: os.remove(path)
        except OSError: pass
`

const names = (folder: string, many: number) => `
import os
made = 0
try:
    for made in range(${many}): open(f"${folder}/{made}.txt", "w").close()
    print("made", made)
except (OSError, MemoryError) as error:
    print("bounded", made, type(error).__name__)
`

/** Each folder is in the one before: WebAssembly's file system walks all of them for each, in time that is squared. */
const deep = (depth: number) => `
import os
os.chdir("/sandbox/files/library")
depth = 0
try:
    for depth in range(${depth}):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
except (OSError, MemoryError) as error:
    print("bounded", depth, type(error).__name__)
finally:
    os.chdir("/sandbox/files")
`

/** A table that SQLite keeps in a temporary file of the host's: of 64 MiB, or where there is no such file of none. */
const spilling = `(() => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  const database = new DatabaseSync(":memory:")
  database.exec("pragma temp_store = 1; create temp table spilled (x); pragma temp.cache_size = 8")
  database.exec("with recursive s (i) as (select 1 union all select i + 1 from s where i < 64) insert into spilled select randomblob(1048576) from s")
  return "OPEN a temporary file"
})()`

/** The cases. */
export const cases: ReadonlyArray<AbuseCase> = [
  {
    number: 12,
    title: "every place that can be written has its quota",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      let session = yield* opened
      const tried = webAssembly(capabilities) === undefined ? placesInMemory : places
      for (const code of [...tried.map(fill), fillByMany]) {
        const outcome = yield* daring(session, code)
        closed(outcome)
        if ("lost" in outcome) session = yield* opened
      }
      yield* survives(session)
    })
  },
  {
    number: 13,
    title: "the storage of JavaScript's own keeps nothing",
    applies: webAssembly,
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      let session = yield* opened
      for (const code of [
        ...(capabilities.limits.disk === "none" ? [] : [spilling]),
        "localStorage.setItem('a', 'x'.repeat(1 << 20)); 'OPEN localStorage'",
        "sessionStorage.setItem('a', 'x'.repeat(1 << 20)); 'no harm'",
        "caches.open('a').then(async (cache) => { for (let i = 0; i < 64; i += 1) await cache.put('http://a/' + i, new Response(new Uint8Array(1 << 20))) }, () => undefined); 'started'",
        "indexedDB.open('a'); 'no harm'",
        "Deno.openKv().then((store) => store.set(['a'], 'x')); 'started'"
      ]) {
        const program = `from pyodide.code import run_js\ntry:\n  print(run_js(${JSON.stringify(code)}))\nexcept Exception as error:\n  print("closed", error)`
        const outcome = yield* daring(session, program)
        closed(outcome)
        if ("lost" in outcome) session = yield* opened
      }
      yield* survives(session)
    })
  },
  {
    number: 14,
    title: "names without end, and folders without a bottom, are bounded, listed in part or refused, never followed",
    run: Effect.fnUntraced(function* () {
      const { capabilities } = yield* SandboxRuntime
      const isWebAssembly = webAssembly(capabilities) === undefined
      for (const code of [
        names("library", isWebAssembly ? 30_000 : 200_000),
        names("outputs", 30_000),
        deep(isWebAssembly ? 100 : 3_000)
      ]) {
        const session = yield* opened
        yield* daring(session, code)
        const told = yield* Effect.result(session.diff(library))
        if (Result.isSuccess(told)) assert.isAtMost(told.success.length, 100_000)
        else assert.include(["exhausted", "lost"], told.failure.reason, told.failure.message)
        yield* Effect.result(session.list())
        yield* survives(session)
      }
    })
  }
]
