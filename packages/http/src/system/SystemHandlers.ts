/**
 * The operations of the system itself.
 */
import { Api } from "@castellan/api/Api"
import { NotReady } from "@castellan/api/system/SystemGroup"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Readiness } from "./Readiness.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** The operations of the system. */
export const layer = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const isReady = yield* Readiness
    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const }),
      readiness: Effect.fnUntraced(function* () {
        if (!(yield* isReady)) return yield* new NotReady()
        return { status: "ready" as const }
      })
    })
  }, OperationServices.given)
)
