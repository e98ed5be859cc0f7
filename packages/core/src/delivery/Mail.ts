/**
 * A mail: a report as it goes to one mailbox.
 *
 * Source: decisions.md §6 (deliveries).
 */
import type { EmailAddress } from "../member/EmailAddress.ts"
import type { DeliveryId } from "./Delivery.ts"

/** A picture that a mail carries within itself. */
export interface InlineImage {
  /** How the mail's HTML refers to it: `cid:` and this. */
  readonly contentId: string
  readonly mediaType: "image/png"
  readonly content: Uint8Array
}

/** A mail to one mailbox. The sender is the adapter's own. */
export interface Mail {
  /** The same for every attempt at the same mail. */
  readonly idempotencyKey: DeliveryId
  readonly to: EmailAddress
  /** One line. */
  readonly subject: string
  /** A whole HTML document, for clients that show such. */
  readonly html: string
  /** The same in plain text. */
  readonly text: string
  readonly images: ReadonlyArray<InlineImage>
}
