/**
 * A parser of server-sent events, as the WHATWG HTML standard (section 9.2.6) interprets a stream, in the few lines
 * that a browser bundle wants. It is fed text in pieces of any size and hands out each event when its blank line comes.
 */

import { CastellanError } from "./CastellanError.ts"

/** An event of a stream. */
export interface ServerSentEvent {
  /** The last id that the stream set, at this event or before; empty when it never did. */
  readonly id: string
  /** The name of the event; `message` when the stream gives none. */
  readonly event: string
  readonly data: string
}

/** Takes a stream's text in pieces. */
export interface EventStreamParser {
  /** Takes the next piece, and hands out the events that it completes. */
  readonly feed: (piece: string) => ReadonlyArray<ServerSentEvent>
}

/** Characters that one event may have: a server that sends more is broken, and would fill the memory. */
export const maximumEventLength = 16 * 1024 * 1024

/** A parser at the start of a stream. */
export const make = (): EventStreamParser => {
  /** What there is of a line that has not ended, in pieces, so that a long one is joined once. */
  let pending: Array<string> = []
  let length = 0
  let atStart = true
  /** The last piece ended in a carriage return: a line feed at the start of the next belongs to it. */
  let afterReturn = false
  let id = ""
  let event = ""
  let data: Array<string> = []

  const takeField = (name: string, value: string): void => {
    if (name === "data") data.push(value)
    else if (name === "event") event = value
    else if (name === "id" && !value.includes("\0")) id = value
    // `retry` is for a browser's own reconnection; this client has a rule of its own. Anything else is ignored.
  }

  const takeLine = (line: string, events: Array<ServerSentEvent>): void => {
    if (line === "") {
      if (data.length > 0) events.push({ id, event: event === "" ? "message" : event, data: data.join("\n") })
      event = ""
      data = []
      length = 0
      return
    }
    const colon = line.indexOf(":")
    if (colon === 0) return
    if (colon === -1) takeField(line, "")
    else takeField(line.slice(0, colon), line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1))
  }

  return {
    feed: (piece) => {
      const events: Array<ServerSentEvent> = []
      if (piece === "") return events
      let rest = piece
      if (atStart && rest.startsWith("\uFEFF")) rest = rest.slice(1)
      atStart = false
      if (afterReturn && rest.startsWith("\n")) rest = rest.slice(1)
      afterReturn = rest === "" ? false : rest.endsWith("\r")
      length += rest.length
      const lines = rest.split(/\r\n|\n|\r/)
      const last = lines.pop() ?? ""
      for (const line of lines) {
        takeLine(pending.length === 0 ? line : pending.join("") + line, events)
        pending = []
      }
      if (last !== "") pending.push(last)
      if (length > maximumEventLength) {
        throw new CastellanError({
          code: "unexpected_response",
          message: `the stream has an event of more than ${maximumEventLength} characters`
        })
      }
      return events
    }
  }
}
