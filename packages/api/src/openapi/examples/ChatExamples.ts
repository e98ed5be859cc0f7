/**
 * The examples of chats: one conversation about flights, the same in every place.
 */
import type * as Schema from "effect/Schema"

/** The chat of the examples. */
export const chatId = "01980c5e-7f3a-7c41-9a55-3d7f2f6a9b01"
const questionCellId = "01980c5e-7f3a-7c41-9a55-3d7f2f6a9b02"
const messageCellId = "01980c5e-7f3a-7c41-9a55-3d7f2f6a9b03"
/** The cell of its query. */
export const queryCellId = "01980c5e-8a02-7b1d-8c40-51a9e5d0c204"
/** The chart that it made. */
export const assetId = "01980c5e-9e11-7d20-b3a8-0c6f1f6f7a05"
/** The model that answers in the examples. */
export const model = "offline/analyst-1"
/** When its question was asked. */
export const asked = "2026-03-02T09:30:00.000Z"
const queried = "2026-03-02T09:30:00.120Z"
/** When its chart was drawn. */
export const drawn = "2026-03-02T09:30:00.480Z"
const question = "Which carriers flew the most flights?"
const answer = "Southwest flew the most: **88,751** flights, then US Airways with 37,683 and American with 34,577."
const signed = (format: string): string =>
  `https://castellan.example/v2/assets/${assetId}?format=${format}&expires=1772444700&signature=q8rJ1vY6pH2dX0sB9uZkT3fWmNc5LeA7`

const Usage = { input_tokens: 1_842, output_tokens: 96, tool_calls: 2 }

const AssetFormat = { format: "png", media_type: "image/png", url: signed("png") }

/** The chart. */
export const Asset = {
  id: assetId,
  name: "Flights by carrier",
  type: "chart",
  url: signed("png"),
  formats: [AssetFormat, { format: "svg", media_type: "image/svg+xml", url: signed("svg") }],
  cell_id: queryCellId,
  message_cell_id: messageCellId,
  created_at: drawn
}

const Cell = {
  id: queryCellId,
  status: "completed",
  created_at: queried,
  type: "ontology_query",
  query: "run: flights -> { group_by: carrier; aggregate: flight_count; order_by: flight_count desc; limit: 3 }",
  code: "SELECT carrier, COUNT(*) AS flight_count FROM flights GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
  connector_id: 1,
  title: "Flights by carrier",
  dataframe_preview: "| carrier | flight_count |\n| --- | ---: |\n| WN | 88751 |\n| US | 37683 |\n| AA | 34577 |",
  execution_time_ms: 41,
  assets: [assetId]
}

const Tools = { connector_ids: [1], sql_enabled: true, python_enabled: false, ontology_enabled: true }

const MetadataEvent = {
  type: "metadata",
  id: messageCellId,
  created_at: asked,
  model,
  chat_id: chatId,
  is_continuation: false
}

const TextEvent = { type: "text", text: "Southwest flew the most: **88,751** flights" }

const ChatMessage = { role: "assistant", content: answer, created_at: asked, cell_id: messageCellId, assets: [Asset] }

const QuestionFile = { name: "carriers.csv", path: "uploads/carriers.csv", mime_type: "text/csv", size: 312 }

const ChatSummary = {
  id: chatId,
  summary: question,
  timestamp: asked,
  updated_at: drawn,
  creator_email: "ada@example.com",
  preview: question,
  source: "api",
  model,
  is_running: false
}

const Chat = { id: chatId, model, summary: question, is_running: false, usage: Usage }

const Model = {
  id: model,
  model_id: 1,
  provider: "offline",
  name: "Offline analyst",
  supports_fast_mode: false,
  default: true
}

/** An example of each schema of chats, assets, models and the system. */
export const chatExamples: Readonly<Record<string, Schema.Json>> = {
  Answer: {
    id: messageCellId,
    created_at: asked,
    model,
    response: answer,
    chat_id: chatId,
    assets: [Asset]
  },
  AskForm: { question, tools: JSON.stringify(Tools) },
  AskRequest: { question, connector_ids: [1] },
  Asset,
  AssetEvent: { type: "asset", asset: Asset },
  AssetFormat,
  Cancellation: { cancelled: true },
  Cell,
  CellEvent: { type: "cell", cell: Cell },
  CellList: { chat_id: chatId, cells: [Cell], has_more: false },
  Chat,
  ChatDeletion: { id: chatId, success: true },
  ChatList: { chats: [ChatSummary], total_count: 1 },
  ChatMessage,
  ChatStreamEvent: TextEvent,
  ChatSummary,
  ChatView: {
    chat: Chat,
    messages: [
      { role: "user", content: question, created_at: asked, cell_id: questionCellId, files: [QuestionFile] },
      ChatMessage
    ],
    assets: [Asset]
  },
  DoneEvent: { type: "done", status: "completed" },
  Feedback: { chat_id: chatId, rating: "up", comment: "Just what I needed", created_at: drawn, updated_at: drawn },
  FeedbackRequest: { rating: "up", comment: "Just what I needed" },
  Health: { status: "ok" },
  MetadataEvent,
  Model,
  ModelList: { models: [Model] },
  QuestionFile,
  NotReady: { status: "unavailable" },
  Readiness: { status: "ready" },
  TextEvent,
  Tools,
  UpdateChatRequest: { summary: "Carriers by flights" },
  UpdatedChat: { id: chatId, model, summary: "Carriers by flights", is_running: false, updated_at: drawn },
  Usage
}
