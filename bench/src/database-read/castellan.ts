/** The read on Castellan: `GET /v2/roles/{id}`, as the product serves it, over a PostgreSQL server. */
import * as Castellan from "@castellan/core/Castellan"
import * as NodeCryptography from "@castellan/http/server/NodeCryptography"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { Effect, Layer, Redacted } from "effect"
import * as CastellanStores from "../database/CastellanStores.ts"
import * as ManyKeys from "../database/ManyKeys.ts"
import { serveCastellan } from "../server/CastellanServing.ts"
import { bearersCommand, idsCommand, roleCount, usedKeyCount } from "./Payload.ts"

const [service = "", owner = ""] = process.argv.slice(2)

const deployment = Castellan.layer().pipe(
  Layer.provideMerge(
    Layer.mergeAll(CastellanStores.layer({ service, owner }), Deployment.layerPorts(), NodeCryptography.layer)
  )
)

serveCastellan(
  deployment,
  Effect.fnUntraced(function* (tenant) {
    const ids = yield* ManyKeys.addRoles(tenant, roleCount)
    const bearers = yield* ManyKeys.addKeys(tenant, usedKeyCount)
    return {
      [idsCommand]: () => ids.join("\n"),
      [bearersCommand]: () => bearers.map(Redacted.value).join("\n")
    }
  }),
  ManyKeys.establish
)
