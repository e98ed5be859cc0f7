/**
 * Session tokens on the wire.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`).
 */
import type { MintedSession } from "@castellan/core/session/Sessions"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { text, timestamp } from "../wire/WireValue.ts"

/** A session's token. */
export const SessionWire = Schema.Struct({
  token: text("The session's token, to be sent as a bearer value"),
  expires_at: timestamp("When it stops working: 15 minutes after it was made, or sooner with the key that made it")
}).annotate({ identifier: "Session", description: "A short-lived token for a browser" })
export type SessionWire = typeof SessionWire.Type

/** A session as the wire shows it. */
export const ofMintedSession = ({ session, token }: MintedSession): SessionWire => ({
  token: Redacted.value(token),
  expires_at: session.expiresAt
})
