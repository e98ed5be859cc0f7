/**
 * Why the engine does not answer a request.
 */
import type { FailureKind } from "./Message.ts"

/** A request cannot be answered; the message is the statement's author's to read. */
export class EngineFailure extends Error {
  readonly kind: FailureKind
  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}
