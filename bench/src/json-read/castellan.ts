/** The read on Castellan: `GET /v2/models`, as the product serves it. */
import * as Castellan from "@castellan/core/Castellan"
import { layerMemory } from "@castellan/core/memory/Stores"
import { ModelId } from "@castellan/core/model/Model"
import * as NodeCryptography from "@castellan/http/server/NodeCryptography"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { Layer } from "effect"
import { serveCastellan } from "../server/CastellanServing.ts"
import { models } from "./Payload.ts"

const served = models.map((model) => ({
  id: ModelId.make(model.id),
  provider: model.provider,
  name: model.name,
  supportsFastMode: model.supports_fast_mode
}))

serveCastellan(
  Castellan.layer().pipe(
    Layer.provideMerge(Layer.mergeAll(layerMemory, Deployment.layerPorts({ served }), NodeCryptography.layer))
  )
)
