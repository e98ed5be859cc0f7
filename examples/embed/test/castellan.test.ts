/** The smallest host answers a question over a folder, under its prefix. */
import { generate } from "@castellan/core/apikey/ApiKeySecret"
import { SecureRandom } from "effect/crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { castellan } from "../src/castellan.ts"

const folderOf = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "castellan-embed-"))
      for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

describe("the smallest host", () => {
  it.live(
    "answers a question over a folder of files",
    () =>
      Effect.gen(function* () {
        const folder = yield* folderOf({
          "sales.csv": "region,amount\nNorth,10\nSouth,32\nNorth,5\n"
        })
        const key = yield* generate.pipe(Effect.provide(SecureRandom.layerWebCrypto))
        const { handler } = yield* Effect.acquireRelease(
          Effect.sync(() => castellan(folder, key, Redacted.make("a secret of no less than 32 characters"))),
          ({ dispose }) => Effect.promise(() => dispose())
        )
        const response = yield* Effect.promise(() =>
          handler(
            new Request("http://host.example/analytics/v2/chats", {
              method: "POST",
              headers: { authorization: `Bearer ${Redacted.value(key)}`, "content-type": "application/json" },
              body: JSON.stringify({ question: "total amount by region" })
            })
          )
        )
        const answer = yield* Effect.promise(() => response.json())
        assert.strictEqual(response.status, 200, JSON.stringify(answer))
        assert.include(answer.response, "32")
        assert.include(answer.response, "15")
        assert.isTrue(
          answer.assets.some((asset: { readonly url?: string }) => asset.url?.startsWith("/analytics/v2/assets/"))
        )
      }),
    180_000
  )

  it.live(
    "lets nobody in without the key",
    () =>
      Effect.gen(function* () {
        const folder = yield* folderOf({ "sales.csv": "region,amount\nNorth,10\n" })
        const key = yield* generate.pipe(Effect.provide(SecureRandom.layerWebCrypto))
        const { handler } = yield* Effect.acquireRelease(
          Effect.sync(() => castellan(folder, key, Redacted.make("a secret of no less than 32 characters"))),
          ({ dispose }) => Effect.promise(() => dispose())
        )
        const response = yield* Effect.promise(() => handler(new Request("http://host.example/analytics/v2/chats")))
        assert.strictEqual(response.status, 401)
      }),
    180_000
  )
})
