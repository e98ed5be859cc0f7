/**
 * A long chat as the wire has it: every second message is an answer with a chart and a table.
 */
import type { ChatViewWire } from "@castellan/api/chat/ChatWire"

type ChatView = typeof ChatViewWire.Encoded
type Asset = ChatView["assets"][number]

const idOf = (number: number): string => `01980c5e-7f3a-7c41-9a55-${number.toString(16).padStart(12, "0")}`

const momentOf = (number: number): string => new Date(Date.UTC(2026, 2, 2, 9, 30, 0, number)).toISOString()

const assetOf = (number: number, type: "chart" | "table"): Asset => {
  const id = idOf(1_000_000 + number * 2 + (type === "chart" ? 0 : 1))
  const urlOf = (format: string): string =>
    `https://castellan.example/v2/assets/${id}?format=${format}&expires=1772444700&signature=q8rJ1vY6pH2dX0sB9uZkT3fWmNc5LeA7`
  return {
    id,
    name: `Flights by carrier, part ${number}`,
    type,
    url: urlOf(type === "chart" ? "png" : "csv"),
    formats:
      type === "chart"
        ? [
            { format: "png", media_type: "image/png", url: urlOf("png") },
            { format: "svg", media_type: "image/svg+xml", url: urlOf("svg") }
          ]
        : [{ format: "csv", media_type: "text/csv", url: urlOf("csv") }],
    cell_id: idOf(2_000_000 + number),
    message_cell_id: idOf(number),
    created_at: momentOf(number)
  }
}

const words = "Southwest flew the most: **88,751** flights, then US Airways with 37,683 and American with 34,577. "

/** A chat of some messages. */
export const conversationOf = (messages: number): ChatView => {
  const numbers = Array.from({ length: messages }, (_, number) => number)
  const assetsOf = (number: number) => [assetOf(number, "chart"), assetOf(number, "table")]
  const isAnswer = (number: number) => number % 2 === 1
  return {
    chat: {
      id: idOf(3_000_000),
      model: "offline/analyst-1",
      summary: "Which carriers flew the most flights?",
      is_running: false,
      usage: { input_tokens: 1_842_000, output_tokens: 96_000, tool_calls: messages }
    },
    messages: numbers.map((number) => ({
      role: isAnswer(number) ? "assistant" : "user",
      content: isAnswer(number) ? words.repeat(4) : "Which carriers flew the most flights, and how many?",
      created_at: momentOf(number),
      cell_id: idOf(number),
      ...(isAnswer(number) ? { assets: assetsOf(number) } : {})
    })),
    assets: numbers.filter(isAnswer).flatMap(assetsOf)
  }
}
