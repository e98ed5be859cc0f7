/**
 * What every store of playbooks keeps to.
 */
import { creatorOf } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { Playbook, type PlaybookConfiguration, PlaybookStatus } from "@castellan/core/playbook/Playbook"
import { type PlaybookQuery, PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { ChatChannelId, ChatUserId } from "@castellan/core/delivery/Delivery"
import { EmailAddress } from "@castellan/core/member/EmailAddress"
import { CronText, TimeZoneName } from "@castellan/core/schedule/Cron"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AutomationSample from "../fixture/AutomationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const at = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)
const now = at("2030-06-01T00:00:00.000Z")

const full: PlaybookConfiguration = {
  name: "Ünï 100%_ \\ 'quoted'",
  prompt: "How did\nsales go? 🚀",
  connectorIds: [ConnectorId.make(2), ConnectorId.make(1)],
  cron: CronText.make("*/5 8-18 * * MON-FRI"),
  timeZone: TimeZoneName.make("America/Argentina/Buenos_Aires"),
  emailAddresses: [EmailAddress.make("Ann@example.org"), EmailAddress.make("bob@example.org")],
  chatChannelId: ChatChannelId.make("C024BE91L"),
  taggedChatUserIds: [ChatUserId.make("U1")],
  datasetIds: ["d2", "d1"],
  selectedTemplateDataIds: ["t"]
}

/** Runs the contract of `PlaybookStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<PlaybookStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`PlaybookStore (${name})`, (it) => {
    const newReader = Effect.flatMap(Sample.organizationId, (id) => Sample.principal(id))

    const kept = (maker: Principal, given?: AutomationSample.PlaybookOptions) =>
      Effect.tap(AutomationSample.playbook(maker, given), (made) => PlaybookStore.use((store) => store.save(made)))

    const listed = (reader: Principal, more: Partial<PlaybookQuery> = {}) =>
      PlaybookStore.use((store) =>
        Effect.map(
          store.list({ reader, now, limit: 100, offset: 0, sortBy: "created_at", sortDirection: "asc", ...more }),
          ({ items, totalCount }) => ({ ids: items.map((one) => one.id), totalCount })
        )
      )

    it.effect("gives back what was saved, in every status, and replaces it whole", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookStore
        const reader = yield* newReader
        const moment = at("2030-01-01T00:00:00.001Z")
        const statuses = [
          PlaybookStatus.cases.Draft.make({}),
          PlaybookStatus.cases.Deployed.make({ deployedAt: moment }),
          PlaybookStatus.cases.Deleted.make({ deletedAt: moment })
        ]
        for (const status of statuses) {
          const playbook = yield* kept(reader, { configuration: full, status, access: Sample.everyone })
          assertSame(yield* store.get(reader.organizationId, playbook.id), Option.some(playbook))
          const emptied = yield* AutomationSample.playbook(reader)
          const replaced = new Playbook({ ...emptied, id: playbook.id })
          yield* store.save(replaced)
          assertSame(yield* store.get(reader.organizationId, playbook.id), Option.some(replaced))
        }
      })
    )

    it.effect("keeps any text as it is, also one that is not whole, and finds the playbook by the rest of it", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookStore
        const reader = yield* newReader
        const configuration = { name: "a\u0000B \ud800", prompt: '\udc00 "x"\\n\n\u0000' }
        const playbook = yield* kept(reader, { configuration })
        assertSame(yield* store.get(reader.organizationId, playbook.id), Option.some(playbook))
        for (const searchTerm of ["b", "\u0000b", '"X"', "\\N"]) {
          assert.deepStrictEqual(
            yield* listed(reader, { searchTerm }),
            { ids: [playbook.id], totalCount: 1 },
            searchTerm
          )
        }
        assert.deepStrictEqual(yield* listed(reader, { searchTerm: "x\n" }), { ids: [], totalCount: 0 })
      })
    )

    it.effect("has nothing for another organization", () =>
      Effect.gen(function* () {
        const store = yield* PlaybookStore
        const [ours, theirs] = [yield* newReader, yield* newReader]
        const playbook = yield* kept(ours, { access: Sample.everyone })
        assert.isTrue(Option.isNone(yield* store.get(theirs.organizationId, playbook.id)))
        assert.deepStrictEqual(yield* listed(theirs), { ids: [], totalCount: 0 })
      })
    )

    it.effect("lists what the reader may read, and never what is deleted", () =>
      Effect.gen(function* () {
        const reader = yield* newReader
        const other = yield* Sample.principal(reader.organizationId)
        const role = yield* Sample.role(reader.organizationId)
        const holder = yield* Sample.principal(reader.organizationId, { roles: [role] })
        const own = yield* kept(reader)
        const open = yield* kept(other, { access: Sample.everyone })
        const byRole = yield* kept(other, {
          access: {
            isPublic: false,
            grants: [
              { grantee: { _tag: "Role", id: role.id }, accessType: "viewer" },
              { grantee: { _tag: "Member", id: reader.memberId }, accessType: "viewer", expiresAt: now }
            ],
            creator: creatorOf(other)
          }
        })
        yield* kept(reader, { status: PlaybookStatus.cases.Deleted.make({ deletedAt: now }) })
        const sorted = (...ids: ReadonlyArray<string>) => ids.toSorted()
        assert.deepStrictEqual((yield* listed(reader)).ids.toSorted(), sorted(own.id, open.id))
        assert.deepStrictEqual((yield* listed(holder)).ids.toSorted(), sorted(open.id, byRole.id))
        const before = yield* listed(reader, { now: DateTime.subtract(now, { seconds: 1 }) })
        assert.deepStrictEqual(before.ids.toSorted(), sorted(own.id, open.id, byRole.id))
      })
    )

    it.effect("narrows by status and by a substring of name or prompt, whatever its case and its signs", () =>
      Effect.gen(function* () {
        const reader = yield* newReader
        const first = yield* kept(reader, { configuration: full })
        const second = yield* kept(reader, {
          configuration: { ...full, name: "Costs 100x", prompt: "plain" },
          status: PlaybookStatus.cases.Deployed.make({ deployedAt: now })
        })
        const find = (searchTerm: string) => Effect.map(listed(reader, { searchTerm }), ({ ids }) => ids)
        assert.deepStrictEqual(yield* find("ÜNÏ"), [first.id])
        assert.deepStrictEqual(yield* find("100%_"), [first.id])
        assert.deepStrictEqual(yield* find("\\ 'Q"), [first.id])
        assert.deepStrictEqual(yield* find("SALES GO"), [first.id])
        assert.deepStrictEqual(yield* find("PLAIN"), [second.id])
        assert.deepStrictEqual((yield* find("100")).toSorted(), [first.id, second.id].toSorted())
        assert.deepStrictEqual(yield* find("nothing like it"), [])
        assert.deepStrictEqual((yield* listed(reader, { status: "Draft" })).ids, [first.id])
        assert.deepStrictEqual((yield* listed(reader, { status: "Deployed" })).ids, [second.id])
      })
    )

    it.effect("sorts by each key in each direction, breaks ties by id, and pages without a gap or a repeat", () =>
      Effect.gen(function* () {
        const reader = yield* newReader
        const made = yield* Effect.forEach(
          Array.from({ length: 13 }, (_, index) => index),
          (index) =>
            kept(reader, {
              configuration: { name: ["beta", "Alpha", "alpha", "gamma"][index % 4] ?? "" },
              createdAt: at(`2030-01-0${1 + (index % 3)}T00:00:00.00${index % 2}Z`),
              updatedAt: at(`2030-02-0${1 + (index % 5)}T00:00:00.000Z`)
            })
        )
        const key = (playbook: Playbook, sortBy: PlaybookQuery["sortBy"]): string =>
          sortBy === "name"
            ? playbook.configuration.name
            : DateTime.formatIso(sortBy === "created_at" ? playbook.createdAt : playbook.updatedAt)
        for (const sortBy of ["name", "created_at", "updated_at"] as const) {
          const ascending = made
            .toSorted((a, b) => {
              const [left, right] = [key(a, sortBy), key(b, sortBy)]
              return left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1
            })
            .map((playbook) => playbook.id)
          for (const sortDirection of ["asc", "desc"] as const) {
            const expected = sortDirection === "asc" ? ascending : ascending.toReversed()
            const paged: Array<string> = []
            for (let offset = 0; offset < 15; offset += 5) {
              const page = yield* listed(reader, { sortBy, sortDirection, limit: 5, offset })
              assert.strictEqual(page.totalCount, 13)
              paged.push(...page.ids)
            }
            assert.deepStrictEqual(paged, expected, `${sortBy} ${sortDirection}`)
          }
        }
      })
    )
  })
}
