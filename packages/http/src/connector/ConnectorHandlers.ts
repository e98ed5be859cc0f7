/**
 * The operations of connectors, bound to their use cases.
 */
import { ServedApi } from "../ServedApi.ts"
import { ofConnector } from "@castellan/api/connector/ConnectorWire"
import { Connectors } from "@castellan/core/connector/Connectors"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { declared } from "../request/DeclaredFailures.ts"

/** The operations of connectors. */
export const layer = HttpApiBuilder.group(ServedApi, "connectors", (handlers) =>
  Effect.map(Connectors, (connectors) =>
    handlers.handle("list", () =>
      Effect.map(connectors.list, (all) => all.map(ofConnector)).pipe(declared("PermissionDenied"))
    )
  )
)
