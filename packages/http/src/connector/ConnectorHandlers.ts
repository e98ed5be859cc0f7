/**
 * The operations of connectors and of their row policies, bound to their use cases.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §5.
 */
import { ofConnectorTypes } from "@castellan/api/connector/ConnectorForms"
import { type TestConnectorRequest, toSource, toSourceOf } from "@castellan/api/connector/ConnectorRequest"
import { ofConnector } from "@castellan/api/connector/ConnectorWire"
import { ofRowPolicies, toRowRule } from "@castellan/api/connector/RowPolicyWire"
import * as InvalidRequestMessage from "@castellan/api/error/InvalidRequestMessage"
import { connectorType } from "@castellan/core/connector/Connector"
import { Connectors } from "@castellan/core/connector/Connectors"
import { InvalidRequest } from "@castellan/core/error/Failure"
import { RowPolicies } from "@castellan/core/rowpolicy/RowPolicies"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Redacted from "effect/Redacted"
import { declared } from "../request/DeclaredFailures.ts"
import { Api } from "@castellan/api/Api"
import * as OperationServices from "../request/OperationServices.ts"

/** The secret of a request; it is written nowhere as it is. */
const secretOf = (request: { readonly secret?: string }) =>
  request.secret === undefined ? {} : { secret: Redacted.make(request.secret) }

const sourceOf = (request: TestConnectorRequest) => ({ source: toSource(request), ...secretOf(request) })

/** The operations of connectors. */
export const layer = HttpApiBuilder.group(
  Api,
  "connectors",
  Effect.fnUntraced(function* (handlers) {
    const connectors = yield* Connectors
    const policies = yield* RowPolicies

    return handlers.handleAll({
      list: () => Effect.map(connectors.list, (all) => all.map(ofConnector)).pipe(declared("PermissionDenied")),

      types: () => Effect.map(connectors.types, ofConnectorTypes).pipe(declared("PermissionDenied")),

      create: Effect.fnUntraced(
        function* ({ payload }) {
          const { description, name } = payload
          const made = { name, ...(description === undefined ? {} : { description }), ...sourceOf(payload) }
          return ofConnector(yield* connectors.create(made))
        },
        declared("InvalidRequest", "PermissionDenied", "Conflict")
      ),

      test: Effect.fnUntraced(
        function* ({ payload }) {
          return yield* connectors.test({ _tag: "Draft", ...sourceOf(payload) })
        },
        declared("InvalidRequest", "PermissionDenied", "Conflict")
      ),

      update: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { config, description, name } = payload
          const present = yield* connectors.get(params.id)
          const source =
            config === undefined
              ? undefined
              : toSource(
                  yield* Effect.mapError(
                    toSourceOf(connectorType(present.source), config),
                    (error) => new InvalidRequest({ message: InvalidRequestMessage.format(error.issue) })
                  )
                )
          const changed = yield* connectors.update(params.id, {
            ...(name === undefined ? {} : { name }),
            ...(description === undefined ? {} : { description }),
            ...(source === undefined ? {} : { source }),
            ...secretOf(payload)
          })
          return ofConnector(changed)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ params }) {
          yield* connectors.delete(params.id)
          return { id: params.id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      listRowPolicies: Effect.fnUntraced(
        function* ({ params }) {
          return ofRowPolicies(yield* policies.list(params.id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      replaceRowPolicies: Effect.fnUntraced(
        function* ({ params, payload }) {
          const drafts = payload.row_policies.map((request) => ({
            ...(request.id === undefined ? {} : { id: request.id }),
            rule: toRowRule(request)
          }))
          return ofRowPolicies(yield* policies.replace(params.id, drafts))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      )
    })
  }, OperationServices.given)
)
