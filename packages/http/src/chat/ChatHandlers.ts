/**
 * The operations of chats, bound to their use cases.
 *
 * Source: api-v2.md "Chat"; decisions.md §4.
 */
import { Api } from "@castellan/api/Api"
import * as AskRequest from "@castellan/api/chat/AskRequest"
import { toCellPage, toChatQuery } from "@castellan/api/chat/ChatQueries"
import { resumeAfter } from "@castellan/api/chat/ChatStreamFrame"
import { ofCell } from "@castellan/api/chat/CellWire"
import * as ChatWire from "@castellan/api/chat/ChatWire"
import type { ChatId } from "@castellan/core/chat/Chat"
import { Chats } from "@castellan/core/chat/Chats"
import { InvalidRequest, NotFound, TimedOut } from "@castellan/core/error/Failure"
import type { Run } from "@castellan/core/run/Run"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as Multipart from "effect/http/Multipart"
import * as Stream from "effect/Stream"
import { AssetSignature } from "../asset/AssetSignature.ts"
import { HttpLimits } from "../HttpLimits.ts"
import { declared } from "../request/DeclaredFailures.ts"
import { positionAfter } from "../stream/EventFrame.ts"
import { RunBroadcast } from "../stream/RunBroadcast.ts"
import * as StreamResponse from "../stream/StreamResponse.ts"
import * as OperationServices from "../request/OperationServices.ts"

/** A body as it was decoded: JSON, or the parts of a form. */
type AskPayload = AskRequest.AskRequest | Stream.Stream<Multipart.Part, Multipart.MultipartError>

/** The question of a body in either media type. A form that cannot be read is the boundary's to answer. */
const questionOf = (payload: AskPayload) =>
  (Stream.isStream(payload)
    ? AskRequest.questionOfParts(payload)
    : Effect.succeed(AskRequest.toQuestion(payload))
  ).pipe(
    Effect.catchTag("MultipartError", Effect.die),
    Effect.map((question) => ({ ...question, source: "api" as const }))
  )

/** The operations of chats. */
export const layer = HttpApiBuilder.group(
  Api,
  "chats",
  Effect.fnUntraced(function* (handlers) {
    const chats = yield* Chats
    const signature = yield* AssetSignature
    const broadcast = yield* RunBroadcast
    const limits = yield* HttpLimits

    const sign = Effect.map(Clock.currentTimeMillis, signature.signer)

    const stream = (run: Run, number: number, received: number) =>
      Effect.map(broadcast.follow({ id: run.id, organizationId: run.organizationId, number }, received), (follower) =>
        StreamResponse.make(follower, { chatId: run.chatId, runId: run.id })
      )

    /** The run that a follower of a chat is sent, and how much of it the follower has. */
    const resume = Effect.fnUntraced(function* (id: ChatId, lastEventId: number) {
      const runs = yield* chats.runs(id)
      const position = positionAfter(lastEventId)
      const number = lastEventId === 0 ? runs.length - 1 : position.run
      const run = runs[number]
      if (run !== undefined) return { run, number, received: position.received }
      return yield* lastEventId === 0
        ? new NotFound({ message: "the chat has no run" })
        : new InvalidRequest({ message: "last-event-id: must be the id of an event of this chat" })
    })

    return handlers.handleAll({
      ask: Effect.fnUntraced(function* ({ payload }) {
        const run = yield* chats.ask(yield* questionOf(payload))
        const answer = yield* chats.answer(run).pipe(
          Effect.timeoutOrElse({
            duration: limits.answerTimeout,
            orElse: () => Effect.fail(new TimedOut({ message: "the run did not end in time; it goes on" }))
          })
        )
        return ChatWire.ofAnswer(answer, yield* sign)
      }),

      askStream: Effect.fnUntraced(
        function* ({ payload }) {
          const run = yield* chats.ask(yield* questionOf(payload))
          return yield* stream(run, yield* chats.numberOf(run), 0)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      list: Effect.fnUntraced(function* ({ query }) {
        return ChatWire.ofPage(yield* chats.list(toChatQuery(query)))
      }, declared("PermissionDenied")),

      get: Effect.fnUntraced(
        function* ({ params }) {
          return ChatWire.ofView(yield* chats.get(params.id), yield* sign)
        },
        declared("PermissionDenied", "NotFound")
      ),

      cells: Effect.fnUntraced(
        function* ({ params, query }) {
          return ChatWire.ofCells(params.id, yield* chats.cells(params.id, toCellPage(query)))
        },
        declared("PermissionDenied", "NotFound")
      ),

      cell: Effect.fnUntraced(
        function* ({ params }) {
          return ofCell(yield* chats.cell(params.id, params.cell_id))
        },
        declared("PermissionDenied", "NotFound")
      ),

      update: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ChatWire.ofUpdatedChat(yield* chats.update(params.id, payload))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      delete: Effect.fnUntraced(
        function* ({ params }) {
          yield* chats.delete(params.id)
          return { id: params.id, success: true }
        },
        declared("PermissionDenied", "NotFound", "Conflict")
      ),

      feedback: Effect.fnUntraced(
        function* ({ params, payload }) {
          return ChatWire.ofFeedback(yield* chats.feedback(params.id, payload))
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound", "Conflict")
      ),

      follow: Effect.fnUntraced(
        function* ({ headers, params }) {
          const { number, received, run } = yield* resume(params.id, resumeAfter(headers))
          return yield* stream(run, number, received)
        },
        declared("InvalidRequest", "PermissionDenied", "NotFound")
      ),

      cancel: Effect.fnUntraced(
        function* ({ params }) {
          return { cancelled: yield* chats.cancel(params.id) }
        },
        declared("PermissionDenied", "NotFound")
      )
    })
  }, OperationServices.given)
)
