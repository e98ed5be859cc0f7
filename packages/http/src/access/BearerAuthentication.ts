/**
 * Admits requests to the operations of the contract by their bearer value.
 *
 * Source: api-v2.md "Authentication"; decisions.md §3.
 */
import { Authentication as BearerSecurity } from "@castellan/api/access/Authentication"
import type { Authentication } from "@castellan/core/access/Authentication"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Admission } from "../request/Admission.ts"
import * as RequestCredentials from "./RequestCredentials.ts"

/** The contract's security, by core's authentication. */
export const layer: Layer.Layer<BearerSecurity, never, Admission | Authentication> = Layer.effect(
  BearerSecurity,
  Effect.gen(function* () {
    const { ofBearer } = yield* RequestCredentials.make
    const { admit } = yield* Admission
    return BearerSecurity.of({ bearer: (operation, { credential }) => admit(ofBearer(credential), operation) })
  })
)
