/**
 * Words for the contract of `ChatStore`: chats with runs, and who asks for them.
 */
import type { Principal } from "@castellan/core/access/Principal"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { Run, RunStatus } from "@castellan/core/run/Run"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { layerCrypto } from "../../fixture/Deployment.ts"
import * as Sample from "../../fixture/Sample.ts"

/** What the contract is run with: the store, and what chats and runs are made with. */
export type ChatStoreNeeds = ChatStore | Layer.Success<typeof layerCrypto>

/** A moment. */
export const at = (iso: string): DateTime.Utc => DateTime.makeUnsafe(iso)

/** The moment that the contract begins at. */
export const noon = at("2030-05-05T12:00:00.000Z")

/** A run that has ended well. */
export const completed = (run: Run, endedAt: DateTime.Utc): Run =>
  new Run({ ...run, status: RunStatus.cases.Completed.make({ startedAt: run.createdAt, endedAt }) })

/** A chat with its first run, as `open` takes them. */
export const opened = Effect.fnUntraced(function* (maker: Principal, options: Sample.ChatOptions = {}) {
  const chat = yield* Sample.chat(maker, options)
  const run = yield* Sample.run(maker, chat, { question: chat.firstQuestion, createdAt: chat.createdAt })
  yield* ChatStore.use((store) => store.open(chat, run))
  return { chat, run }
})

/** A chat whose first run has ended. */
export const answered = Effect.fnUntraced(function* (maker: Principal, options: Sample.ChatOptions = {}) {
  const made = yield* opened(maker, options)
  const end = made.chat.updatedAt
  yield* ChatStore.use((store) => store.endRun(completed(made.run, end), end))
  return made
})

/** A member of an organization of its own. */
export const newReader = Effect.flatMap(Sample.organizationId, (organization) => Sample.principal(organization))
