/**
 * What every store of changes keeps to.
 */
import {
  Attribution,
  Change,
  ChangeId,
  ChangeNumber,
  ChangeStatus,
  type ChangeStatusName,
  ChangeTitle,
  statusName
} from "@castellan/core/change/Change"
import { ChangeStore, positionOf } from "@castellan/core/change/ChangeStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
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

const at = DateTime.makeUnsafe("2031-02-03T04:05:06.789Z")
const path = LibraryPath.make("docs/page.md")
const ana = Attribution.cases.Member.make({ memberId: Name.memberId("ana"), roles: [Name.roleId("writers")] })

/** Every status, with something in each of its fields. */
const statuses: { readonly [Status in ChangeStatusName]: ChangeStatus } = {
  draft: ChangeStatus.cases.Draft.make({}),
  open: ChangeStatus.cases.Open.make({}),
  reserved: ChangeStatus.cases.Reserved.make({ conflicts: [{ path, view: "both\n" }] }),
  approved: ChangeStatus.cases.Approved.make({
    merge: { commit: Name.gitRef("merge"), at, automatic: false, approvals: 2, required: 1 }
  }),
  denied: ChangeStatus.cases.Denied.make({ from: "Open", by: Name.memberId("bob"), at })
}

const autoApproved = ChangeStatus.cases.Approved.make({
  merge: { commit: Name.gitRef("merge"), at, automatic: true, approvals: 0, required: 1 }
})

interface Options {
  readonly status?: ChangeStatus
  /** Seconds after the first one. */
  readonly after?: number
  readonly title?: string
}

/** What becomes a change under the number that it is given. */
const sample = Effect.fnUntraced(function* (organizationId: OrganizationId, options: Options = {}) {
  const id = ChangeId.make(yield* Uuid.next)
  const createdAt = DateTime.add(at, { seconds: options.after ?? 0 })
  return (number: ChangeNumber): Change =>
    new Change({
      id,
      organizationId,
      number,
      author: ana,
      title: ChangeTitle.make(options.title ?? "A change"),
      description: "*Why*",
      status: options.status ?? statuses.open,
      changesets: [
        {
          revision: 1,
          gitRef: Name.gitRef("v1"),
          base: Name.gitRef("v0"),
          pusher: Attribution.cases.Unattributed.make({}),
          paths: [path],
          files: [
            {
              diff: {
                name: path,
                oldPath: "",
                newPath: path,
                additions: 1,
                deletions: 0,
                isNew: true,
                isDelete: false,
                isRename: false,
                isBinary: false
              },
              patch: "+text\n"
            }
          ],
          createdAt
        }
      ],
      approvals: [{ memberId: Name.memberId("bob"), gitRef: Name.gitRef("v1"), at, apiKeyId: Name.apiKeyId("bob") }],
      aiGenerated: true,
      createdAt,
      updatedAt: createdAt
    })
})

const all = { limit: 50, includeAutoApproved: true, visible: () => true }

