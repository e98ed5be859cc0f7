import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { join } from "node:path"
import * as Failure from "../src/Failure.ts"

describe("what an operator is told", () => {
  it.effect("names a file that is not there, and says no more of it", () =>
    Effect.gen(function* () {
      const path = join(import.meta.dirname, "nowhere", "organization.jsonl")
      const error = yield* Effect.flip(FileSystem.FileSystem.use((files) => files.readFileString(path)))
      assert.strictEqual(Failure.told(error), `${path}: there is no such file or folder`)
      assert.strictEqual(Failure.told(new Error("why")), "why")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
