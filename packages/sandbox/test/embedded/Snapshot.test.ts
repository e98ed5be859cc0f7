/**
 * Sessions start from the memory that the host found whole, and from no other: not where it has gone from its folder,
 * as systems clean theirs, nor where another lies in its place.
 */
import { layer } from "@castellan/sandbox/embedded"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { patience } from "./support/Patience.ts"
import { all, opened, textOf } from "./support/Sessions.ts"

const works = Effect.scoped(
  Effect.gen(function* () {
    const session = yield* opened()
    assert.strictEqual(textOf(yield* all(session, "print(6 * 7)")), "42\n")
  })
)

describe("the memory that sessions start from", () => {
  it.live(
    "is made anew where it has gone or is another, while the host runs",
    () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "castellan-snapshot-"))),
          (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
        )
        const cache = join(folder, "cache")
        const snapshot = Effect.promise(async () => {
          const [name = "", ...more] = await readdir(cache)
          assert.deepStrictEqual(more, [])
          return join(cache, name)
        })
        yield* Effect.gen(function* () {
          yield* Effect.promise(() => rm(cache, { recursive: true }))
          yield* works
          const path = yield* snapshot
          // Whatever is in it, no interpreter starts with it.
          yield* Effect.promise(() => writeFile(path, "a memory with a trap in it"))
          yield* works
          const { size } = yield* Effect.flatMap(snapshot, (made) => Effect.promise(() => stat(made)))
          assert.isAbove(size, 1024 * 1024)
        }).pipe(Effect.provide(layer({ cache }), { local: true }))
      }).pipe(Effect.scoped),
    patience
  )
})