/** Runs the contract of `ChangeStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ChangeStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "30 seconds" })(`ChangeStore (${name})`, (it) => {
    it.effect("knows nothing of what was never added", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const nobody = yield* Sample.organizationId
        assertSame(yield* store.get(nobody, ChangeId.make(yield* Uuid.next)), Option.none())
        assertSame(yield* store.numbered(nobody, ChangeNumber.make(1)), Option.none())
        assertSame(yield* store.list(nobody, all), { items: [] })
        assertSame(yield* store.counts(nobody, all), { draft: 0, open: 0, reserved: 0, approved: 0, denied: 0 })
      })
    )

    it.effect("finds a change by its id and by its number, whole, and for its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        for (const status of [...Object.values(statuses), autoApproved]) {
          const added = yield* store.add(ours, yield* sample(ours, { status }))
          assertSame(yield* store.get(ours, added.id), Option.some(added))
          assertSame(yield* store.numbered(ours, added.number), Option.some(added))
          assertSame(yield* store.get(theirs, added.id), Option.none())
          assertSame(yield* store.numbered(theirs, added.number), Option.none())
        }
      })
    )

    it.effect(
      "numbers the changes of each organization from 1 without a gap or a repeat, also those of one moment",
      () =>
        Effect.gen(function* () {
          const store = yield* ChangeStore
          const ours = yield* Sample.organizationId
          const theirs = yield* Sample.organizationId
          yield* store.add(theirs, yield* sample(theirs))
          const added = yield* Effect.forEach(
            Array.from({ length: 20 }, () => ours),
            (organizationId) => Effect.flatMap(sample(organizationId), (make) => store.add(organizationId, make)),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            added.map(({ number }) => Number(number)).toSorted((a, b) => a - b),
            Array.from({ length: 20 }, (_, index) => index + 1)
          )
          assert.strictEqual((yield* store.add(theirs, yield* sample(theirs))).number, 2)
        })
    )

    it.effect("replaces a change, whose number stays", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const first = yield* store.add(ours, yield* sample(ours))
        const [one] = first.changesets
        const saved = new Change({
          ...first,
          title: ChangeTitle.make("Another"),
          status: statuses.denied,
          changesets: [one, { ...one, revision: 2, gitRef: Name.gitRef("v2"), pusher: ana }],
          approvals: [],
          updatedAt: DateTime.add(at, { hours: 1 })
        })
        yield* store.save(saved)
        assertSame(yield* store.get(ours, first.id), Option.some(saved))
        assertSame(yield* store.numbered(ours, first.number), Option.some(saved))
        assert.lengthOf((yield* store.list(ours, all)).items, 1)
      })
    )

    it.effect(
      "lists newest first, by status, with and without what approved itself, as far as the reader sees it",
      () =>
        Effect.gen(function* () {
          const store = yield* ChangeStore
          const ours = yield* Sample.organizationId
          const kinds = [...Object.values(statuses), autoApproved]
          const added = yield* Effect.forEach(kinds, (status, after) =>
            Effect.flatMap(sample(ours, { status, after }), (make) => store.add(ours, make))
          )
          const numbers = (query: Partial<Parameters<typeof store.list>[1]>) =>
            Effect.map(store.list(ours, { ...all, ...query }), ({ items }) => items.map(({ number }) => Number(number)))
          assert.deepStrictEqual(yield* numbers({}), [6, 5, 4, 3, 2, 1])
          assert.deepStrictEqual(yield* numbers({ includeAutoApproved: false }), [5, 4, 3, 2, 1])
          assert.deepStrictEqual(yield* numbers({ statuses: ["approved", "draft"] }), [6, 4, 1])
          assert.deepStrictEqual(yield* numbers({ statuses: [] }), [])
          const visible = (change: Change): boolean => change.number % 2 === 0
          assert.deepStrictEqual(yield* numbers({ visible }), [6, 4, 2])
          assertSame(yield* store.counts(ours, all), { draft: 1, open: 1, reserved: 1, approved: 2, denied: 1 })
          assertSame(yield* store.counts(ours, { includeAutoApproved: false, visible }), {
            draft: 0,
            open: 1,
            reserved: 0,
            approved: 1,
            denied: 0
          })
          assert.deepStrictEqual(
            added.map(({ status }) => statusName(status)),
            [...Object.keys(statuses), "approved"]
          )
        })
    )

    it.effect("pages hold every change once, whatever arrives meanwhile, and of one moment by id", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const add = (after: number) => Effect.flatMap(sample(ours, { after }), (make) => store.add(ours, make))
        const early = yield* Effect.forEach([0, 1, 1, 1, 2], add)
        const first = yield* store.list(ours, { ...all, limit: 2 })
        yield* add(3)
        const seen = [...first.items]
        let next = first.next
        while (next !== undefined) {
          const page = yield* store.list(ours, { ...all, limit: 2, after: next })
          seen.push(...page.items)
          next = page.next
        }
        const expected = early.toSorted((a, b) => {
          const [one, two] = [positionOf(a), positionOf(b)]
          const byTime = DateTime.toEpochMillis(two.at) - DateTime.toEpochMillis(one.at)
          return byTime === 0 ? (one.id < two.id ? 1 : -1) : byTime
        })
        assertSame(seen, expected)
      })
    )
  })
}
