/**
 * The one door through which anybody's statement reaches a data source: the analyst's, a sandcastle's, a playbook's.
 * The row policies of the connector are kept here, or the statement does not run.
 *
 * Source: decisions.md §5 ("a policy that cannot be applied to a query makes it fail, never run unfiltered").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Deny } from "../access/Decision.ts"
import type { Principal } from "../access/Principal.ts"
import * as RowAccess from "../rowpolicy/RowAccess.ts"
import { RowPolicyStore } from "../rowpolicy/RowPolicyStore.ts"
import type { Connector } from "./Connector.ts"
import { ConnectorDriver, ConnectorError, type QueryLimits, StatementRefused } from "./ConnectorDriver.ts"
import type { ResultTable } from "./ResultTable.ts"

/** Asks data sources on behalf of principals. */
export class ConnectorQueries extends Context.Service<
  ConnectorQueries,
  {
    /**
     * Runs one read-only statement for a principal who may query the connector. It sees of each table the rows that
     * the principal may see; where that cannot be had, it is refused.
     */
    readonly query: (
      principal: Principal,
      connector: Connector,
      statement: string,
      limits: QueryLimits
    ) => Effect.Effect<ResultTable, ConnectorError>
  }
>()("@castellan/core/connector/ConnectorQueries") {}

const refused = (denial: Deny) => new ConnectorError({ reason: new StatementRefused({ message: denial.message }) })

/** Statements over the driver and the row policies of the deployment. */
export const layer: Layer.Layer<ConnectorQueries, never, ConnectorDriver | RowPolicyStore> = Layer.effect(
  ConnectorQueries,
  Effect.gen(function* () {
    const driver = yield* ConnectorDriver
    const store = yield* RowPolicyStore
    return ConnectorQueries.of({
      query: Effect.fn("ConnectorQueries.query")(function* (principal, connector, statement, limits) {
        if (limits.parameters !== undefined && driver.bindsParameters !== true) {
          return yield* new ConnectorError({
            reason: new StatementRefused({ message: "this connector binds no parameters" })
          })
        }
        const policies = yield* store.list(connector.organizationId, connector.id)
        // Where no policy can apply, no statement needs to be taken apart.
        const unknownTables = RowAccess.applicable(principal, policies, undefined)
        if (unknownTables._tag === "Unfiltered") return yield* driver.query(connector, statement, limits)
        const filtering = driver.rowFiltering
        if (filtering === undefined) {
          return yield* unknownTables._tag === "Denied"
            ? refused(unknownTables.denial)
            : Effect.die(new Error("row filters without tables"))
        }
        const access = RowAccess.applicable(principal, policies, yield* filtering.tablesOf(connector, statement))
        switch (access._tag) {
          case "Unfiltered":
            // Through the filtering all the same: it holds the statement to the tables that were judged.
            return yield* filtering.query(connector, statement, limits, [])
          case "Filtered":
            return yield* filtering.query(connector, statement, limits, access.filters)
          case "Denied":
            return yield* refused(access.denial)
        }
      })
    })
  })
)
