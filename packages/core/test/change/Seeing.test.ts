import { Principal } from "@castellan/core/access/Principal"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import * as Changes from "@castellan/core/change/Changes"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Review from "./Review.ts"
import { approve, as, codeOf, deny, propose, restore, see, submit } from "./Review.ts"
import { page, withDocs } from "./ReviewedDocs.ts"

it.layer(Review.layer)("Seeing", (it) => {
  it.effect("a change is there for its author and for owners of its paths, and for nobody else", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const stranger = yield* world.member()
      yield* world.policy("x", { members: [stranger] })
      const change = yield* propose(world.ana, page)
      const changes = yield* Changes.Changes
      const listed = (who: Principal) =>
        Effect.map(changes.list({ limit: 50, includeAutoApproved: false }).pipe(as(who)), ({ counts, items }) => [
          items.length,
          counts.open
        ])
      for (const who of [world.ana, world.bob, world.boss]) {
        assert.strictEqual(yield* codeOf(see(who, change)), "ok")
        assert.deepStrictEqual(yield* listed(who), [1, 1])
      }
      assert.deepStrictEqual(yield* listed(stranger), [0, 0])
      const verbs = [
        codeOf(see(stranger, change)),
        codeOf(approve(stranger, change)),
        codeOf(deny(stranger, change)),
        codeOf(restore(stranger, change)),
        codeOf(submit(stranger, change))
      ]
      for (const verb of verbs) assert.strictEqual(yield* verb, "not_found")
      const foreign = yield* Review.organization
      assert.strictEqual(yield* codeOf(see(foreign.boss, change)), "not_found")
    })
  )

  it.effect("a change of one end user is not there for another one behind the same member", () =>
    Effect.gen(function* () {
      const world = yield* Review.organization
      const account = yield* world.member()
      const speaksFor = (tenant: string) =>
        new Principal({
          ...account,
          restricted: true,
          clientMetadata: { text: JSON.stringify({ tenant }), attributes: { tenant } }
        })
      const change = yield* propose(speaksFor("a"), { write: { "new.md": "x" } }, { draft: true })
      assert.strictEqual(yield* codeOf(see(speaksFor("a"), change)), "ok")
      assert.strictEqual(yield* codeOf(see(speaksFor("b"), change)), "not_found")
      assert.strictEqual(yield* codeOf(submit(speaksFor("b"), change)), "not_found")
      assert.strictEqual(yield* codeOf(see(new Principal({ ...account, restricted: true }), change)), "not_found")
      assert.strictEqual(yield* codeOf(submit(new Principal({ ...account, restricted: false }), change)), "ok")
      const own = yield* propose(new Principal({ ...account, restricted: true }), { write: { "own.md": "x" } })
      assert.strictEqual(yield* codeOf(deny(new Principal({ ...account, restricted: true }), own)), "ok")
    })
  )

  it.effect("a reader is shown what it does to the paths that they own", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, { write: { "docs/page.md": "1", "x/hidden": "2" } })
      const names = (who: Principal) => Effect.map(see(who, change), ({ files }) => files.map(({ diff }) => diff.name))
      assert.deepStrictEqual(yield* names(world.bob), ["docs/page.md"])
      assert.deepStrictEqual(yield* names(world.ana), ["docs/page.md", "x/hidden"])
      assert.deepStrictEqual(yield* names(world.boss), ["docs/page.md", "x/hidden"])
    })
  )

  it.effect("a revision is shown by its number", () =>
    Effect.gen(function* () {
      const { ana, bob } = yield* withDocs()
      const change = yield* propose(ana, page)
      yield* propose(ana, { write: { "docs/page.md": "two\n" } }, { changeNumber: change.change.number })
      assert.strictEqual((yield* see(bob, change)).changeset.revision, 2)
      assert.include((yield* see(bob, change, 1)).files[0]?.patch, "+one")
      assert.strictEqual(yield* codeOf(see(bob, change, 3)), "not_found")
      assert.strictEqual(yield* codeOf(see(bob, change, 0)), "invalid_request")
    })
  )

  it.effect("a list is by status, in pages, with the counts of all, without what approved itself unless asked", () =>
    Effect.gen(function* () {
      const world = yield* withDocs({ autoApprove: [{ pathGlobs: ["docs/auto/*"] }] })
      const { ana, bob } = world
      const numbers: Array<number> = []
      for (let index = 0; index < 5; index += 1) {
        numbers.unshift(
          (yield* propose(ana, { write: { [`docs/${index}`]: "x" } }, { draft: index === 4 })).change.number
        )
        yield* TestClock.adjust("1 second")
      }
      yield* propose(ana, { write: { "docs/auto/1": "x" } })
      const changes = yield* Changes.Changes
      const list = (query: Partial<Parameters<typeof changes.list>[0]>) =>
        changes.list({ limit: 50, includeAutoApproved: false, ...query }).pipe(as(bob))
      const all = yield* list({})
      assert.deepStrictEqual(
        all.items.map(({ change }) => Number(change.number)),
        numbers
      )
      assert.deepStrictEqual(all.counts, { draft: 1, open: 4, reserved: 0, approved: 0, denied: 0 })
      assert.strictEqual((yield* list({ includeAutoApproved: true })).counts.approved, 1)
      assert.lengthOf((yield* list({ statuses: ["draft", "denied"] })).items, 1)

      const first = yield* list({ limit: 2 })
      yield* propose(ana, { write: { "docs/later": "x" } })
      const seen = first.items.map(({ change }) => Number(change.number))
      let next = first.next
      while (next !== undefined) {
        const more = yield* list({ limit: 2, after: next })
        seen.push(...more.items.map(({ change }) => Number(change.number)))
        next = more.next
      }
      assert.deepStrictEqual(seen, numbers)
    })
  )

  it.effect("capabilities are what the use cases do", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const change = yield* propose(world.ana, page)
      const of = (who: Principal) => Effect.map(see(who, change), ({ capabilities }) => capabilities)
      assert.deepStrictEqual(yield* of(world.ana), {
        canApprove: false,
        canDeny: true,
        canRestore: false,
        callerApproved: false
      })
      assert.deepStrictEqual(yield* of(world.bob), {
        canApprove: true,
        canDeny: true,
        canRestore: false,
        callerApproved: false
      })
      yield* deny(world.bob, change)
      assert.deepStrictEqual(yield* of(world.ana), {
        canApprove: false,
        canDeny: false,
        canRestore: true,
        callerApproved: false
      })
    })
  )
})

