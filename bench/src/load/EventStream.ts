/**
 * Reads server-sent events, as the WHATWG's HTML standard has them (9.2.6), out of a body that is there in full.
 */

/** One event. */
export interface StreamEvent {
  readonly id: string
  readonly data: string
}

/** The events of a stream, in order. Comments, and what has no data, are left out. */
export const eventsOf = (body: Buffer): ReadonlyArray<StreamEvent> => {
  const events: Array<StreamEvent> = []
  let id = ""
  let data: Array<string> = []
  for (const line of body.toString("utf8").split(/\r\n|\n|\r/)) {
    if (line === "") {
      if (data.length > 0) events.push({ id, data: data.join("\n") })
      data = []
      continue
    }
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "id") id = value
    else if (field === "data") data.push(value)
  }
  return events
}
