/**
 * A question on Castellan: `POST /v2/chats/stream`, with the real runner and analyst. The model is scripted, and says
 * its answer at once.
 */
import * as Castellan from "@castellan/core/Castellan"
import { layerMemory } from "@castellan/core/memory/Stores"
import * as NodeCryptography from "@castellan/http/server/NodeCryptography"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as ScriptedModel from "@castellan/testing/scripted/ScriptedModel"
import { Layer } from "effect"
import { serveCastellan } from "../server/CastellanServing.ts"
import { answer } from "./Script.ts"

serveCastellan(
  Castellan.layer().pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        layerMemory,
        Deployment.layerPorts({ script: () => ScriptedModel.says(answer) }),
        NodeCryptography.layer
      )
    )
  )
)
