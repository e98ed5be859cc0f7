/**
 * How an attempt to send can fail.
 */
import * as Schema from "effect/Schema"

/**
 * What an attempt that failed means for the next one.
 *
 * - `retryable`: nothing was sent, and a later attempt may succeed
 * - `permanent`: nothing was sent, and no attempt ever will be: the address does not exist, the channel is closed
 * - `unknown`: the message may have been sent; only a service that drops repeats can be asked again
 */
export const DeliveryErrorKind = Schema.Literals(["retryable", "permanent", "unknown"])
export type DeliveryErrorKind = typeof DeliveryErrorKind.Type

/** A report was not sent, or nobody knows whether it was. */
export class DeliveryError extends Schema.TaggedError<DeliveryError>()("DeliveryError", {
  kind: DeliveryErrorKind,
  /** What went wrong, fit for those who may read the playbook: without a secret of the service in it. */
  message: Schema.String
}) {}
