/**
 * What failures of a DuckDB process are in the terms of the connector port.
 */
import {
  ConnectorError,
  SourceOutOfMemory,
  SourceUnavailable,
  StatementFailed,
  StatementRefused
} from "@castellan/core/connector/ConnectorDriver"
import type { Response } from "./Message.ts"
import type { ProcessEnded } from "./ProcessEnded.ts"

const outOfMemory = () =>
  new SourceOutOfMemory({ message: "the statement needs more memory than this source may use, and was stopped" })

/** The statement failed. */
export const failed = (message: string): ConnectorError =>
  new ConnectorError({ reason: new StatementFailed({ message }) })

/** The source cannot be reached. */
export const unavailable = (message: string): ConnectorError =>
  new ConnectorError({ reason: new SourceUnavailable({ message }) })

/** A process ended before it answered. */
export const ofEnd = (end: ProcessEnded): ConnectorError => {
  switch (end.reason) {
    case "memory":
      return new ConnectorError({ reason: outOfMemory() })
    case "protocol":
      return unavailable("the process of this source sent what is no answer, and was ended")
    case "unresponsive":
      return unavailable("the process of this source did not stop, and was ended")
    case "ended":
      return unavailable("the process of this source ended before it answered")
    case "closed":
      return unavailable("this source is being closed")
  }
}

/** A response that is not the one that was asked for: a failure that it reports, or a breach of the protocol. */
export const ofReply = (response: Response): ConnectorError => {
  if (response._tag !== "Failed") return unavailable("the process of this source gave an unexpected answer")
  switch (response.kind) {
    case "refused":
      return new ConnectorError({ reason: new StatementRefused({ message: response.message }) })
    case "failed":
    case "unreadable":
    case "oversized":
      return failed(response.message)
    case "memory":
      return new ConnectorError({ reason: outOfMemory() })
    case "cancelled":
      return unavailable("the statement was stopped before it answered")
  }
}
