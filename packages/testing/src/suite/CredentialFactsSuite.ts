/**
 * What everything that tells the facts of credentials keeps to: it says what the stores of keys, members and roles say,
 * and nothing of other organizations.
 */
import * as CredentialFacts from "@castellan/core/access/CredentialFacts"
import * as EffectiveRoles from "@castellan/core/access/EffectiveRoles"
import * as KeyAuthority from "@castellan/core/access/KeyAuthority"
import { ApiKey, ApiKeyHash, type ApiKeyId, ApiKeyStatus, AssumedRoles } from "@castellan/core/apikey/ApiKey"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { Member, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import { Role } from "@castellan/core/role/Role"
import { RoleStore } from "@castellan/core/role/RoleStore"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Fixture from "../fixture/Fixture.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const now = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const earlier = DateTime.makeUnsafe("2029-12-31T23:59:59.999Z")

const below = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))
const some = <S extends Schema.Top>(item: S) => Schema.Array(item).check(Schema.isMaxLength(3))

/** A small organization, in numbers: its members with their roles, and keys that each descend from those before. */
const World = Schema.Struct({
  members: Schema.Tuple([
    Schema.Struct({ roles: some(below(3)), active: Schema.Boolean, gone: Schema.Boolean }),
    Schema.Struct({ roles: some(below(3)), active: Schema.Boolean, gone: Schema.Boolean })
  ]),
  removedRole: below(6),
  keys: Schema.Array(
    Schema.Struct({
      owner: below(2),
      live: Schema.Boolean,
      roles: some(below(3)),
      state: Schema.Literals(["active", "active", "active", "revoked", "expired"]),
      descends: Schema.Boolean
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(4))
})

/** Runs the contract of `CredentialFacts` against an adapter, with the stores that it is about. */
export const suite = <E>(
  name: string,
  layer: Layer.Layer<CredentialFacts.CredentialFacts | ApiKeyStore | MemberStore | RoleStore, E>
): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`CredentialFacts (${name})`, (it) => {
    const facts = CredentialFacts.CredentialFacts
    const keep = (key: ApiKey) =>
      Effect.as(
        ApiKeyStore.use((store) => store.save(key)),
        key
      )

    const scene = Effect.gen(function* () {
      const organizationId = yield* Sample.organizationId
      const [a, b] = [yield* Fixture.role(organizationId), yield* Fixture.role(organizationId)]
      const owner = yield* Fixture.member(organizationId, { roles: [b, a] })
      return { organizationId, a, b, owner }
    })

    const heldOf = (roles: ReadonlyArray<Role>, member: Member) =>
      roles.filter((role) => member.roles.includes(role.id))

    it.effect("knows nothing of what was never kept", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* scene
        const stranger = yield* Sample.key(owner)
        assertSame(yield* facts.use((of) => of.ofHash(stranger.apiKey.hash)), Option.none())
        assertSame(yield* facts.use((of) => of.ofKey(organizationId, stranger.apiKey.id)), Option.none())
        const memberId = yield* Sample.memberId
        assertSame(yield* facts.use((of) => of.ofMember(organizationId, memberId)), Option.none())
        const session = {
          organizationId,
          memberId,
          roles: owner.roles,
          key: { id: stranger.apiKey.id, rotatedFrom: [] }
        }
        assertSame(yield* facts.use((of) => of.ofSession(session)), Option.none())
        const ofMember = yield* facts.use((of) => of.ofSession({ ...session, memberId: owner.id }))
        assert.isTrue(Option.isSome(ofMember) && Option.isNone(ofMember.value.key))
      })
    )

    it.effect("tells all of a key, in whatever state it and its owner are", () =>
      Effect.gen(function* () {
        const { a, b, organizationId, owner } = yield* scene
        const { apiKey } = yield* Fixture.key(owner, {
          clientMetadata: { text: '{"tenant":"\\u00e9"}', attributes: { tenant: "é" } },
          expiresAt: earlier,
          status: ApiKeyStatus.cases.Revoked.make({ at: earlier })
        })
        const left = new Member({ ...owner, status: MemberStatus.cases.Deactivated.make({ at: earlier }) })
        yield* MemberStore.use((store) => store.save(left))
        yield* ApiKeyStore.use((store) => store.used(organizationId, apiKey.id, now))
        for (const found of [
          yield* facts.use((of) => of.ofHash(apiKey.hash)),
          yield* facts.use((of) => of.ofKey(organizationId, apiKey.id))
        ]) {
          const known = Option.getOrUndefined(found)
          assertSame(known?.key, new ApiKey({ ...apiKey, lastUsedAt: now }))
          assertSame(known?.owner, left)
          assertSame(known?.ancestors, [])
          assertSame(known && heldOf(known.roles, left), [a, b])
        }
      })
    )

    it.effect("tells of a key whose owner is gone, or holds nothing", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* scene
        const { apiKey } = yield* Fixture.key(owner)
        const bare = new Member({ ...owner, roles: [] })
        yield* MemberStore.use((store) => store.save(bare))
        const without = Option.getOrUndefined(yield* facts.use((of) => of.ofHash(apiKey.hash)))
        assertSame(without?.owner, bare)
        assertSame(without && heldOf(without.roles, bare), [])
        yield* MemberStore.use((store) => store.remove(organizationId, owner.id))
        const orphan = Option.getOrUndefined(yield* facts.use((of) => of.ofHash(apiKey.hash)))
        assertSame(orphan?.key, apiKey)
        assert.isUndefined(orphan?.owner)
      })
    )

    it.effect("tells what is so now, however often it told what was so before", () =>
      Effect.gen(function* () {
        const { a, b, organizationId, owner } = yield* scene
        const { apiKey } = yield* Fixture.key(owner)
        const told = Effect.map(
          facts.use((of) => of.ofHash(apiKey.hash)),
          (found) => {
            const known = Option.getOrThrow(found)
            assert.isDefined(known.owner)
            return { key: known.key, owner: known.owner, roles: heldOf(known.roles, known.owner) }
          }
        )
        assertSame(yield* told, { key: apiKey, owner, roles: [a, b] })
        assertSame(yield* told, { key: apiKey, owner, roles: [a, b] })
        const changed = new Role({ ...a, permissions: ["chat:read"] })
        yield* RoleStore.use((store) => store.save(changed))
        assertSame(yield* told, { key: apiKey, owner, roles: [changed, b] })
        const less = new Member({ ...owner, roles: [a.id] })
        yield* MemberStore.use((store) => store.save(less))
        assertSame(yield* told, { key: apiKey, owner: less, roles: [changed] })
        yield* RoleStore.use((store) => store.remove(organizationId, a.id))
        assertSame(yield* told, { key: apiKey, owner: less, roles: [] })
        const revoked = yield* keep(new ApiKey({ ...apiKey, status: ApiKeyStatus.cases.Revoked.make({ at: earlier }) }))
        assertSame(yield* told, { key: revoked, owner: less, roles: [] })
        yield* MemberStore.use((store) => store.save(owner))
        yield* keep(apiKey)
        assertSame(yield* told, { key: apiKey, owner, roles: [b] })
        yield* ApiKeyStore.use((store) => store.used(organizationId, apiKey.id, now))
        assertSame(yield* told, { key: new ApiKey({ ...apiKey, lastUsedAt: now }), owner, roles: [b] })
      })
    )

    it.effect("tells what is so now of the keys that a key descends from, and of their owners", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* scene
        const minter = yield* Fixture.member(organizationId)
        const first = (yield* Fixture.key(minter)).apiKey
        const { apiKey } = yield* Fixture.key(owner, { ancestors: [first.id] })
        const line = Effect.map(
          facts.use((of) => of.ofHash(apiKey.hash)),
          (found) => Option.getOrUndefined(found)?.ancestors
        )
        assertSame(yield* line, [{ key: first, owner: minter }])
        assertSame(yield* line, [{ key: first, owner: minter }])
        const revoked = yield* keep(new ApiKey({ ...first, status: ApiKeyStatus.cases.Revoked.make({ at: earlier }) }))
        assertSame(yield* line, [{ key: revoked, owner: minter }])
        const left = new Member({ ...minter, status: MemberStatus.cases.Deactivated.make({ at: earlier }) })
        yield* MemberStore.use((store) => store.save(left))
        assertSame(yield* line, [{ key: revoked, owner: left }])
      })
    )

    /** A key that descends from two others, each with its owner, and the roles that its owner holds. */
    const descendant = Effect.gen(function* () {
      const { a, b, organizationId, owner } = yield* scene
      const minter = yield* Fixture.member(organizationId, { roles: [a, b] })
      const first = (yield* Fixture.key(minter)).apiKey
      const second = (yield* Fixture.key(minter, { ancestors: [first.id] })).apiKey
      const { apiKey } = yield* Fixture.key(owner, { ancestors: [second.id, first.id] })
      return {
        organizationId,
        a,
        b,
        owner,
        minter,
        first,
        second,
        apiKey,
        other: yield* Fixture.member(organizationId)
      }
    })
    type Descendant = Effect.Success<typeof descendant>
    type Stores = ApiKeyStore | MemberStore | RoleStore

    const revoked = ApiKeyStatus.cases.Revoked.make({ at: earlier })
    const keyIs = (key: ApiKey, change: Partial<ApiKey>) => keep(new ApiKey({ ...key, ...change }))
    const memberIs = (member: Member, change: Partial<Member>) =>
      MemberStore.use((store) => store.save(new Member({ ...member, ...change })))
    const roleIs = (role: Role, change: Partial<Role>) =>
      RoleStore.use((store) => store.save(new Role({ ...role, ...change })))
    const left = { status: MemberStatus.cases.Deactivated.make({ at: earlier }) }

    /** Every way by which what a key is worth, or what is told of it, becomes another. */
    const ways: Record<string, (of: Descendant) => Effect.Effect<unknown, never, Stores>> = {
      "it is revoked": ({ apiKey }) => keyIs(apiKey, { status: revoked }),
      "it expires": ({ apiKey }) => keyIs(apiKey, { expiresAt: earlier }),
      "it is replaced": ({ apiKey, first }) => keyIs(apiKey, { replacedBy: first.id }),
      "it is as good as its owner": ({ apiKey }) => keyIs(apiKey, { fullMemberAccess: true }),
      "it assumes fewer roles": ({ a, apiKey }) =>
        keyIs(apiKey, { assumedRoles: AssumedRoles.cases.Snapshot.make({ roles: [a.id] }) }),
      "it is another end user's": ({ apiKey }) =>
        keyIs(apiKey, { clientMetadata: { text: '{"tenant":"2"}', attributes: { tenant: "2" } } }),
      "it is another member's": ({ apiKey, other }) => keyIs(apiKey, { owner: other.id }),
      "it descends from one key less": ({ apiKey, second }) => keyIs(apiKey, { ancestors: [second.id] }),
      "it descends from none": ({ apiKey }) => keyIs(apiKey, { ancestors: [] }),
      "its value becomes another key's": ({ apiKey, first }) =>
        Effect.andThen(keyIs(apiKey, { hash: ApiKeyHash.make("1".repeat(64)) }), keyIs(first, { hash: apiKey.hash })),
      "it is used": ({ apiKey }) => ApiKeyStore.use((store) => store.used(apiKey.organizationId, apiKey.id, now)),
      "its owner is deactivated": ({ owner }) => memberIs(owner, left),
      "its owner becomes a superadmin": ({ owner }) => memberIs(owner, { standing: "superadmin" }),
      "its owner loses a role": ({ a, owner }) => memberIs(owner, { roles: [a.id] }),
      "its owner loses every role": ({ owner }) => memberIs(owner, { roles: [] }),
      "its owner is removed": ({ organizationId, owner }) =>
        MemberStore.use((store) => store.remove(organizationId, owner.id)),
      "its owner is removed, and comes back with less": ({ a, organizationId, owner }) =>
        Effect.andThen(
          MemberStore.use((store) => store.remove(organizationId, owner.id)),
          memberIs(owner, { roles: [a.id] })
        ),
      "a role permits something else": ({ a }) => roleIs(a, { permissions: ["chat:read"] }),
      "the other role permits something else": ({ b }) => roleIs(b, { permissions: ["chat:read"] }),
      "a role is removed": ({ a, organizationId }) => RoleStore.use((store) => store.remove(organizationId, a.id)),
      "a role is removed, and made again as another": ({ a, organizationId }) =>
        Effect.andThen(
          RoleStore.use((store) => store.remove(organizationId, a.id)),
          roleIs(a, { permissions: ["chat:read"] })
        ),
      "the key that minted it is revoked": ({ second }) => keyIs(second, { status: revoked }),
      "the key that minted that one is revoked": ({ first }) => keyIs(first, { status: revoked }),
      "the key that minted it assumes fewer roles": ({ a, second }) =>
        keyIs(second, { assumedRoles: AssumedRoles.cases.Snapshot.make({ roles: [a.id] }) }),
      "the key that minted it becomes another member's": ({ other, second }) => keyIs(second, { owner: other.id }),
      "the owner of those keys is deactivated": ({ minter }) => memberIs(minter, left),
      "the owner of those keys loses a role": ({ a, minter }) => memberIs(minter, { roles: [a.id] }),
      "the owner of those keys is removed": ({ minter, organizationId }) =>
        MemberStore.use((store) => store.remove(organizationId, minter.id))
    }

    for (const [way, change] of Object.entries(ways)) {
      it.effect(`tells what is so now, and not what it told before, when ${way}`, () =>
        Effect.gen(function* () {
          const of = yield* descendant
          const byStores = yield* Effect.provide(facts, CredentialFacts.layer)
          const told = (by: CredentialFacts.CredentialFacts["Service"]) =>
            Effect.map(by.ofHash(of.apiKey.hash), (found) => {
              const { ancestors, key, owner, roles } = Option.getOrThrow(found)
              return {
                key,
                owner,
                roles: owner === undefined ? [] : heldOf(roles, owner),
                // When they were used last is no fact of it.
                ancestors: ancestors.toSorted((one, two) => (one.key.id < two.key.id ? -1 : 1))
              }
            })
          const tells = yield* facts
          const before = yield* told(tells)
          assertSame(before, yield* told(byStores))
          assertSame(yield* told(tells), before)
          yield* change(of)
          const after = yield* told(tells)
          assertSame(after, yield* told(byStores))
          assert.notDeepEqual(after, before)
          assertSame(yield* told(tells), after)
        })
      )
    }

    it.effect("tells of the keys that a key descends from, each with its owner, as far as they are there", () =>
      Effect.gen(function* () {
        const { organizationId, owner } = yield* scene
        const other = yield* Fixture.member(organizationId)
        const first = (yield* Fixture.key(owner)).apiKey
        const second = (yield* Fixture.key(other, { ancestors: [first.id] })).apiKey
        const gone = (yield* Sample.key(other)).apiKey
        const { apiKey } = yield* Fixture.key(owner, { ancestors: [gone.id, second.id, first.id] })
        const orphaned = yield* Fixture.member(organizationId)
        yield* keep(new ApiKey({ ...first, owner: orphaned.id }))
        yield* MemberStore.use((store) => store.remove(organizationId, orphaned.id))
        const found = Option.getOrUndefined(yield* facts.use((of) => of.ofHash(apiKey.hash)))
        const line = new Map<ApiKeyId, CredentialFacts.OwnedKey>(
          found?.ancestors.map((ancestor) => [ancestor.key.id, ancestor])
        )
        assert.strictEqual(line.size, 2)
        assertSame(line.get(second.id), { key: second, owner: other })
        assertSame(line.get(first.id), { key: new ApiKey({ ...first, owner: orphaned.id }), owner: undefined })
      })
    )

    it.effect("tells of a member, and of a session: the roles that it names, whoever holds them, and its key", () =>
      Effect.gen(function* () {
        const { a, b, organizationId, owner } = yield* scene
        const unheld = yield* Fixture.role(organizationId)
        const member = Option.getOrUndefined(yield* facts.use((of) => of.ofMember(organizationId, owner.id)))
        assertSame(member?.member, owner)
        assertSame(member && heldOf(member.roles, owner), [a, b])
        const { apiKey } = yield* Fixture.key(owner)
        const session = { organizationId, memberId: owner.id, roles: [unheld.id, a.id] }
        const plain = Option.getOrUndefined(yield* facts.use((of) => of.ofSession(session)))
        assertSame(plain?.member, owner)
        assertSame(plain && EffectiveRoles.ofSnapshot(session.roles, plain.roles), [a, unheld])
        assertSame(plain?.key, Option.none())
        const key = { id: apiKey.id, rotatedFrom: [] }
        const keyed = Option.getOrUndefined(yield* facts.use((of) => of.ofSession({ ...session, roles: [], key })))
        assertSame(keyed && EffectiveRoles.ofSnapshot([], keyed.roles), [])
        const behind = keyed && Option.getOrUndefined(keyed.key)
        assertSame(behind?.key, apiKey)
        assertSame(behind?.owner, owner)
      })
    )

    it.effect("tells nothing of one organization to another", () =>
      Effect.gen(function* () {
        const [ours, theirs] = [yield* scene, yield* scene]
        const foreign = (yield* Fixture.key(theirs.owner)).apiKey
        assertSame(yield* facts.use((of) => of.ofKey(ours.organizationId, foreign.id)), Option.none())
        assertSame(yield* facts.use((of) => of.ofMember(ours.organizationId, theirs.owner.id)), Option.none())
        // A member with a foreign role, a key with a foreign ancestor, a session with both.
        const mixed = yield* Fixture.member(ours.organizationId, { roles: [theirs.a, ours.a] })
        const { apiKey } = yield* Fixture.key(mixed, { ancestors: [foreign.id] })
        const found = Option.getOrUndefined(yield* facts.use((of) => of.ofHash(apiKey.hash)))
        assertSame(found?.ancestors, [])
        assertSame(found && heldOf(found.roles, mixed), [ours.a])
        const session = Option.getOrUndefined(
          yield* facts.use((of) =>
            of.ofSession({
              organizationId: ours.organizationId,
              memberId: mixed.id,
              roles: mixed.roles,
              key: { id: foreign.id, rotatedFrom: [] }
            })
          )
        )
        assertSame(session && EffectiveRoles.ofSnapshot(mixed.roles, session.roles), [ours.a])
        assertSame(session?.key, Option.none())
        const foreigner = { organizationId: ours.organizationId, memberId: theirs.owner.id, roles: [ours.a.id] }
        assertSame(yield* facts.use((of) => of.ofSession(foreigner)), Option.none())
      })
    )

    it.effect.prop(
      "L5: keys are worth what the stores of keys, members and roles say",
      { world: World },
      ({ world }) =>
        Effect.gen(function* () {
          const organizationId = yield* Sample.organizationId
          const roles = yield* Effect.all([
            Fixture.role(organizationId),
            Fixture.role(organizationId),
            Fixture.role(organizationId)
          ])
          const chosen = (indexes: ReadonlyArray<number>) => indexes.flatMap((index) => roles[index] ?? [])
          const members = yield* Effect.forEach(world.members, ({ active, roles: held }) =>
            Fixture.member(organizationId, {
              roles: chosen([...new Set(held)]),
              status: active ? MemberStatus.cases.Active.make({}) : MemberStatus.cases.Deactivated.make({ at: earlier })
            })
          )
          const keys: Array<ApiKey> = []
          for (const { descends, live, owner, roles: assumed, state } of world.keys) {
            const member = members[owner]
            if (member === undefined) continue
            const parent = keys.at(-1)
            const ancestors = descends && parent !== undefined ? [parent.id, ...parent.ancestors] : []
            const { apiKey } = yield* Fixture.key(member, {
              ancestors,
              assumedRoles: live
                ? AssumedRoles.cases.Live.make({})
                : AssumedRoles.cases.Snapshot.make({ roles: chosen(assumed).map((role) => role.id) }),
              ...(state === "revoked" ? { status: ApiKeyStatus.cases.Revoked.make({ at: earlier }) } : {}),
              ...(state === "expired" ? { expiresAt: now } : {})
            })
            keys.push(apiKey)
          }
          const removed = roles[world.removedRole]
          if (removed !== undefined) yield* RoleStore.use((store) => store.remove(organizationId, removed.id))
          for (const [index, { gone }] of world.members.entries()) {
            const member = members[index]
            if (gone && member !== undefined) {
              yield* MemberStore.use((store) => store.remove(organizationId, member.id))
            }
          }
          const byStores = yield* Effect.provide(facts, CredentialFacts.layer)
          for (const key of keys) {
            const worth = (found: Option.Option<CredentialFacts.KeyFacts>) =>
              Option.flatMap(found, (one) => KeyAuthority.decide(one, now))
            assertSame(worth(yield* facts.use((of) => of.ofHash(key.hash))), worth(yield* byStores.ofHash(key.hash)))
          }
        }),
      { arbitrary: { runs: 40 } }
    )
  })
}
