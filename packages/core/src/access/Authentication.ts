/**
 * From a bearer value to a principal: an API key, a session token of ours, or a token of the host's identity provider.
 * Nothing is cached: a key's roles are read live on every request, a session's members and keys as well.
 *
 * Source: api-v2.md "Authentication"; decisions.md §3; policy-cases K1 to K7, K24, K29 to K34, K40.
 */
import * as Brand from "effect/Brand"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ApiKeyHash } from "../apikey/ApiKey.ts"
import * as ApiKeySecret from "../apikey/ApiKeySecret.ts"
import { isUseNoted } from "../apikey/ApiKeyState.ts"
import { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import { Unauthenticated } from "../error/Failure.ts"
import type { Member } from "../member/Member.ts"
import { type Identity, IdentityTokens } from "../session/IdentityTokens.ts"
import type { Session } from "../session/Session.ts"
import { isInForce } from "../session/SessionPolicy.ts"
import { SessionTokens } from "../session/SessionTokens.ts"
import { asciiBytes } from "../text/AsciiBytes.ts"
import { CredentialFacts, type KeyFacts } from "./CredentialFacts.ts"
import * as EffectiveRoles from "./EffectiveRoles.ts"
import * as KeyAuthority from "./KeyAuthority.ts"
import { Principal } from "./Principal.ts"

/** A digest in hexadecimal has the form of a hash by its making: it is not checked again on every request. */
const ofDigest = Brand.nominal<ApiKeyHash>()

/** The digest of an issued value, which is base64. */
const digestOf = (digest: Digest.Digest["Service"], value: string): Effect.Effect<string> =>
  digest.digestHex(Digest.sha256, asciiBytes(value))

/** The hash under which a key's value is stored and looked up. */
export const hashOf: (secret: Redacted.Redacted<string>) => Effect.Effect<ApiKeyHash, never, Digest.Digest> = (
  secret
) => Digest.Digest.use((digest) => Effect.map(digestOf(digest, Redacted.value(secret)), ofDigest))

/** There is no credential at all. */
const missing = new Unauthenticated({ message: "Authentication required" })

/** The value was never issued: it was mistyped, cut off or reformatted. */
const malformed = new Unauthenticated({ message: "invalid API key format" })

/** Unknown, revoked, expired, foreign, or of a deactivated owner: one message, so that nothing is disclosed. */
const notFound = new Unauthenticated({ message: "invalid API key: API key not found" })

/** Of another signer, altered, expired, or of a deactivated member: one message again. */
const badToken = new Unauthenticated({ message: "invalid or expired token" })

/** Two credentials that speak for different principals: neither is believed (K34). */
const contradiction = new Unauthenticated({ message: "the credentials of the request name different principals" })

/** The form of a JSON Web Token. */
const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/

/** Tells who a bearer value speaks for. */
export class Authentication extends Context.Service<
  Authentication,
  {
    /** The principal of a bearer value; an empty one means that there was none. */
    readonly authenticate: (bearer: Redacted.Redacted<string>) => Effect.Effect<Principal, Unauthenticated>
    /**
     * The same of a value that is still a part of its request: what hides a value that nobody holds on to costs more than
     * to check a key's form.
     */
    readonly authenticateValue: (bearer: string) => Effect.Effect<Principal, Unauthenticated>
    /**
     * The principal of a request that can carry credentials in several places (`Authorization`, `svc_api_key`). Every
     * one that is there must be valid, and all must name the same principal.
     */
    readonly authenticateAll: (
      credentials: ReadonlyArray<Redacted.Redacted<string>>
    ) => Effect.Effect<Principal, Unauthenticated>
  }
>()("@castellan/core/access/Authentication") {}

/** Whether two credentials are of one principal: the same member, by the same key, session or token. */
const samePrincipal = (a: Principal, b: Principal): boolean =>
  a.organizationId === b.organizationId && a.memberId === b.memberId && Equal.equals(a.credential, b.credential)

/** Authenticates by what is kept of keys, members and roles, and the tokens of sessions and of the identity provider. */
export const layer: Layer.Layer<Authentication, never, ApiKeyStore | CredentialFacts | SessionTokens | Digest.Digest> =
  Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const keys = yield* ApiKeyStore
      const facts = yield* CredentialFacts
      const sessions = yield* SessionTokens
      const identities = yield* IdentityTokens
      const digest = yield* Digest.Digest

      /** Who a key speaks for at a moment, by what is known of it. */
      const ofFacts = (known: KeyFacts, now: DateTime.Utc): Effect.Effect<Principal, Unauthenticated> => {
        const authority = KeyAuthority.decide(known, now)
        if (Option.isNone(authority)) return Effect.fail(notFound)
        const { key, owner, roles } = authority.value
        const principal = new Principal({
          organizationId: key.organizationId,
          memberId: key.owner,
          roles,
          clientMetadata: key.clientMetadata,
          restricted: !key.fullMemberAccess,
          isSuperadmin: owner.standing === "superadmin",
          credential: { _tag: "ApiKey", id: key.id, rotatedFrom: key.rotatedFrom }
        })
        return isUseNoted(key, now)
          ? Effect.as(keys.used(key.organizationId, key.id, now), principal)
          : Effect.succeed(principal)
      }

      let latest = DateTime.makeUnsafe(0)

      /** Now, which the requests of one millisecond share: making it is a quarter of what the check of a key takes. */
      const nowBy = (clock: Clock.Clock): DateTime.Utc => {
        const millis = clock.currentTimeMillisUnsafe()
        if (DateTime.toEpochMillis(latest) !== millis) latest = DateTime.makeUnsafe(millis)
        return latest
      }

      const ofFound = (found: Option.Option<KeyFacts>): Effect.Effect<Principal, Unauthenticated> =>
        Option.isNone(found) ? Effect.fail(notFound) : Effect.clockWith((clock) => ofFacts(found.value, nowBy(clock)))

      const byDigest = (hexadecimal: string): Effect.Effect<Principal, Unauthenticated> =>
        Effect.flatMap(facts.ofHash(ofDigest(hexadecimal)), ofFound)

      // Untraced, all of it: it is a part of every request, whose own span tells as much.
      const byKey = (value: string): Effect.Effect<Principal, Unauthenticated> =>
        Effect.flatMap(digestOf(digest, value), byDigest)

      /** What is known of the member of a token, as long as they may act. */
      const ofActive = <Facts extends { readonly member: Member }>(found: Option.Option<Facts>) =>
        Option.isNone(found) || found.value.member.status._tag !== "Active" ? badToken : Effect.succeed(found.value)

      const bySession = Effect.fnUntraced(function* (session: Session, now: DateTime.Utc) {
        if (!isInForce(session, now)) return yield* badToken
        const { ceiling, clientMetadata, key, organizationId } = session
        const { key: keyFacts, member, roles } = yield* ofActive(yield* facts.ofSession(session))
        // A session never outlives the key that minted it, however that key ends.
        if (key !== undefined && Option.isNone(Option.flatMap(keyFacts, (found) => KeyAuthority.decide(found, now)))) {
          return yield* badToken
        }
        return new Principal({
          organizationId,
          memberId: member.id,
          roles: EffectiveRoles.ofSnapshot(session.roles, roles),
          clientMetadata,
          restricted: session.restricted,
          isSuperadmin: member.standing === "superadmin",
          credential: {
            _tag: "Session",
            id: session.id,
            // One that was made before sessions said so is as old as itself.
            ...(key === undefined ? { authenticatedAt: session.authenticatedAt ?? session.issuedAt } : { key }),
            ...(ceiling === undefined ? {} : { ceiling })
          }
        })
      })

      const byIdentity = Effect.fnUntraced(function* (identity: Identity, now: DateTime.Utc) {
        if (!isInForce(identity, now)) return yield* badToken
        const { organizationId, roles: ceiling } = identity
        const { member, roles } = yield* ofActive(yield* facts.ofMember(organizationId, identity.memberId))
        return new Principal({
          organizationId,
          memberId: member.id,
          roles: EffectiveRoles.ofCeiling(ceiling, member.roles, roles),
          restricted: false,
          isSuperadmin: member.standing === "superadmin",
          credential: { _tag: "Token", ...(ceiling === undefined ? {} : { ceiling }) }
        })
      })

      const byToken = Effect.fnUntraced(function* (value: Redacted.Redacted<string>) {
        const now = yield* DateTime.now
        const session = yield* sessions.read(value)
        if (Option.isSome(session)) return yield* bySession(session.value, now)
        const identity = yield* identities.read(value)
        return Option.isSome(identity) ? yield* byIdentity(identity.value, now) : yield* badToken
      })

      const authenticateValue = (value: string): Effect.Effect<Principal, Unauthenticated> => {
        // A key's value has no dot in it, so it is never a token as well.
        if (ApiKeySecret.isWellFormed(value)) return byKey(value)
        if (value === "") return Effect.fail(missing)
        return tokenForm.test(value) ? byToken(Redacted.make(value)) : Effect.fail(malformed)
      }
      const authenticate = (bearer: Redacted.Redacted<string>) => authenticateValue(Redacted.value(bearer))

      return Authentication.of({
        authenticate,
        authenticateValue,
        authenticateAll: Effect.fnUntraced(function* (credentials) {
          const [first, ...others] = yield* Effect.forEach(credentials, authenticate)
          if (first === undefined) return yield* missing
          return others.every((other) => samePrincipal(first, other)) ? first : yield* contradiction
        })
      })
    })
  )
