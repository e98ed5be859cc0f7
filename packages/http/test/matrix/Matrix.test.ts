import * as Stores from "@castellan/core/memory/Stores"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { Layer } from "effect"
import * as Journal from "./Journal.ts"
import * as MatrixSuite from "./MatrixSuite.ts"

const journal = Journal.layer(Stores.layerMemory)

MatrixSuite.suite(
  "in memory",
  Deployment.layer({ script: () => says("The answer is 42."), stores: journal }).pipe(Layer.provideMerge(journal))
)
