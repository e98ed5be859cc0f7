import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as, refused } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { castle } from "./Castle.ts"

describe("Sandcastles: their files", () => {
  it.effect("files go in, are listed, come out, and go", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      const content = new TextEncoder().encode("a,b\n1,2\n")
      const put = (path?: string) =>
        as(member)(sandcastles.upload(id, { name: "data.csv", content, ...(path === undefined ? {} : { path }) }))
      assert.strictEqual(yield* put(), "uploads/data.csv")
      assert.strictEqual(yield* put("uploads/2030/"), "uploads/2030/data.csv")
      assert.strictEqual(yield* put("outputs/other.csv"), "outputs/other.csv")
      const listed = yield* as(member)(sandcastles.listFiles(id, "uploads/"))
      assert.deepStrictEqual(
        listed.map(({ kind, path, size }) => [path, kind, size]),
        [
          ["uploads/2030", "directory", 0],
          ["uploads/data.csv", "file", 8]
        ]
      )
      const file = yield* as(member)(sandcastles.download(id, "uploads/data.csv"))
      assert.deepStrictEqual([file.mediaType, [...file.content]], ["text/csv", [...content]])
      yield* as(member)(sandcastles.removeFile(id, "uploads/data.csv"))
      assert.strictEqual(
        yield* refused(as(member)(sandcastles.download(id, "uploads/data.csv"))),
        "not_found: there is no file uploads/data.csv"
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )

  it.effect("no path leads out, and no dotfile in", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const { id, member } = yield* castle
      const content = new Uint8Array(1)
      for (const path of ["../x", "/etc/passwd", "uploads/../../x", ".bashrc", "library/.git/config", "a\0b"]) {
        for (const door of [
          sandcastles.listFiles(id, path),
          sandcastles.download(id, path),
          sandcastles.removeFile(id, path),
          sandcastles.upload(id, { name: "x", path, content })
        ]) {
          assert.match(yield* refused(as(member)(Effect.asVoid(door))), /^invalid_request: path: /u, path)
        }
      }
      for (const name of ["../x", ".env", "a/b", ""]) {
        assert.match(
          yield* refused(as(member)(sandcastles.upload(id, { name, content }))),
          /^invalid_request: file: /u,
          name
        )
      }
      const large = new Uint8Array(25 * 1024 * 1024 + 1)
      assert.match(
        yield* refused(as(member)(sandcastles.upload(id, { name: "x", content: large }))),
        /^invalid_request: file: must not be larger/u
      )
    }).pipe(Effect.provide(Deployment.layer()))
  )
})
