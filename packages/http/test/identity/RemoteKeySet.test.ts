import type { LocalJWKSet } from "jose"
import * as JwtIdentity from "@castellan/http/identity/JwtIdentity"
import * as RemoteKeySet from "@castellan/http/identity/RemoteKeySet"
import { IdentityTokens } from "@castellan/core/session/IdentityTokens"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as KeyServer from "./KeyServer.ts"

const { claims } = KeyServer

const isTaken = (token: string) =>
  Effect.flatMap(IdentityTokens, (tokens) => Effect.map(tokens.read(Redacted.make(token)), Option.isSome))

/** The ids of the keys. */
const idsOf = (keys: Option.Option<LocalJWKSet>): ReadonlyArray<string | undefined> =>
  Option.isSome(keys) ? keys.value.jwks().keys.map(({ kid }) => kid) : []

const identityOf = (url: URL) => Effect.provide(JwtIdentity.layer({ keySet: { url } }))

describe("the keys of an identity provider", () => {
  it.effect("are fetched once, before anybody asks", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { asked, url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      const token = yield* key.sign(claims())
      yield* Effect.gen(function* () {
        yield* KeyServer.until(Effect.sync(() => asked() === 1))
        const read = yield* Effect.forEach(Array.from({ length: 100 }), () => isTaken(token), { concurrency: 100 })
        assert.notInclude(read, false)
        assert.strictEqual(asked(), 1)
      }).pipe(identityOf(url))
    })
  )

  it.effect("a new one is taken at once", () =>
    Effect.gen(function* () {
      const [old, young] = [yield* KeyServer.key("old"), yield* KeyServer.key("young")]
      const { answer, asked, url } = yield* KeyServer.serve(KeyServer.publishing([old]))
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(yield* old.sign(claims())))
        yield* TestClock.adjust("10 seconds")
        answer(KeyServer.publishing([old, young]))
        const token = yield* young.sign(claims())
        const read = yield* Effect.forEach(Array.from({ length: 20 }), () => isTaken(token), { concurrency: 20 })
        assert.notInclude(read, false)
        assert.isTrue(yield* isTaken(yield* old.sign(claims())))
        assert.strictEqual(asked(), 2)
      }).pipe(identityOf(url))
    })
  )

  it.effect("a new one is taken at once where tokens name none", () =>
    Effect.gen(function* () {
      const [old, young] = [yield* KeyServer.key("old"), yield* KeyServer.key("young")]
      const { answer, url } = yield* KeyServer.serve(KeyServer.publishing([old]))
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(yield* old.sign(claims(), { kid: undefined })))
        yield* TestClock.adjust("10 seconds")
        answer(KeyServer.publishing([young]))
        assert.isTrue(yield* isTaken(yield* young.sign(claims(), { kid: undefined })))
        assert.isFalse(yield* isTaken(yield* old.sign(claims(), { kid: undefined })))
      }).pipe(identityOf(url))
    })
  )

  it.effect("made-up keys make us ask once in a cooldown, and tokens for others not at all", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { asked, url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(yield* key.sign(claims())))
        const forge = (claimed: ReturnType<typeof claims>) =>
          Effect.forEach(
            Array.from({ length: 25 }, (_, index) => `made up ${index}`),
            (kid) => Effect.flatMap(key.sign(claimed, { kid }), isTaken),
            { concurrency: 5 }
          )
        assert.notInclude(yield* forge(claims()), true)
        assert.strictEqual(asked(), 1)
        yield* TestClock.adjust("9999 millis")
        assert.notInclude(yield* forge(claims()), true)
        assert.strictEqual(asked(), 1)
        yield* TestClock.adjust("1 millis")
        assert.notInclude(yield* forge(claims({ aud: "somebody" })), true)
        assert.strictEqual(asked(), 1)
        assert.notInclude(yield* forge(claims()), true)
        assert.strictEqual(asked(), 2)
        assert.isTrue(yield* isTaken(yield* key.sign(claims())))
      }).pipe(identityOf(url))
    })
  )

  it.effect("one that was withdrawn is refused once its time is up", () =>
    Effect.gen(function* () {
      const [stays, goes] = [yield* KeyServer.key("stays"), yield* KeyServer.key("goes")]
      const { answer, url } = yield* KeyServer.serve(KeyServer.publishing([stays, goes]))
      const token = yield* goes.sign(claims())
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(token))
        answer(KeyServer.publishing([stays]))
        yield* TestClock.adjust("599 seconds")
        assert.isTrue(yield* isTaken(token))
        yield* TestClock.adjust("1 seconds")
        yield* KeyServer.until(Effect.map(isTaken(token), (taken) => !taken))
        assert.isTrue(yield* isTaken(yield* stays.sign(claims())))
      }).pipe(identityOf(url))
    })
  )

  it.effect("stay in use while their provider is down, for a day", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { answer, asked, url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      const token = yield* key.sign(claims())
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(token))
        answer(KeyServer.broken)
        for (let hour = 1; hour < 24; hour++) {
          yield* TestClock.adjust("1 hour")
          assert.isTrue(yield* isTaken(token), `hour ${hour}`)
          yield* KeyServer.until(Effect.sync(() => asked() === hour + 1))
        }
        yield* TestClock.adjust("1 hour")
        const late = yield* Effect.exit(isTaken(token))
        assert.isTrue(Exit.isFailure(late) && Cause.hasDies(late.cause))
        answer(KeyServer.publishing([key]))
        yield* TestClock.adjust("10 seconds")
        assert.isTrue(yield* isTaken(token))
      }).pipe(identityOf(url))
    })
  )

  it.effect("that cannot be had yet leave it open whether a token is good, and are asked for again", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { answer, asked, url } = yield* KeyServer.serve(KeyServer.broken)
      const token = yield* key.sign(claims())
      yield* Effect.gen(function* () {
        for (let again = 0; again < 3; again++) {
          const early = yield* Effect.exit(isTaken(token))
          assert.include(Exit.isFailure(early) ? String(Cause.squash(early.cause)) : "", "cannot be had now, try again")
        }
        assert.isFalse(yield* isTaken(yield* key.sign(claims({ iss: "somebody" }))))
        assert.strictEqual(asked(), 1)
        answer(KeyServer.publishing([key]))
        yield* TestClock.adjust("10 seconds")
        assert.isTrue(yield* isTaken(token))
        assert.strictEqual(asked(), 2)
      }).pipe(identityOf(url))
    })
  )

  it.effect("a provider that does not answer is not waited for, where there are keys", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { answer, asked, url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      const token = yield* key.sign(claims())
      yield* Effect.gen(function* () {
        assert.isTrue(yield* isTaken(token))
        answer(KeyServer.silent)
        yield* TestClock.adjust("10 minutes")
        assert.isTrue(yield* isTaken(token))
        yield* KeyServer.until(Effect.sync(() => asked() === 2))
        assert.isTrue(yield* isTaken(token))
        // Only who brings an unknown key waits, for as long as is waited at all.
        const unknown = yield* Effect.forkChild(Effect.flatMap(key.sign(claims(), { kid: "two" }), isTaken))
        yield* TestClock.adjust("4999 millis")
        assert.isUndefined(unknown.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.isFalse(yield* Fiber.join(unknown))
      }).pipe(identityOf(url))
    })
  )

  it.effect("who asked first and leaves takes nothing from the others", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      let release = () => {}
      const { asked, url } = yield* KeyServer.serve((response) => {
        release = () => KeyServer.publishing([key])(response)
      })
      const set = yield* RemoteKeySet.make({ url })
      yield* KeyServer.until(Effect.sync(() => asked() === 1))
      const first = yield* Effect.forkChild(set.keys)
      const second = yield* Effect.forkChild(set.keys)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first)
      release()
      assert.deepStrictEqual(idsOf(yield* Fiber.join(second)), ["one"])
      assert.strictEqual(asked(), 1)
    })
  )

  const tooLarge: KeyServer.Answer = (response) => {
    response.write('{"keys":[]')
    for (let written = 0; written < 300; written++) response.write(" ".repeat(1024))
    response.end("}")
  }

  const text =
    (body: string): KeyServer.Answer =>
    (response) =>
      response.end(body)

  const errorWithKeys: KeyServer.Answer = (response) => {
    response.writeHead(404).end('{"keys":[{"kty":"EC","kid":"two"}]}')
  }

  it.effect.each([
    ["more than a key set can be", tooLarge],
    ["no JSON", text("<html>")],
    ["no key set", text('{"keys":"one"}')],
    ["half a key set", text('{"keys":[')],
    ["keys that are no objects", text('{"keys":[1]}')],
    ["nothing", text("")],
    ["an error", KeyServer.broken],
    ["an error that carries keys", errorWithKeys]
  ] as const)("%s does not take the place of keys", ([, how]) =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const { answer, asked, url } = yield* KeyServer.serve(KeyServer.publishing([key]))
      const set = yield* RemoteKeySet.make({ url })
      const known = yield* set.keys
      assert.deepStrictEqual(idsOf(known), ["one"])
      answer(how)
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(Option.isNone(yield* Effect.flatMap(Effect.fromOption(known), set.newerThan)))
      assert.strictEqual(asked(), 2)
      assert.deepStrictEqual(idsOf(yield* set.keys), ["one"])
    })
  )

  it.effect("an address that sends elsewhere is not followed", () =>
    Effect.gen(function* () {
      const key = yield* KeyServer.key("one")
      const elsewhere = yield* KeyServer.serve(KeyServer.publishing([key]))
      const { asked, url } = yield* KeyServer.serve((response) => {
        response.writeHead(302, { location: elsewhere.url.href }).end()
      })
      const set = yield* RemoteKeySet.make({ url })
      assert.isTrue(Option.isNone(yield* set.keys))
      assert.deepStrictEqual([asked(), elsewhere.asked()], [1, 0])
    })
  )
})
