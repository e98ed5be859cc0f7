/**
 * Tells the principal of a request by its bearer value.
 *
 * Source: api-v2.md "Authentication"; decisions.md §3.
 */
import { Authentication as BearerSecurity } from "@castellan/api/access/Authentication"
import type { Authentication } from "@castellan/core/access/Authentication"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RequestCredentials from "./RequestCredentials.ts"

/** The contract's security, by core's authentication. */
export const layer: Layer.Layer<BearerSecurity, never, Authentication> = Layer.effect(
  BearerSecurity,
  Effect.map(RequestCredentials.make, ({ ofBearer }) =>
    BearerSecurity.of({
      bearer: (operation, { credential }) =>
        Effect.flatMap(ofBearer(credential), (principal) =>
          Effect.provideService(operation, CurrentPrincipal, principal)
        )
    })
  )
)
