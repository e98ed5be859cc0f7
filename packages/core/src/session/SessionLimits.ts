/**
 * How long a person's session goes on being renewed.
 *
 * Whoever came by a token of the identity provider gets sessions that renew themselves, and the provider is not asked
 * again: what it has ended since, a person who was locked out or a device that was lost, would go on here without end. So
 * renewals end, and the person signs in again there. A session that a key minted needs no such bound: each renewal, and
 * each request, asks whether the key still is.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`); NIST SP 800-63B §4.2.3 (reauthentication within 12 hours).
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

/** The bounds of sessions. */
export interface SessionLimits {
  /** From the moment that a person came by a token of their own to the end of the last session that comes of it. */
  readonly maximumAge: Duration.Duration
}

/** The bounds in force; a host replaces them by providing its own value. */
export const SessionLimits = Context.Reference<SessionLimits>("@castellan/core/session/SessionLimits", {
  defaultValue: () => ({ maximumAge: Duration.hours(12) })
})
