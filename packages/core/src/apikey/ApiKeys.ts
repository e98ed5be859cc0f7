/**
 * The use cases of API keys.
 *
 * Source: api-v2.md "API keys", "Key model"; decisions.md §3; policy-cases K8 to K19, K25 to K29, K35 to K39.
 */
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { hashOf } from "../access/Authentication.ts"
import { CredentialFacts } from "../access/CredentialFacts.ts"
import { enforce, refusal } from "../access/Decision.ts"
import * as HeldNow from "../access/HeldNow.ts"
import * as KeyAuthority from "../access/KeyAuthority.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { InvalidRequest, NotFound, type PermissionDenied, Unauthenticated } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { defaultKeyExpiry } from "../organization/Organization.ts"
import { OrganizationStore } from "../organization/OrganizationStore.ts"
import type { Position, Slice } from "../page/Page.ts"
import { ApiKey, ApiKeyId, ApiKeyStatus, AssumedRoles, type Minter } from "./ApiKey.ts"
import * as ApiKeyPolicy from "./ApiKeyPolicy.ts"
import { recordOf } from "./ApiKeyRecord.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import * as ApiKeyState from "./ApiKeyState.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import * as KeyRequest from "./KeyRequest.ts"
import * as MintPolicy from "./MintPolicy.ts"

/** Which keys to list. */
export interface ApiKeyListing {
  /** Absent: the widest that the caller may list. */
  readonly scope?: ApiKeyPolicy.ApiKeyScope
  /** Whether revoked keys are listed too; not unless it is true. */
  readonly includeRevoked?: boolean
  readonly limit: number
  readonly after?: Position
}

/** A key that was just made, with its value: this is the one time that it is shown. */
export interface IssuedApiKey {
  readonly apiKey: ApiKey
  readonly secret: ApiKeySecret.ApiKeySecret
}

/** A key that took the place of another. */
export interface RotatedApiKey extends IssuedApiKey {
  /** The key that it replaced: revoked, or active to the end of its grace. */
  readonly retired: ApiKey
}

/** Seconds that a rotated key may go on working, at most. */
export const maximumGraceSeconds = 86_400

/** The use cases of API keys. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Mints a key for the caller, or for a service account. */
    readonly mint: (
      request: KeyRequest.KeyRequest
    ) => Effect.Effect<IssuedApiKey, InvalidRequest | Unauthenticated | PermissionDenied | NotFound, CurrentPrincipal>
    /** The keys that the caller may see, newest first. */
    readonly list: (
      listing: ApiKeyListing
    ) => Effect.Effect<Slice<ApiKey>, PermissionDenied | NotFound, CurrentPrincipal>
    /** Ends a key at once and for good. */
    readonly revoke: (
      id: ApiKeyId
    ) => Effect.Effect<ApiKey, InvalidRequest | PermissionDenied | NotFound, CurrentPrincipal>
    /** Replaces a key by one with another value; the old one goes on for `graceSeconds` (0 unless given). */
    readonly rotate: (
      id: ApiKeyId,
      options?: { readonly graceSeconds?: number }
    ) => Effect.Effect<RotatedApiKey, InvalidRequest | Unauthenticated | PermissionDenied | NotFound, CurrentPrincipal>
  }
>()("@castellan/core/apikey/ApiKeys") {}

const invalid = (fault: { readonly message: string }) => new InvalidRequest({ message: fault.message })

/** The key that the caller came by ended while the request was on its way. */
const ended = new Unauthenticated({ message: "invalid API key: API key not found" })

const minterOf = (principal: Principal): Minter => ({
  memberId: principal.memberId,
  ...(principal.key === undefined ? {} : { apiKeyId: principal.key.id })
})

/** The grace of a rotation, within its bounds. */
const graceOf = (seconds: number): Result.Result<Duration.Duration, InvalidRequest> =>
  Number.isInteger(seconds) && seconds >= 0 && seconds <= maximumGraceSeconds
    ? Result.succeed(Duration.seconds(seconds))
    : Result.fail(new InvalidRequest({ message: `graceSeconds: must be an integer from 0 to ${maximumGraceSeconds}` }))

/** The use cases over the stores. */
export const layer: Layer.Layer<
  ApiKeys,
  never,
  ApiKeyStore | CredentialFacts | Digest.Digest | MemberStore | OrganizationStore | SecureRandom.SecureRandom | UseCase
