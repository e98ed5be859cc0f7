/**
 * The use cases of connectors.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §4 and §5.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readable } from "../access/AccessPolicy.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import { CurrentPrincipal, type Principal } from "../access/Principal.ts"
import { type NotFound, PermissionDenied } from "../error/Failure.ts"
import type { Connector, ConnectorId } from "./Connector.ts"
import { ConnectorStore } from "./ConnectorStore.ts"

/** An unknown connector and a forbidden one read the same, so that nothing is disclosed. */
const notPermitted = (id: ConnectorId) =>
  new PermissionDenied({ message: `permission denied: connector ${id} is not available to you` })

/** The use cases of connectors. */
export class Connectors extends Context.Service<
  Connectors,
  {
    /** The connectors that the caller may use. */
    readonly list: Effect.Effect<ReadonlyArray<Connector>, PermissionDenied | NotFound, CurrentPrincipal>
    /** The connectors that a principal may query now; only those of `ids` where they are given, and all of them. */
    readonly usableBy: (
      principal: Principal,
      ids: ReadonlyArray<ConnectorId> | undefined
    ) => Effect.Effect<ReadonlyArray<Connector>, PermissionDenied>
  }
>()("@castellan/core/connector/Connectors") {}

/** The use cases over a store of connectors. */
export const layer: Layer.Layer<Connectors, never, ConnectorStore> = Layer.effect(
  Connectors,
  Effect.gen(function* () {
    const store = yield* ConnectorStore

    const readableBy = Effect.fnUntraced(function* (principal: Principal) {
      const now = yield* DateTime.now
      const stored = yield* store.list(principal.organizationId)
      return stored.filter(({ access }) => readable(principal, access, now)).map(({ connector }) => connector)
    })

    return Connectors.of({
      list: Effect.gen(function* () {
        const principal = yield* CurrentPrincipal
        yield* enforce(requires(principal, "connector:read"))
        return yield* readableBy(principal)
      }).pipe(Effect.withSpan("Connectors.list")),
      usableBy: Effect.fn("Connectors.usableBy")(function* (principal, ids) {
        const usable = principal.holds("connector:query") ? yield* readableBy(principal) : []
        if (ids === undefined) return usable
        const byId = new Map(usable.map((connector) => [connector.id, connector]))
        const chosen: Array<Connector> = []
        for (const id of new Set(ids)) {
          const connector = byId.get(id)
          if (connector === undefined) return yield* notPermitted(id)
          chosen.push(connector)
        }
        return chosen
      })
    })
  })
)
