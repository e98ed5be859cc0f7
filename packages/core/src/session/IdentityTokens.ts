/**
 * The port that reads the tokens of the host's own identity provider. The adapter verifies them against a JWKS or a
 * shared secret; whether one still holds, and what its member may do, is decided here as for every credential.
 *
 * Source: decisions.md §3 ("a JWT verified against a JWKS or a shared secret").
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { MemberId } from "../member/Member.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { RoleId } from "../role/Role.ts"

/** What a verified token says. */
export interface Identity {
  /** Claim `org`. */
  readonly organizationId: OrganizationId
  /** Claim `sub`. */
  readonly memberId: MemberId
  /** The roles that it names; absent: they are read live. */
  readonly roles?: ReadonlyArray<RoleId>
  /** Claim `nbf`. */
  readonly notBefore?: DateTime.Utc
  /** Claim `exp`. */
  readonly expiresAt: DateTime.Utc
}

/** Reads tokens of identity providers. */
export interface IdentityTokens {
  /**
   * What a token says; nothing where its signature, algorithm, issuer or audience is not one that the host expects, or
   * a claim is missing. `alg: none` is never expected. Its times are not looked at.
   */
  readonly read: (token: Redacted.Redacted<string>) => Effect.Effect<Option.Option<Identity>>
}

/** The identity provider of the host; none, so that every token is unknown, unless the host provides one. */
export const IdentityTokens = Context.Reference<IdentityTokens>("@castellan/core/session/IdentityTokens", {
  defaultValue: () => ({ read: () => Effect.succeedNone })
})