it.layer(Review.layer)("On the record", (it) => {
  const record = (world: { readonly organizationId: Principal["organizationId"] }) =>
    AuditStore.use((audit) => audit.list(world.organizationId, { limit: 50, targetType: "change" })).pipe(
      Effect.map(({ items }) => items.map(({ action, outcome }) => `${action} ${outcome._tag}`).toSorted())
    )

  it.effect("is everything that was done to a change, in the same transaction, and every refusal", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const { ana, bob } = world
      const change = yield* propose(ana, page, { draft: true })
      yield* codeOf(approve(ana, change))
      yield* submit(ana, change)
      yield* deny(ana, change)
      yield* restore(ana, change)
      const revised = yield* propose(ana, page, { changeNumber: change.change.number })
      yield* approve(bob, revised)
      assert.deepStrictEqual(yield* record(world), [
        "approve Refused",
        "approve Succeeded",
        "create Succeeded",
        "deny Succeeded",
        "merge Succeeded",
        "restore Succeeded",
        "revise Succeeded",
        "submit Succeeded"
      ])
    })
  )

  it.effect("is nothing of what a conflict undid, and the reserving that it left", () =>
    Effect.gen(function* () {
      const world = yield* withDocs()
      const late = yield* propose(world.ana, page)
      yield* codeOf(approve(world.bob, late, "0".repeat(40)))
      assert.deepStrictEqual(yield* record(world), ["create Succeeded"])
      yield* approve(world.bob, yield* propose(world.cleo, { write: { "docs/page.md": "first\n" } }))
      yield* codeOf(approve(world.bob, late))
      assert.include(yield* record(world), "update Succeeded")
    })
  )
})
