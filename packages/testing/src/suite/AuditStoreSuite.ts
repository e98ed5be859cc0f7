/**
 * What every store of the audit log keeps to.
 */
import { Credential, Principal } from "@castellan/core/access/Principal"
import { type AuditEvent, AuditOutcome } from "@castellan/core/audit/AuditEvent"
import { type AuditQuery, AuditStore } from "@castellan/core/audit/AuditStore"
import { SessionId } from "@castellan/core/session/SessionId"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { assert, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AdministrationSample from "../fixture/AdministrationSample.ts"
import { layerCrypto } from "../fixture/Deployment.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

const at = (second: number): DateTime.Utc => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + second * 1000)

/** Runs the contract of `AuditStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<AuditStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`AuditStore (${name})`, (it) => {
    const actor = Effect.flatMap(Sample.organizationId, (id) => Sample.principal(id))

    /** Every page of a query, one after the other. */
    const pages = Effect.fnUntraced(function* (of: Principal, query: AuditQuery) {
      const store = yield* AuditStore
      const found: Array<ReadonlyArray<AuditEvent>> = []
      let slice = yield* store.list(of.organizationId, query)
      found.push(slice.items)
      while (slice.next !== undefined) {
        assert.isAtMost(found.length, 100, "there is an end")
        slice = yield* store.list(of.organizationId, { ...query, after: slice.next })
        found.push(slice.items)
      }
      return found
    })

    it.effect("lists nothing of an organization in which nothing happened", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        assertSame(yield* store.list(yield* Sample.organizationId, { limit: 10 }), { items: [] })
      })
    )

    it.effect("gives back an event with all that it says", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const organization = yield* Sample.organizationId
        const role = yield* Sample.role(organization)
        const maker = yield* Sample.principal(organization, {
          roles: [role],
          clientMetadata: { text: '{"tenant":"a","n":1}', attributes: { tenant: "a", n: 1 } }
        })
        const session = new Principal({
          ...maker,
          credential: Credential.cases.Session.make({ id: SessionId.make(yield* Uuid.next) })
        })
        const full = yield* AdministrationSample.auditEvent(maker, {
          at: at(2),
          action: "update",
          target: { type: "role" },
          before: { name: "Żółć", permissions: ["chat:read"], nested: { a: [1, null, true] } },
          after: null,
          outcome: AuditOutcome.cases.Refused.make({ message: "admin role required" }),
          requestId: "request-1",
          address: "2001:db8::1"
        })
        const plain = yield* AdministrationSample.auditEvent(session, { at: at(1) })
        yield* store.append(plain)
        yield* store.append(full)
        assertSame(yield* store.list(organization, { limit: 10 }), { items: [full, plain] })
      })
    )

    it.effect("never lists an event of another organization", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const [ours, theirs] = [yield* actor, yield* actor]
        yield* store.append(yield* AdministrationSample.auditEvent(theirs))
        assertSame(yield* store.list(ours.organizationId, { limit: 10 }), { items: [] })
      })
    )

    it.effect("lists newest first, ties by id, in pages that neither repeat nor hide", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const one = yield* actor
        const events = yield* Effect.forEach([3, 1, 2, 2, 2, 5, 4], (second) =>
          AdministrationSample.auditEvent(one, { at: at(second) })
        )
        yield* Effect.forEach(events, store.append)
        const expected = events.toSorted(
          (a, b) => DateTime.toEpochMillis(b.at) - DateTime.toEpochMillis(a.at) || (a.id < b.id ? 1 : -1)
        )
        for (const limit of [1, 2, 3, 7, 100]) {
          const found = yield* pages(one, { limit })
          assertSame(found.flat(), expected)
          assert.isTrue(found.slice(0, -1).every((page) => page.length === limit))
          assert.notStrictEqual(found.at(-1)?.length, 0, "no page is empty")
        }
      })
    )

    it.effect("what arrives while somebody pages neither repeats nor hides anything", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const one = yield* actor
        const events = yield* Effect.forEach([4, 3, 2, 1], (second) =>
          AdministrationSample.auditEvent(one, { at: at(second) })
        )
        yield* Effect.forEach(events, store.append)
        const first = yield* store.list(one.organizationId, { limit: 2 })
        yield* store.append(yield* AdministrationSample.auditEvent(one, { at: at(9) }))
        assert.isDefined(first.next)
        const rest = yield* store.list(one.organizationId, {
          limit: 2,
          ...(first.next === undefined ? {} : { after: first.next })
        })
        assertSame([...first.items, ...rest.items], events)
        assert.isUndefined(rest.next)
      })
    )

    it.effect("keeps any text, and finds a target by just its own id", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const one = yield* actor
        const ids = ["a\u0000b", "ab", "a\ud800", "a\udbff", "a\ufffd", 'a"\\u0000', "x".repeat(1000)]
        const events = yield* Effect.forEach(ids, (id, index) =>
          AdministrationSample.auditEvent(one, {
            at: at(index),
            target: { type: "library", id },
            after: { text: id, "k\u0000": ["\udfff"] }
          })
        )
        yield* Effect.forEach(events, store.append)
        for (const [index, targetId] of ids.entries()) {
          const found = yield* store.list(one.organizationId, { targetId, limit: 10 })
          assertSame(found.items, events.slice(index, index + 1))
        }
      })
    )

    it.effect("many append at once, and none is lost", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const one = yield* actor
        const events = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          AdministrationSample.auditEvent(one, { at: at(1) })
        )
        yield* Effect.forEach(events, store.append, { concurrency: "unbounded", discard: true })
        const found = yield* pages(one, { limit: 7 })
        assertSame(
          found.flat().map((event) => event.id),
          events
            .map((event) => event.id)
            .toSorted()
            .toReversed()
        )
      })
    )

    it.effect("lists what each filter asks for, and what all of them ask for together", () =>
      Effect.gen(function* () {
        const store = yield* AuditStore
        const one = yield* actor
        const other = new Principal({ ...one, memberId: yield* Sample.memberId })
        const id = yield* Uuid.next
        const refused = AuditOutcome.cases.Refused.make({ message: "no" })
        const [a, b, c, d] = yield* Effect.all([
          AdministrationSample.auditEvent(one, { at: at(1), action: "create", target: { type: "role", id } }),
          AdministrationSample.auditEvent(one, { at: at(2), action: "mint", target: { type: "api_key", id } }),
          AdministrationSample.auditEvent(other, { at: at(3), action: "create", target: { type: "role" } }),
          AdministrationSample.auditEvent(other, { at: at(4), action: "create", outcome: refused })
        ])
        yield* Effect.forEach([a, b, c, d], store.append)
        const cases: ReadonlyArray<readonly [Omit<AuditQuery, "limit">, ReadonlyArray<AuditEvent>]> = [
          [{}, [d, c, b, a]],
          [{ action: "create" }, [d, c, a]],
          [{ action: "delete" }, []],
          [{ targetType: "role" }, [d, c, a]],
          [{ targetId: id }, [b, a]],
          [{ memberId: other.memberId }, [d, c]],
          [{ outcome: "Refused" }, [d]],
          [{ outcome: "Succeeded" }, [c, b, a]],
          [{ from: at(2) }, [d, c, b]],
          [{ until: at(2) }, [a]],
          [{ from: at(2), until: at(4) }, [c, b]],
          [{ action: "create", memberId: one.memberId, targetType: "role", targetId: id, from: at(1) }, [a]]
        ]
        for (const [query, expected] of cases) {
          assertSame((yield* store.list(one.organizationId, { ...query, limit: 10 })).items, expected)
          assertSame((yield* pages(one, { ...query, limit: 1 })).flat(), expected)
        }
      })
    )
  })
}
