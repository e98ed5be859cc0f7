/** Fan-out on Castellan: `GET /v2/chats/{id}/stream`, over the run log. */
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { ChatId } from "@castellan/core/chat/Chat"
import * as Chats from "@castellan/core/chat/Chats"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect, Layer } from "effect"
import { serveCastellan } from "../server/CastellanServing.ts"
import * as Playback from "./Playback.ts"
import { commands } from "./Script.ts"

/** A whole deployment, whose chats are played back rather than answered: they are made anew, over another runner. */
const deployment = Layer.fresh(Chats.layer).pipe(
  Layer.provideMerge(Playback.layer),
  Layer.provideMerge(Deployment.layer())
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
