/**
 * A runner that carries no run out by itself: it opens the log of a run, and plays the script when it is told to.
 */
import { CellId } from "@castellan/core/chat/Cell"
import type { ChatId } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import type { Run } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { RunLog } from "@castellan/core/run/RunLog"
import { Runner } from "@castellan/core/run/Runner"
import { advance, RunTransition } from "@castellan/core/run/RunState"
import { Context, DateTime, Effect, Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { texts } from "./Script.ts"

/** Plays what is left of a run. */
export class Playback extends Context.Service<
  Playback,
  {
    /** Appends the rest of the run's events, so many at a time, waiting for a turn of the event loop before each. */
    readonly rest: (chatId: ChatId, pace: "eventByEvent" | "atOnce") => Effect.Effect<void>
  }
>()("@castellan-bench/all/fan-out/Playback") {}

/** The next turn of the event loop. */
const nextTurn = Effect.callback<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/** The runner, and what plays its runs. */
export const layer: Layer.Layer<Playback | Runner, never, ChatStore | RunLog | SecureRandom.SecureRandom> =
  Layer.effectContext(
    Effect.gen(function* () {
      const log = yield* RunLog
      const chats = yield* ChatStore
      const random = yield* SecureRandom.SecureRandom
      const opened = new Map<ChatId, Run>()

      const start = Effect.fnUntraced(function* (run: Run) {
        opened.set(run.chatId, run)
        const messageCellId = CellId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random))
        yield* log.append(run, [
          RunEvent.cases.Metadata.make({
            messageCellId,
            createdAt: run.createdAt,
            model: run.model,
            chatId: run.chatId,
            isContinuation: run.isContinuation
          })
        ])
      })

      const end = Effect.fnUntraced(function* (run: Run) {
        const now = yield* DateTime.now
        const ended = Result.flatMap(advance(run, RunTransition.cases.Start.make({}), now), (started) =>
          advance(started, RunTransition.cases.Complete.make({}), now)
        )
        yield* chats.endRun(yield* Effect.orDie(Effect.fromResult(ended)), now)
      })

      const rest = Effect.fnUntraced(function* (chatId: ChatId, pace: "eventByEvent" | "atOnce") {
        const run = opened.get(chatId)
        if (run === undefined) return yield* Effect.die(new Error(`no run of ${chatId} is open`))
        opened.delete(chatId)
        const pieces = texts.map((text) => RunEvent.cases.Text.make({ text }))
        const done = RunEvent.cases.Done.make({ status: "completed" })
        if (pace === "atOnce") {
          yield* end(run)
          return yield* log.append(run, [...pieces, done])
        }
        for (const piece of pieces) {
          yield* nextTurn
          yield* log.append(run, [piece])
        }
        yield* nextTurn
        yield* end(run)
        yield* log.append(run, [done])
      })

      return Context.make(
        Runner,
        Runner.of({ start, cancel: () => Effect.succeed(false), sweep: Effect.succeed(0) })
      ).pipe(Context.add(Playback, Playback.of({ rest })))
    })
  )
