/** The conversation of the matrix's world. */
import type { Access } from "@castellan/core/access/Access"
import type { Principal } from "@castellan/core/access/Principal"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { Cell } from "@castellan/core/chat/Cell"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Feedback } from "@castellan/core/chat/Feedback"
import { Run, RunStatus } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { RunLog } from "@castellan/core/run/RunLog"
import * as Sample from "@castellan/testing/fixture/Sample"
import { DateTime, Effect } from "effect"

/** A chat with a question, a statement, a chart and an end. */
export const make = Effect.fnUntraced(function* (principal: Principal, access: Access) {
  const now = yield* DateTime.now
  const chat = yield* Sample.chat(principal, { access })
  const run = yield* Sample.run(principal, chat)
  const asset = yield* Sample.asset(run, { formats: ["png"] })
  const cell = new Cell({
    id: asset.cellId,
    content: { _tag: "Sql", query: "SELECT * FROM sales" },
    status: { _tag: "Completed", endedAt: now },
    result: { output: ["3 rows"] },
    createdAt: now
  })
  yield* ChatStore.use((store) => store.open(chat, run))
  yield* AssetStore.use((store) => store.put(asset, [{ format: "png", content: new TextEncoder().encode("picture") }]))
  yield* RunLog.use((log) =>
    log.append(run, [
      RunEvent.cases.Metadata.make({
        messageCellId: run.messageCellId,
        createdAt: now,
        model: run.model,
        chatId: chat.id,
        isContinuation: false
      }),
      RunEvent.cases.Cell.make({ cell }),
      RunEvent.cases.Asset.make({ asset }),
      RunEvent.cases.Text.make({ text: "North." }),
      RunEvent.cases.Done.make({ status: "completed" })
    ])
  )
  const ended = new Run({ ...run, status: RunStatus.cases.Completed.make({ startedAt: now, endedAt: now }) })
  yield* ChatStore.use((store) => store.endRun(ended, now))
  yield* ChatStore.use((store) =>
    store.saveFeedback(
      new Feedback({
        organizationId: chat.organizationId,
        chatId: chat.id,
        memberId: principal.memberId,
        rating: "up",
        createdAt: now,
        updatedAt: now
      })
    )
  )
  return { asset, cell, chat }
})
