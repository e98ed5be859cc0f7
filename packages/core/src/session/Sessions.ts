/**
 * The use case of sessions: a short-lived token for a browser.
 *
 * Source: decisions.md §3 (`POST /v2/sessions`).
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { CredentialFacts } from "../access/CredentialFacts.ts"
import { enforce } from "../access/Decision.ts"
import * as KeyAuthority from "../access/KeyAuthority.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { type NotFound, type PermissionDenied, Unauthenticated } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { Session } from "./Session.ts"
import { SessionId } from "./SessionId.ts"
import { SessionLimits } from "./SessionLimits.ts"
import * as SessionPolicy from "./SessionPolicy.ts"
import { SessionTokens } from "./SessionTokens.ts"

/** A session with its token, which is shown once. */
export interface MintedSession {
  readonly session: Session
  readonly token: Redacted.Redacted<string>
}

/** The use case of sessions. */
export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Mints a session of the caller with the roles that it has at this moment. Minting it again renews it; where no key is
     * behind it, until `SessionLimits` ends that.
     */
    readonly mint: Effect.Effect<MintedSession, Unauthenticated | PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/session/Sessions") {}

/** The member's identity provider has not been asked for longer than it may not be. */
const tooOld = new Unauthenticated({ message: "the session cannot be renewed any longer: sign in again" })

/** What the credential stood for ended while the request was on its way. */
const ended = new Unauthenticated({ message: "Authentication required" })

const recordOf = (session: Session): Schema.JsonObject => ({
  roles: session.roles,
  restricted: session.restricted,
  expiresAt: DateTime.formatIso(session.expiresAt),
  ...(session.key === undefined ? {} : { key: session.key.id })
})

/** Sessions over the stores, with tokens by the port. */
export const layer: Layer.Layer<
  Sessions,
  never,
  CredentialFacts | SecureRandom.SecureRandom | SessionTokens | UseCase
> = Layer.effect(
  Sessions,
  Effect.gen(function* () {
    const facts = yield* CredentialFacts
    const tokens = yield* SessionTokens
    const useCase = yield* UseCase
    const random = yield* SecureRandom.SecureRandom
    const limits = yield* SessionLimits

    const open = Effect.fnUntraced(function* (principal: Principal, id: SessionId) {
      const now = yield* DateTime.now
      const { key, memberId, organizationId } = principal
      if (key !== undefined) {
        const found = yield* facts.ofKey(organizationId, key.id)
        const authority = Option.flatMap(found, (one) => KeyAuthority.decide(one, now))
        return Option.isNone(authority) ? yield* ended : SessionPolicy.ofKey(id, authority.value, now)
      }
      const found = yield* facts.ofMember(organizationId, memberId)
      if (Option.isNone(found) || found.value.member.status._tag !== "Active") return yield* ended
      const { member, roles } = found.value
      const authenticated = SessionPolicy.authenticatedAt(principal, now)
      if (authenticated === undefined) return yield* ended
      const ceiling = SessionPolicy.ceilingOf(principal)
      const session = SessionPolicy.ofMember({ authenticated, ceiling, existing: roles, id, limits, member }, now)
      return Option.isNone(session) ? yield* tooOld : session.value
    })

    return Sessions.of({
      mint: Effect.gen(function* () {
        const id = SessionId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random))
        const session = yield* useCase.run(
          { action: "login", target: { type: "session" } },
          Effect.fnUntraced(function* (principal) {
            yield* enforce(SessionPolicy.mint(principal))
            const opened = yield* open(principal, id)
            return {
              answer: opened,
              entries: [{ action: "login", target: { type: "session", id }, after: recordOf(opened) }]
            }
          })
        )
        return { session, token: yield* tokens.sign(session) }
      }).pipe(Effect.withSpan("Sessions.mint"))
    })
  })
)
