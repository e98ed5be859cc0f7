/**
 * What every store of row policies keeps to.
 */
import { ConnectorId } from "@castellan/core/connector/Connector"
import { RowPolicy, type RowPredicate } from "@castellan/core/rowpolicy/RowPolicy"
import { RowPolicyStore } from "@castellan/core/rowpolicy/RowPolicyStore"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { layerCrypto } from "../fixture/Deployment.ts"
import { equals, rowPolicy } from "../fixture/RowPolicySample.ts"
import * as Sample from "../fixture/Sample.ts"
import { assertSame } from "./Same.ts"

/** A predicate of every kind, with every kind of operand. */
const everyKind: RowPredicate = {
  _tag: "All",
  predicates: [
    equals("a", "region"),
    { _tag: "Not", predicate: { _tag: "IsNull", column: 'quoted "b"' } },
    {
      _tag: "Any",
      predicates: [
        {
          _tag: "OneOf",
          column: "c",
          values: [
            { _tag: "Constant", value: "x' OR 1=1 --" },
            { _tag: "Constant", value: 1.5 },
            { _tag: "Constant", value: false },
            { _tag: "Attribute", field: "level" }
          ]
        },
        { _tag: "Compare", column: "d", comparison: "<=", with: { _tag: "Constant", value: -1 } },
        { _tag: "All", predicates: [] }
      ]
    }
  ]
}

/** Runs the contract of `RowPolicyStore` against an adapter. */
export const suite = <E>(name: string, layer: Layer.Layer<RowPolicyStore, E>): void => {
  it.layer(Layer.mergeAll(layer, layerCrypto), { timeout: "180 seconds" })(`RowPolicyStore (${name})`, (it) => {
    it.effect("lists the policies of one connector of one organization, in the order of their ids", () =>
      Effect.gen(function* () {
        const store = yield* RowPolicyStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const one = ConnectorId.make(1)
        const [first, second, elsewhere, foreign] = yield* Effect.all([
          rowPolicy(ours),
          rowPolicy(ours, { table: "orders" }),
          rowPolicy(ours, { connectorId: 2 }),
          rowPolicy(theirs)
        ])
        assertSame(yield* store.list(ours, one), [])
        yield* Effect.forEach([second, foreign, elsewhere, first], store.save)
        assertSame(
          yield* store.list(ours, one),
          [first, second].toSorted((a, b) => (a.id < b.id ? -1 : 1))
        )
        assertSame(yield* store.list(ours, ConnectorId.make(2)), [elsewhere])
        assertSame(yield* store.get(ours, first.id), Option.some(first))
        assertSame(yield* store.get(theirs, first.id), Option.none())
      })
    )

    it.effect("keeps every kind of predicate, and replaces a policy", () =>
      Effect.gen(function* () {
        const store = yield* RowPolicyStore
        const organization = yield* Sample.organizationId
        const role = yield* Sample.role(organization)
        const policy = yield* rowPolicy(organization)
        yield* store.save(policy)
        const changed = new RowPolicy({
          ...policy,
          table: 'main."my file.csv"',
          attributes: { region: "text", level: "integer", share: "number", paid: "boolean" },
          predicate: everyKind,
          exemptRoles: [role.id]
        })
        yield* store.save(changed)
        assertSame(yield* store.list(organization, policy.connectorId), [changed])
      })
    )

    it.effect("removes a policy of its own organization alone", () =>
      Effect.gen(function* () {
        const store = yield* RowPolicyStore
        const [ours, theirs] = [yield* Sample.organizationId, yield* Sample.organizationId]
        const [gone, stays] = [yield* rowPolicy(ours), yield* rowPolicy(ours)]
        yield* Effect.forEach([gone, stays], store.save)
        yield* store.remove(theirs, gone.id)
        assertSame(yield* store.get(ours, gone.id), Option.some(gone))
        yield* store.remove(ours, gone.id)
        yield* store.remove(ours, gone.id)
        assertSame(yield* store.list(ours, gone.connectorId), [stays])
      })
    )
  })
}
