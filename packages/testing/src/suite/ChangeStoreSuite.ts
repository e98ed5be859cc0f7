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
import * as ChangeReader from "@castellan/core/change/ChangeReader"
import { ChangeStore, positionOf } from "@castellan/core/change/ChangeStore"
import { keyOf } from "@castellan/core/folderpolicy/OwnedRanges"
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
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
  readonly author?: Attribution
  readonly paths?: ReadonlyArray<string>
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
      author: options.author ?? ana,
      title: ChangeTitle.make(options.title ?? "A change"),
      description: "*Why*",
      status: options.status ?? statuses.open,
      changesets: [
        {
          revision: 1,
          gitRef: Name.gitRef("v1"),
          base: Name.gitRef("v0"),
          pusher: Attribution.cases.Unattributed.make({}),
          paths: options.paths?.map((one) => LibraryPath.make(one)) ?? [path],
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

const all = { limit: 50, includeAutoApproved: true, reader: ChangeReader.administrator }

/** A member who owns these folders, and nothing beside. */
const owner = (folders: ReadonlyArray<string>, author: Partial<ReaderAuthor> = {}): ChangeReader.ChangeReader => ({
  _tag: "Member",
  author: { memberId: Name.memberId("cleo"), restricted: false, ...author },
  owned: folders.map((folder) => ({ from: keyOf(folder), before: `${keyOf(folder).slice(0, -1)}0` }))
})
type ReaderAuthor = Extract<ChangeReader.ChangeReader, { readonly _tag: "Member" }>["author"]

/** What the key of an end user says. */
const client = (attributes: ClientMetadata["attributes"]): ClientMetadata => ({
  text: JSON.stringify(attributes),
  attributes
})

/** Runs the contract of `ChangeStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<ChangeStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`ChangeStore (${name})`, (it) => {
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
        yield* store.replace(first, saved)
        assertSame(yield* store.get(ours, first.id), Option.some(saved))
        assertSame(yield* store.numbered(ours, first.number), Option.some(saved))
        assert.lengthOf((yield* store.list(ours, all)).items, 1)
      })
    )

    it.effect("lists newest first, by status, with and without what approved itself", () =>
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
        assertSame(yield* store.counts(ours, all), { draft: 1, open: 1, reserved: 1, approved: 2, denied: 1 })
        assertSame(yield* store.counts(ours, { ...all, includeAutoApproved: false }), {
          draft: 1,
          open: 1,
          reserved: 1,
          approved: 1,
          denied: 1
        })
        assert.deepStrictEqual(
          added.map(({ status }) => statusName(status)),
          [...Object.keys(statuses), "approved"]
        )
      })
    )

    it.effect("L2 lists and counts what a member owns a path of, and what they wrote", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const by = (who: string, clientMetadata?: ClientMetadata): Attribution =>
          Attribution.cases.Member.make({
            memberId: Name.memberId(who),
            roles: [],
            ...(clientMetadata === undefined ? {} : { clientMetadata })
          })
        const user = client({ user: "1", team: 2 })
        const made: ReadonlyArray<Options> = [
          { paths: ["docs/a"] },
          { paths: ["docs-private/a", "docs!/x"], status: statuses.denied },
          { paths: ["docs"], status: autoApproved },
          { paths: ["elsewhere/x", "docs/sub/y"], status: statuses.approved },
          { paths: ["elsewhere/x"], author: by("cleo") },
          { paths: ["elsewhere/y"], author: by("cleo", user), status: statuses.draft },
          { paths: ["elsewhere/y"], author: by("cleo", client({})) },
          { paths: ["docs/mine"], author: by("cleo", user) },
          { paths: ["docs0/x"], author: Attribution.cases.Unattributed.make({}) }
        ]
        yield* Effect.forEach(made, (options, after) =>
          Effect.flatMap(sample(ours, { ...options, after }), (make) => store.add(ours, make))
        )
        const seen = Effect.fnUntraced(function* (reader: ChangeReader.ChangeReader, limit = 50) {
          const found: Array<number> = []
          let after: Parameters<typeof store.list>[1]["after"]
          do {
            const page = yield* store.list(ours, { ...all, reader, limit, ...(after === undefined ? {} : { after }) })
            found.push(...page.items.map(({ number }) => Number(number)))
            after = page.next
          } while (after !== undefined)
          return found
        })
        assert.deepStrictEqual(yield* seen(owner([])), [8, 7, 6, 5])
        assert.deepStrictEqual(yield* seen(owner(["docs"])), [8, 7, 6, 5, 4, 3, 1])
        assert.deepStrictEqual(yield* seen(owner(["docs"]), 2), [8, 7, 6, 5, 4, 3, 1])
        assert.deepStrictEqual(yield* seen(owner([""])), [9, 8, 7, 6, 5, 4, 3, 2, 1])
        assert.deepStrictEqual(yield* seen(owner(["docs/sub", "docs-private"])), [8, 7, 6, 5, 4, 2])
        assert.deepStrictEqual(yield* seen(owner(["docs"], { memberId: Name.memberId("bob") })), [8, 4, 3, 1])
        // A key that speaks for an end user is the author of what was made for that one, and for nobody.
        const restricted = { restricted: true } as const
        assert.deepStrictEqual(yield* seen(owner([], restricted)), [7, 5])
        const same = client({ team: 2, user: "1" })
        assert.deepStrictEqual(yield* seen(owner([], { ...restricted, clientMetadata: same })), [8, 7, 6, 5])
        const another = client({ team: 2, user: "2" })
        assert.deepStrictEqual(yield* seen(owner([], { ...restricted, clientMetadata: another })), [7, 5])

        const counts = (reader: ChangeReader.ChangeReader, includeAutoApproved = true) =>
          store.counts(ours, { reader, includeAutoApproved })
        assertSame(yield* counts(owner(["docs"])), { draft: 1, open: 4, reserved: 0, approved: 2, denied: 0 })
        assertSame(yield* counts(owner(["docs"]), false), { draft: 1, open: 4, reserved: 0, approved: 1, denied: 0 })
        assertSame(yield* counts(owner([], restricted)), { draft: 0, open: 2, reserved: 0, approved: 0, denied: 0 })
      })
    )

    it.effect("finds a change by the paths of its latest revision alone", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const added = yield* store.add(ours, yield* sample(ours, { paths: ["old/a", "both/b"] }))
        const [one] = added.changesets
        const next = { ...one, revision: 2, gitRef: Name.gitRef("v2"), paths: [LibraryPath.make("both/b"), path] }
        const revised = new Change({ ...added, changesets: [one, next], approvals: [] })
        yield* store.replace(added, revised)
        const found = (folder: string) =>
          Effect.map(store.list(ours, { ...all, reader: owner([folder]) }), ({ items }) => items)
        assertSame(yield* found("old"), [])
        assertSame(yield* found("both"), [revised])
        assertSame(yield* found("docs"), [revised])
      })
    )

    it.effect("replaces a change that still is what it was, and no other", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const added = yield* store.add(ours, yield* sample(ours, { status: statuses.open }))
        const [one] = added.changesets
        const [approval] = added.approvals
        const others: ReadonlyArray<Change> = [
          new Change({ ...added, status: statuses.draft }),
          new Change({ ...added, changesets: [one, { ...one, revision: 2, gitRef: Name.gitRef("v2") }] }),
          new Change({ ...added, changesets: [{ ...one, gitRef: Name.gitRef("v3") }] }),
          new Change({ ...added, approvals: [] }),
          new Change({ ...added, approvals: approval === undefined ? [] : [approval, approval] }),
          new Change({ ...added, organizationId: theirs }),
          new Change({ ...added, id: ChangeId.make(yield* Uuid.next) })
        ]
        const denied = new Change({ ...added, status: statuses.denied })
        for (const before of others) {
          const error = yield* Effect.flip(store.replace(before, new Change({ ...before, status: statuses.denied })))
          assert.strictEqual(error._tag, "ChangeMoved")
        }
        assertSame(yield* store.get(ours, added.id), Option.some(added))
        yield* store.replace(added, denied)
        const late = yield* Effect.flip(store.replace(added, new Change({ ...added, title: ChangeTitle.make("Late") })))
        assert.strictEqual(late.id, added.id)
        assertSame(yield* store.get(ours, added.id), Option.some(denied))
        assertSame(yield* store.counts(ours, all), { draft: 0, open: 0, reserved: 0, approved: 0, denied: 1 })
      })
    )

    it.effect("counts what becomes of a change in its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const theirs = yield* Sample.organizationId
        const none = { draft: 0, open: 0, reserved: 0, approved: 0, denied: 0 }
        yield* store.add(theirs, yield* sample(theirs))
        const added = yield* store.add(ours, yield* sample(ours))
        assertSame(yield* store.counts(theirs, all), { ...none, open: 1 })
        yield* store.replace(added, new Change({ ...added, status: statuses.denied }))
        assertSame(yield* store.counts(ours, all), { ...none, denied: 1 })
        assertSame(yield* store.counts(theirs, all), { ...none, open: 1 })
      })
    )

    it.effect("of several that replace the same change, one succeeds", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const added = yield* store.add(ours, yield* sample(ours))
        const nexts = [statuses.draft, statuses.denied, statuses.reserved, statuses.approved].map(
          (status) => new Change({ ...added, status })
        )
        const outcomes = yield* Effect.forEach(nexts, (next) => Effect.result(store.replace(added, next)), {
          concurrency: "unbounded"
        })
        const winners = nexts.filter((_, index) => outcomes[index]?._tag === "Success")
        assertSame(Option.toArray(yield* store.get(ours, added.id)), winners)
        const none = { draft: 0, open: 0, reserved: 0, approved: 0, denied: 0 }
        const [winner] = winners
        assert.isDefined(winner)
        assertSame(yield* store.counts(ours, all), { ...none, ...(winner && { [statusName(winner.status)]: 1 }) })
      })
    )

    it.effect("keeps texts to the letter, NUL and half a surrogate pair too", () =>
      Effect.gen(function* () {
        const store = yield* ChangeStore
        const ours = yield* Sample.organizationId
        const make = yield* sample(ours, {
          author: Attribution.cases.Member.make({
            memberId: Name.memberId("ana"),
            roles: [],
            clientMetadata: client({ "a\u0000": "\ud800" })
          })
        })
        const added = yield* store.add(ours, (number) => {
          const { changesets, ...change } = make(number)
          const [one] = changesets
          const [file] = one.files
          return new Change({
            ...change,
            description: "a\u0000b\ud800",
            changesets: [{ ...one, files: file === undefined ? [] : [{ ...file, patch: "+\u0000\udfff\n" }] }]
          })
        })
        assertSame(yield* store.get(ours, added.id), Option.some(added))
        assertSame((yield* store.list(ours, all)).items, [added])
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
