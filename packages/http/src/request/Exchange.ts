/**
 * What the handling of a request leaves for its answer, whatever becomes of it: headers that stand on every answer from
 * some point on, errors and replays as well.
 */
import * as Context from "effect/Context"
import * as RequestId from "./RequestId.ts"

/** One request on its way to its answer. */
export class Exchange {
  /** Headers of the answer; names in lower case. */
  readonly headers: Record<string, string>

  /** With the headers that the answer to any request has. */
  constructor(requestId: string) {
    // Written out, so that all of them have one shape: what goes over them is quicker for it.
    this.headers = { "x-request-id": requestId, "x-content-type-options": "nosniff" }
  }
}

/** The exchange of this fiber. The boundary makes one for each request. */
export const CurrentExchange = Context.Reference<Exchange>("@castellan/http/request/Exchange", {
  defaultValue: () => new Exchange(RequestId.of(undefined))
})
