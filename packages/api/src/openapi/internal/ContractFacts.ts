/**
 * What the contract says of an operation and the derived document does not: the values of its query, which the
 * derivation shows as text, and which errors are its own rather than its middlewares'.
 */
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { SignedAsset } from "../../asset/AssetsGroup.ts"

/** What the contract says of one operation. */
export interface OperationFacts {
  /** The values of the query; absent where it has none. */
  readonly query: Schema.Top | undefined
  /** The statuses of the errors that the operation declares itself. */
  readonly errors: ReadonlySet<string>
}

/** Queries that are read as they come, whatever they hold, and described as they should be. */
const described: Readonly<Record<string, Schema.Top>> = { getAsset: SignedAsset }

/** The schema of a query's values, from the one that reads them from text. */
const valuesOf = (query: Schema.Top | undefined): Schema.Top | undefined =>
  query !== undefined && "schema" in query && Schema.isSchema(query.schema) ? query.schema : undefined

/** The facts of every operation of an API, by its name in the document. */
export const factsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyMap<string, OperationFacts> => {
  const facts = new Map<string, OperationFacts>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors }) => {
      const name = Context.getOrUndefined(endpoint.annotations, OpenApi.Identifier) ?? endpoint.identifier
      const own = [...errors].filter(([, schemas]) => schemas.some((schema) => endpoint.error.has(schema)))
      facts.set(name, {
        query: described[name] ?? valuesOf(endpoint.query),
        errors: new Set(own.map(([status]) => String(status)))
      })
    }
  })
  return facts
}
