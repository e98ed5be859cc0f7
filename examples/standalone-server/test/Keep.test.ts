/** The data folder: made once, found again, readable by its user only. */
import { NodeCrypto, NodeServices } from "@effect/platform-node"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, PlatformError, Redacted } from "effect"
import * as Keep from "../src/Keep.ts"

const platform = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer)

describe("the data folder", () => {
  it.effect("is made on the first start and found by the second", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = `${yield* files.makeTempDirectoryScoped()}/new/folder`
      const first = yield* Keep.open(folder, Option.none())
      const second = yield* Keep.open(folder, Option.none())
      assert.isTrue(first.isFirstStart)
      assert.isFalse(second.isFirstStart)
      assert.deepStrictEqual(second.identity, first.identity)
      assert.strictEqual(Redacted.value(second.adminKey), Redacted.value(first.adminKey))
      assert.strictEqual(Redacted.value(second.secret), Redacted.value(first.secret))
      assert.deepStrictEqual(
        Option.map(second.secretsKey, Redacted.value),
        Option.map(first.secretsKey, Redacted.value)
      )
      assert.deepStrictEqual(Redacted.value(second.sessionSecret), Redacted.value(first.sessionSecret))
      for (const name of yield* files.readDirectory(folder)) {
        assert.strictEqual((yield* files.stat(`${folder}/${name}`)).mode & 0o777, 0o600, name)
      }
    }).pipe(Effect.provide(platform))
  )

  it.effect("is the same for all who start in it at once", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = `${yield* files.makeTempDirectoryScoped()}/new`
      const kept = yield* Effect.forEach(Array.from({ length: 8 }), () => Keep.open(folder, Option.none()), {
        concurrency: "unbounded"
      })
      const later = yield* Keep.open(folder, Option.none())
      const told = (keep: Keep.Keep) => ({
        identity: keep.identity,
        adminKey: Redacted.value(keep.adminKey),
        secret: Redacted.value(keep.secret),
        sessionSecret: Redacted.value(keep.sessionSecret),
        secretsKey: Option.map(keep.secretsKey, Redacted.value)
      })
      for (const keep of kept) assert.deepStrictEqual(told(keep), told(later))
      assert.lengthOf(
        kept.filter((keep) => keep.isFirstStart),
        1
      )
      assert.sameMembers(
        [...(yield* files.readDirectory(folder))],
        ["admin.key", "identity.json", "secret", "secrets.key", "session.secret"]
      )
    }).pipe(Effect.provide(platform))
  )

  it.effect("is made where files cannot be linked as well", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      const refused = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "link" })
      const unlinked = FileSystem.FileSystem.of({ ...files, link: () => Effect.fail(refused) })
      const first = yield* Effect.provideService(Keep.open(folder, Option.none()), FileSystem.FileSystem, unlinked)
      const second = yield* Keep.open(folder, Option.none())
      assert.deepStrictEqual(second.identity, first.identity)
      assert.strictEqual(Redacted.value(second.adminKey), Redacted.value(first.adminKey))
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps no secret of its own where one is set", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      const given = Redacted.make("0123456789abcdef0123456789abcdef")
      const keep = yield* Keep.open(folder, Option.some(given), Option.some(given))
      assert.strictEqual(Redacted.value(keep.secret), Redacted.value(given))
      const elsewhere = yield* Keep.open(yield* files.makeTempDirectoryScoped(), Option.some(given))
      assert.deepStrictEqual(Redacted.value(elsewhere.sessionSecret), Redacted.value(keep.sessionSecret))
      assert.sameMembers([...(yield* files.readDirectory(folder))], ["admin.key", "identity.json"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("makes a secrets key that another deployment can have beside its own", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const [current, ...former] = yield* Effect.forEach(["one", "other"], () =>
        Effect.flatMap(files.makeTempDirectoryScoped(), (folder) =>
          Effect.flatMap(Keep.open(folder, Option.none()), (keep) => Effect.fromOption(keep.secretsKey))
        )
      )
      if (current === undefined) return assert.fail("there is no key")
      assert.strictEqual((yield* SecretKeys.read({ current, former })).byId.size, 2)
    }).pipe(Effect.provide(platform))
  )

  it.effect.each(["admin.key", "identity.json"])("says which file is broken: %s", (name) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      yield* Keep.open(folder, Option.none())
      yield* files.writeFileString(`${folder}/${name}`, "nonsense")
      const error = yield* Effect.flip(Keep.open(folder, Option.none()))
      assert.include(error.message, name)
      assert.notInclude(error.message, "nonsense")
    }).pipe(Effect.provide(platform))
  )

  it.effect("says that it cannot be made where a file is in its place", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const place = `${yield* files.makeTempDirectoryScoped()}/file`
      yield* files.writeFileString(place, "")
      const error = yield* Effect.flip(Keep.open(place, Option.none()))
      assert.include(error.message, "CASTELLAN_DATA_DIR")
    }).pipe(Effect.provide(platform))
  )
})
