/**
 * The operations of the organization, bound to their use cases.
 *
 * Source: decisions.md §3 ("settable per organization").
 */
import { Api } from "@castellan/api/Api"
import { ofOrganization, toOrganizationPatch } from "@castellan/api/organization/OrganizationWire"
import { Organizations } from "@castellan/core/organization/Organizations"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of the organization. */
export const layer = HttpApiBuilder.group(
  Api,
  "organization",
  Effect.fnUntraced(function* (handlers) {
    const organizations = yield* Organizations

    return handlers.handleAll({
      get: () => Effect.map(organizations.get, ofOrganization).pipe(declared("PermissionDenied")),

      update: Effect.fnUntraced(
        function* ({ payload }) {
          return ofOrganization(yield* organizations.patch(toOrganizationPatch(payload)))
        },
        declared("InvalidRequest", "PermissionDenied")
      )
    })
  }, OperationServices.given)
)