> = Layer.effect(
  ApiKeys,
  Effect.gen(function* () {
    const facts = yield* CredentialFacts
    const store = yield* ApiKeyStore
    const members = yield* MemberStore
    const asOfNow = HeldNow.make(members)
    const organizations = yield* OrganizationStore
    const useCase = yield* UseCase
    const random = yield* SecureRandom.SecureRandom
    const digest = yield* Digest.Digest

    /** An id, a value and its hash: what is new about every key. */
    const novelty = Effect.gen(function* () {
      const secret = yield* ApiKeySecret.generate
      return { id: ApiKeyId.make(yield* Uuid.next), secret, hash: yield* hashOf(secret) }
    }).pipe(Effect.provideService(SecureRandom.SecureRandom, random), Effect.provideService(Digest.Digest, digest))

    /** The key that the caller came by; none for a caller who came by no key. It must still work. */
    const callerKey = Effect.fnUntraced(function* (principal: Principal, now: DateTime.Utc) {
      if (principal.key === undefined) return undefined
      const found = yield* facts.ofKey(principal.organizationId, principal.key.id)
      const authority = Option.flatMap(found, (one) => KeyAuthority.decide(one, now))
      return Option.isNone(authority) ? yield* ended : authority.value.key
    })

    const defaultLifetime = Effect.fnUntraced(function* (principal: Principal) {
      const organization = yield* organizations.get(principal.organizationId)
      const expiry = Option.isSome(organization) ? organization.value.keyExpiry : defaultKeyExpiry
      return expiry._tag === "After" ? Duration.seconds(expiry.seconds) : undefined
    })

    const load = Effect.fnUntraced(function* (principal: Principal, id: ApiKeyId) {
      const key = yield* store.get(principal.organizationId, id)
      if (Option.isNone(key)) return yield* new NotFound({ message: "API key not found" })
      const owner = yield* members.get(principal.organizationId, key.value.owner)
      return { key: key.value, owner: Option.getOrUndefined(owner) }
    })

    /** Which owners' keys a list holds: of the scope, and none that are kept from the caller. */
    const ownersOf = Effect.fnUntraced(function* (principal: Principal, scope: ApiKeyPolicy.ApiKeyScope) {
      if (scope === "personal") {
        const client = principal.clientMetadata
        return {
          owners: [principal.memberId],
          ...(client !== undefined && ApiKeyPolicy.speaksForClient(principal) ? { client } : {})
        }
      }
      const everybody = yield* members.list(principal.organizationId)
      const exceptOwners = everybody
        .filter((member) => ApiKeyPolicy.isHiddenOwner(principal, member))
        .map((member) => member.id)
      if (scope === "all") return { exceptOwners }
      return { exceptOwners, owners: everybody.filter((member) => member.isServiceAccount).map((member) => member.id) }
    })

    return ApiKeys.of({
      mint: Effect.fn("ApiKeys.mint")(function* (request) {
        const terms = yield* Effect.fromResult(Result.mapError(KeyRequest.parse(request), invalid))
        const { hash, id, secret } = yield* novelty
        return yield* useCase.run(
          { action: "mint", target: { type: "api_key" } },
          Effect.fnUntraced(function* (principal) {
            const now = yield* DateTime.now
            const owner = yield* members.get(principal.organizationId, terms.target ?? principal.memberId)
            const decided = MintPolicy.decide(terms, {
              principal: yield* asOfNow(principal),
              owner: Option.getOrUndefined(owner),
              parent: yield* callerKey(principal, now),
              now,
              defaultLifetime: yield* defaultLifetime(principal)
            })
            const { roles, ...minted } = yield* Effect.fromResult(Result.mapError(decided, refusal))
            const apiKey = new ApiKey({
              ...minted,
              id,
              organizationId: principal.organizationId,
              ...(terms.name === undefined ? {} : { name: terms.name }),
              assumedRoles: AssumedRoles.cases.Snapshot.make({ roles }),
              hash,
              status: ApiKeyStatus.cases.Active.make({}),
              rotatedFrom: [],
              mintedBy: minterOf(principal),
              createdAt: now
            })
            yield* store.save(apiKey)
            return {
              answer: { apiKey, secret },
              entries: [{ action: "mint", target: { type: "api_key", id }, after: recordOf(apiKey) }]
            }
          })
        )
      }),

      list: Effect.fn("ApiKeys.list")(function* (listing) {
        return yield* useCase.read(
          { action: "list", target: { type: "api_key" } },
          Effect.fnUntraced(function* (principal) {
            const scope = listing.scope ?? ApiKeyPolicy.widestScope(principal)
            yield* enforce(ApiKeyPolicy.list(principal, scope))
            return yield* store.list(principal.organizationId, {
              ...(yield* ownersOf(principal, scope)),
              includeRevoked: listing.includeRevoked ?? false,
              limit: listing.limit,
              ...(listing.after === undefined ? {} : { after: listing.after })
            })
          })
        )
      }),

      revoke: Effect.fn("ApiKeys.revoke")(function* (id) {
        return yield* useCase.run(
          { action: "revoke", target: { type: "api_key", id } },
          Effect.fnUntraced(function* (principal) {
            const { key, owner } = yield* load(principal, id)
            yield* enforce(ApiKeyPolicy.revoke(principal, key, owner))
            const transition = ApiKeyState.revoke(key, yield* DateTime.now)
            const revoked = yield* Effect.fromResult(Result.mapError(transition, invalid))
            yield* store.save(revoked)
            const target = { type: "api_key", id } as const
            return {
              answer: revoked,
              entries: [{ action: "revoke", target, before: recordOf(key), after: recordOf(revoked) }]
            }
          })
        )
      }),

      rotate: Effect.fn("ApiKeys.rotate")(function* (id, options) {
        const grace = yield* Effect.fromResult(graceOf(options?.graceSeconds ?? 0))
        const { hash, id: successorId, secret } = yield* novelty
        return yield* useCase.run(
          { action: "rotate", target: { type: "api_key", id } },
          Effect.fnUntraced(function* (principal) {
            const now = yield* DateTime.now
            const { key, owner } = yield* load(principal, id)
            const standing = { owner, callerKey: yield* callerKey(principal, now) }
            yield* enforce(ApiKeyPolicy.rotate(yield* asOfNow(principal), key, standing))
            const succession = { id: successorId, hash, mintedBy: minterOf(principal), grace }
            const transition = ApiKeyState.rotate(key, succession, now)
            const { retired, successor } = yield* Effect.fromResult(Result.mapError(transition, invalid))
            yield* store.save(retired)
            yield* store.save(successor)
            const target = { type: "api_key", id } as const
            return {
              answer: { apiKey: successor, secret, retired },
              entries: [
                {
                  action: "rotate",
                  target,
                  before: recordOf(key),
                  after: { retired: recordOf(retired), successor: recordOf(successor) }
                }
              ]
            }
          })
        )
      })
    })
  })
)
