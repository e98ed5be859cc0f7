import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Chats } from "@castellan/core/chat/Chats"
import { RunLimits } from "@castellan/core/run/RunLimits"
import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { Digest } from "effect/crypto"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Surroundings from "../../src/request/Surroundings.ts"

/** What a request sets for itself, or a transaction: it is in no surroundings. */
const setWithin = new Set([
  "@castellan/core/audit/RequestOrigin",
  "@castellan/core/idempotency/CurrentAttempt",
  "@castellan/core/memory/MemoryTransaction/Current",
  "@castellan/http/idempotency/Idempotency/CurrentKeyedRequest",
  "@castellan/http/request/Exchange"
])

/** The references that the sources of a package declare. */
const referencesOf = (name: string): ReadonlyArray<string> => {
  const folder = join(import.meta.dirname, "../../..", name, "src")
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), "utf8").matchAll(/Context\.Reference<[^"]*\(\s*"([^"]+)"/gu)
    ])
    .flatMap(([, key]) => (key === undefined ? [] : [key]))
}

describe("the surroundings of requests", () => {
  for (const name of ["core", "http", "postgres"]) {
    it(`have every reference of ${name} that a host can set`, () => {
      const set = referencesOf(name).filter((key) => !setWithin.has(key))
      const kept = Surroundings.of(Context.makeUnsafe(new Map(set.map((key) => [key, "set"]))))
      assert.deepStrictEqual([...kept.mapUnsafe.keys()], set)
    })
  }

  it("know of references at all", () => {
    assert.include(referencesOf("core"), RunLimits.key)
  })

  it("leave the services of the library behind, and nothing else", () => {
    const kept = Surroundings.of(
      Context.makeUnsafe(
        new Map([
          [Chats.key, "a service"],
          [Digest.Digest.key, "a service of cryptography"],
          [WebCrypto.key, "what such services are made of"],
          ["the-host/Flags", "of the host"],
          ["effect/Clock", "of Effect"]
        ])
      )
    )
    assert.deepStrictEqual([...kept.mapUnsafe.keys()], [WebCrypto.key, "the-host/Flags", "effect/Clock"])
  })

  it("are those of a server and of its application, whose word is the last, in whichever way they come together", () => {
    const server = Context.makeUnsafe<never>(
      new Map([
        ["both", "the server's"],
        ["server", "its own"]
      ])
    )
    const application = Context.makeUnsafe<never>(
      new Map([
        ["both", "the application's"],
        ["application", "its own"]
      ])
    )
    const other = Context.makeUnsafe<never>(new Map([["application", "another's"]]))
    const begun = Surroundings.joined(server, application)
    const things = (context: Context.Context<never>) =>
      ["both", "server", "application"].map((key) => context.mapUnsafe.get(key))
    const together = ["the application's", "its own", "its own"]
    assert.deepStrictEqual(things(begun), together)
    assert.strictEqual(Surroundings.within(begun, application), begun)
    assert.deepStrictEqual(things(Surroundings.within(server, application)), together)
    // Begun with one application and carried out by another, as where one is mounted in the other.
    assert.deepStrictEqual(things(Surroundings.within(begun, other)), ["the application's", "its own", "another's"])
  })
})
