/** Fan-out on Castellan: `GET /v2/chats/{id}/stream`, over the run log. */
import * as Authentication from "@castellan/core/access/Authentication"
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { ChatId } from "@castellan/core/chat/Chat"
import * as UseCase from "@castellan/core/audit/UseCase"
import * as Chats from "@castellan/core/chat/Chats"
import * as Connectors from "@castellan/core/connector/Connectors"
import { layerMemory } from "@castellan/core/memory/Stores"
import * as Models from "@castellan/core/model/Models"
import * as RowPolicies from "@castellan/core/rowpolicy/RowPolicies"
import * as HmacSessionTokens from "@castellan/core/session/HmacSessionTokens"
import * as Budgets from "@castellan/core/usage/Budgets"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as ScriptedDriver from "@castellan/testing/scripted/ScriptedDriver"
import * as ScriptedModel from "@castellan/testing/scripted/ScriptedModel"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { serveCastellan } from "../server/CastellanServing.ts"
import * as Playback from "./Playback.ts"
import { commands } from "./Script.ts"

const deployment = Layer.mergeAll(Authentication.layer, Chats.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Budgets.layer, Connectors.layer, Models.layer, Playback.layer, RowPolicies.layer)),
  Layer.provideMerge(UseCase.layer),
  Layer.provideMerge(
    Layer.mergeAll(layerMemory, ScriptedDriver.layer(), ScriptedModel.layer(), HmacSessionTokens.layerMemory)
  ),
  Layer.provideMerge(NodeCrypto.layer)
)

const pathOf = (id: ChatId): string => `/v2/chats/${id}/stream`
const chatAt = (path: string): ChatId => ChatId.make(path.split("/")[3] ?? "")

serveCastellan(deployment, (tenant) =>
  Effect.gen(function* () {
    const chats = yield* Chats.Chats
    const playback = yield* Playback.Playback
    const run = Effect.runPromiseWith(yield* Effect.context())

    const open = Effect.gen(function* () {
      const asked = yield* chats.ask({ question: "What is there to follow?", source: "api" })
      return asked.chatId
    }).pipe(Effect.provideService(CurrentPrincipal, Fixture.adminOf(tenant)))

    return {
      [commands.open]: () => run(Effect.map(open, pathOf)),
      [commands.play]: (path) => run(Effect.as(playback.rest(chatAt(path), "eventByEvent"), "")),
      [commands.record]: () =>
        run(
          Effect.gen(function* () {
            const id = yield* open
            yield* playback.rest(id, "atOnce")
            return pathOf(id)
          })
        )
    }
  })
)
