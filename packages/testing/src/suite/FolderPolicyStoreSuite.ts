/**
 * What every store of folder policies keeps to.
 */
import type { FolderPath } from "@castellan/core/folderpolicy/FolderPath"
import { FolderPolicy, Owner } from "@castellan/core/folderpolicy/FolderPolicy"
import { FolderPolicyStore } from "@castellan/core/folderpolicy/FolderPolicyStore"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import * as Name from "../policy/Name.ts"
import { assertSame } from "./Same.ts"

/** A policy of a folder with something in each of its fields. */
const sample = (organizationId: OrganizationId, path: FolderPath, requiredApprovals = 1): FolderPolicy =>
  new FolderPolicy({
    organizationId,
    path,
    owners: [
      Owner.cases.Member.make({ id: Name.memberId("ana") }),
      Owner.cases.Role.make({ id: Name.roleId("writers") })
    ],
    inheritOwners: false,
    requiredApprovals,
    distinctApprovers: true,
    authorRoles: [Name.roleId("writers")],
    autoApprove: [{ authorRoles: [Name.roleId("writers")], pathGlobs: ["docs/**", "a/?.md"] }],
    updatedAt: DateTime.makeUnsafe("2031-02-03T04:05:06.789Z")
  })

const docs = LibraryPath.make("docs")

/** Runs the contract of `FolderPolicyStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<FolderPolicyStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`FolderPolicyStore (${name})`, (it) => {
    it.effect("knows nothing of an organization without a policy", () =>
      Effect.gen(function* () {
        const store = yield* FolderPolicyStore
        const nobody = yield* Sample.organizationId
        assertSame(yield* store.list(nobody), [])
        assertSame(yield* store.get(nobody, docs), Option.none())
      })
    )

    it.effect("lists the policies of one organization by path, whole, the root's first", () =>
      Effect.gen(function* () {
        const store = yield* FolderPolicyStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const sub = sample(ours, LibraryPath.make("docs/sub"))
        const beside = sample(ours, LibraryPath.make("docs-private"))
        yield* Effect.forEach([sub, beside, sample(ours, docs), sample(ours, ""), sample(theirs, docs, 7)], store.save)
        assertSame(yield* store.list(ours), [sample(ours, ""), sample(ours, docs), beside, sub])
        assertSame(yield* store.get(ours, docs), Option.some(sample(ours, docs)))
        assertSame(yield* store.list(theirs), [sample(theirs, docs, 7)])
      })
    )

    it.effect("replaces the policy of a path, and removes it", () =>
      Effect.gen(function* () {
        const store = yield* FolderPolicyStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        yield* store.save(sample(ours, docs))
        yield* store.save(sample(theirs, docs))
        yield* store.save(sample(ours, docs, 3))
        assertSame(yield* store.list(ours), [sample(ours, docs, 3)])
        yield* store.remove(ours, docs)
        yield* store.remove(ours, docs)
        assertSame(yield* store.list(ours), [])
        assertSame(yield* store.list(theirs), [sample(theirs, docs)])
      })
    )

    it.effect("has another version after every save and removal, and never one that it had before", () =>
      Effect.gen(function* () {
        const store = yield* FolderPolicyStore
        const ours = yield* Sample.organizationId
        const seen = new Set<number>()
        const steps = [store.save(sample(ours, docs)), store.remove(ours, docs), store.save(sample(ours, docs))]
        for (const step of steps) {
          const before = yield* store.version(ours)
          assert.strictEqual(yield* store.version(ours), before)
          assert.isFalse(seen.has(before))
          seen.add(before)
          yield* step
        }
        assert.isFalse(seen.has(yield* store.version(ours)))
      })
    )
  })
}
