import { ApiKey, ApiKeyHash, ApiKeyId, ApiKeyStatus } from "@castellan/core/apikey/ApiKey"
import * as ApiKeyState from "@castellan/core/apikey/ApiKeyState"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Equal, Result, Schema } from "effect"

const at = (seconds: number) => DateTime.makeUnsafe(seconds * 1000)

const now = at(100)

/** A key in every state that there is, at the moment 100. */
const states = Effect.gen(function* () {
  const owner = yield* Sample.member(yield* Sample.organizationId)
  const nextId = Effect.map(Uuid.next, (id) => ApiKeyId.make(id))
  const [grandparent, former, successor] = [yield* nextId, yield* nextId, yield* nextId]
  const client = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
  const { apiKey } = yield* Sample.key(owner, {
    createdAt: at(1),
    expiresAt: at(1000),
    clientMetadata: client,
    fullMemberAccess: true,
    rotatedFrom: [former],
    ancestors: [grandparent]
  })
  const active = new ApiKey({ ...apiKey, name: "reporting", lastUsedAt: at(99) })
  const { expiresAt: _, ...unending } = active
  return {
    active,
    unending: new ApiKey(unending),
    replaced: new ApiKey({ ...active, replacedBy: successor }),
    expired: new ApiKey({ ...active, expiresAt: now }),
    revoked: new ApiKey({ ...active, status: ApiKeyStatus.cases.Revoked.make({ at: at(50) }) }),
    both: new ApiKey({ ...active, expiresAt: at(60), status: ApiKeyStatus.cases.Revoked.make({ at: at(50) }) })
  }
})

const succession = (grace: Duration.Input) =>
  Effect.gen(function* () {
    return {
      id: ApiKeyId.make(yield* Uuid.next),
      hash: ApiKeyHash.make("0".repeat(64)),
      mintedBy: { memberId: yield* Sample.memberId },
      grace: Duration.fromInputUnsafe(grace)
    }
  })

const word = <A>(outcome: Result.Result<A, ApiKeyState.ApiKeyRefusal>): string =>
  Result.isFailure(outcome) ? outcome.failure.message : "done"

layer(layerCrypto)("ApiKeyState", (it) => {
  it.effect("every event in every state", () =>
    Effect.gen(function* () {
      const all = yield* states
      const rows: ReadonlyArray<readonly [keyof typeof all, string, string, string]> = [
        ["active", "active", "done", "done"],
        ["unending", "active", "done", "done"],
        ["replaced", "active", "done", "the API key is already replaced"],
        ["expired", "expired", "done", "the API key is expired"],
        ["revoked", "revoked", "the API key is revoked", "the API key is revoked"],
        ["both", "revoked", "the API key is revoked", "the API key is revoked"]
      ]
      const next = yield* succession("1 minute")
      for (const [name, status, revoke, rotate] of rows) {
        const key = all[name]
        assert.strictEqual(ApiKeyState.statusAt(key, now), status, name)
        assert.strictEqual(word(ApiKeyState.revoke(key, now)), revoke, `${name}: revoke`)
        assert.strictEqual(word(ApiKeyState.rotate(key, next, now)), rotate, `${name}: rotate`)
        // A use is noted once a minute, and never of a key that does not work.
        assert.isFalse(ApiKeyState.isUseNoted(key, now), `${name}: used a second ago`)
        const works = status === "active"
        const { lastUsedAt: _, ...unused } = key
        assert.strictEqual(ApiKeyState.isUseNoted(new ApiKey(unused), now), works, `${name}: never used`)
        const before = (seconds: number) => new ApiKey({ ...key, lastUsedAt: at(100 - seconds) })
        assert.strictEqual(ApiKeyState.isUseNoted(before(60), now), works, `${name}: used a minute ago`)
        assert.isFalse(ApiKeyState.isUseNoted(before(59.999), now), `${name}: used less than a minute ago`)
      }
    })
  )

  it.effect("K27: a rotation without grace revokes the old key, and copies all that it was", () =>
    Effect.gen(function* () {
      const { active } = yield* states
      const next = yield* succession(0)
      const { retired, successor } = Result.getOrThrow(ApiKeyState.rotate(active, next, now))
      assert.strictEqual(ApiKeyState.statusAt(retired, now), "revoked")
      assert.deepStrictEqual(
        { ...retired },
        { ...active, replacedBy: next.id, status: ApiKeyStatus.cases.Revoked.make({ at: now }) }
      )
      const { lastUsedAt: _, ...lasting } = active
      assert.deepStrictEqual(
        { ...successor },
        {
          ...lasting,
          id: next.id,
          hash: next.hash,
          mintedBy: next.mintedBy,
          rotatedFrom: [active.id, ...active.rotatedFrom],
          createdAt: now
        }
      )
    })
  )

  it.effect("a rotation with grace brings the old key's expiry forward, and never back", () =>
    Effect.gen(function* () {
      const { active, unending } = yield* states
      const rows: ReadonlyArray<readonly [ApiKey, number, number]> = [
        [active, 60, 160],
        [active, 899, 999],
        [active, 900, 1000],
        [active, 901, 1000],
        [unending, 60, 160]
      ]
      for (const [key, grace, end] of rows) {
        const next = yield* succession(Duration.seconds(grace))
        const { retired, successor } = Result.getOrThrow(ApiKeyState.rotate(key, next, now))
        assert.strictEqual(ApiKeyState.statusAt(retired, now), "active")
        assert.strictEqual(ApiKeyState.statusAt(retired, at(end - 0.001)), "active")
        assert.strictEqual(ApiKeyState.statusAt(retired, at(end)), "expired")
        assert.isTrue(Equal.equals(successor.expiresAt, key.expiresAt), "the remaining lifetime is the same")
      }
    })
  )

  const Event = Schema.Literals(["revoke", "rotate", "rotate with grace", "wait"])

  it.effect.prop(
    "K28, L10: whatever happens to a key, once it does not work it never works again",
    { events: Schema.Array(Event).check(Schema.isMaxLength(8)) },
    ({ events }) =>
      Effect.gen(function* () {
        let key: ApiKey = (yield* states).active
        let moment = 100
        let ended = false
        for (const event of events) {
          const next = yield* succession(event === "rotate" ? 0 : Duration.seconds(200))
          if (event === "wait") moment += 150
          else if (event === "revoke") key = Result.getOrElse(ApiKeyState.revoke(key, at(moment)), () => key)
          else {
            const rotated = ApiKeyState.rotate(key, next, at(moment))
            if (Result.isSuccess(rotated)) key = rotated.success.retired
          }
          const works = ApiKeyState.statusAt(key, at(moment)) === "active"
          assert.isFalse(works && ended)
          ended = !works
        }
      }),
    { arbitrary: { runs: 300 } }
  )
})
