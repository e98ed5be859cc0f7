/**
 * The run that everybody follows: its metadata, a text of so many pieces, and its end; frames of about 100 bytes.
 */
import type { StreamEvent } from "../load/EventStream.ts"

/** Pieces of text. */
const pieces = 99

/** Events after the first one: what a follower who is there from the beginning sees live. */
export const liveEvents = pieces + 1

/** All events: what a follower who comes afterwards sees. */
export const allEvents = liveEvents + 1

/** The pieces of the answer. */
export const texts: ReadonlyArray<string> = Array.from(
  { length: pieces },
  (_, index) => `Piece ${String(index + 1).padStart(3, "0")} of the answer, as long as such pieces are. `
)

/** The commands that the servers know, beside those of every server. */
export const commands = {
  /** Opens a run whose first event is there; answers with the path to follow it at. */
  open: "open",
  /** Appends the rest of the run, one event a turn of the event loop; answers when it has ended. The input is the path. */
  play: "play",
  /** Opens a run that has ended, with all of its events; answers with its path. */
  record: "record"
} as const

/** The runs of the peers. A frame is encoded once, however many follow: the least that can be done. */
export const frames: ReadonlyArray<Buffer> = [
  {
    type: "metadata",
    id: "3f1c2a9e-7d4b-4c58-9a60-1b2c3d4e5f60",
    created_at: "2026-01-01T00:00:00.000Z",
    model: "scripted/model-1",
    chat_id: "9b8a7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d",
    is_continuation: false
  },
  ...texts.map((text) => ({ type: "text", text })),
  { type: "done", status: "completed" }
].map((event, index) => Buffer.from(`id: ${index + 1}\ndata: ${JSON.stringify(event)}\n\n`))

/** What tells an event of the script: its type and its words. */
const outline = (data: string): string => {
  const event: unknown = JSON.parse(data)
  if (typeof event !== "object" || event === null || !("type" in event)) return "no event"
  if (event.type === "text" && "text" in event) return `text ${String(event.text)}`
  if (event.type === "done" && "status" in event) return `done ${String(event.status)}`
  return String(event.type)
}

const outlines = ["metadata", ...texts.map((text) => `text ${text}`), "done completed"]

/** How many events of the script a stream lacks, or has out of their place. Ids must grow by one from the first. */
export const lost = (events: ReadonlyArray<StreamEvent>): number => {
  const first = Number(events[0]?.id)
  const misplaced = outlines.filter((expected, index) => {
    const event = events[index]
    return event === undefined || outline(event.data) !== expected || Number(event.id) !== first + index
  })
  return misplaced.length + Math.max(0, events.length - outlines.length)
}
