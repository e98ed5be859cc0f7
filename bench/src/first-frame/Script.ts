/**
 * What is asked and answered. The model says its answer at once, so that only the way to it and back takes time.
 */
import type { StreamEvent } from "../load/EventStream.ts"

/** The path that ours answers at; the peer takes the same. */
export const path = "/v2/chats/stream"

/** The body of the request. */
export const asked = { question: "How many flights were late in January?" } as const

/** The answer. */
export const answer = "In January, 1,234 flights were late: 12 % of all."

/** Whether a stream is the whole answer: `metadata` first, the answer's text, and a completed end. */
export const isAnswer = (events: ReadonlyArray<StreamEvent>): boolean => {
  const read = events.map(({ data }): unknown => JSON.parse(data))
  const text = read.map((event) => (isText(event) ? event.text : "")).join("")
  return hasType(read[0], "metadata") && text === answer && isCompleted(read.at(-1))
}

const hasType = (event: unknown, type: string): boolean =>
  typeof event === "object" && event !== null && "type" in event && event.type === type

const isText = (event: unknown): event is { readonly text: string } =>
  hasType(event, "text") && typeof event === "object" && event !== null && "text" in event

const isCompleted = (event: unknown): boolean =>
  hasType(event, "done") &&
  typeof event === "object" &&
  event !== null &&
  "status" in event &&
  event.status === "completed"
