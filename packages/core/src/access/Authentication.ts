/**
 * From a bearer value to a principal. Roles are read live on every request; nothing is cached.
 *
 * Source: api-v2.md "Authentication"; decisions.md §3; policy-cases K1 to K7, K24, K30 to K33.
 */
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { ApiKeyHash } from "../apikey/ApiKey.ts"
import * as ApiKeySecret from "../apikey/ApiKeySecret.ts"
import { statusAt } from "../apikey/ApiKeyState.ts"
import { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import { Unauthenticated } from "../error/Failure.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { RoleStore } from "../role/RoleStore.ts"
import * as EffectiveRoles from "./EffectiveRoles.ts"
import { Principal } from "./Principal.ts"

/** The bytes of a value: an issued one is base64, so its characters are its bytes. */
const bytesOf = (value: string): Uint8Array => {
  const bytes = new Uint8Array(value.length)
  for (let index = 0; index < value.length; index++) bytes[index] = value.charCodeAt(index)
  return bytes
}

/** A digest in hexadecimal has the form of a hash by its making: it is not checked again on every request. */
const hashWith = (digest: Digest.Digest["Service"], secret: Redacted.Redacted<string>): Effect.Effect<ApiKeyHash> =>
  Effect.map(digest.digestHex(Digest.sha256, bytesOf(Redacted.value(secret))), (hex) =>
    ApiKeyHash.make(hex, { disableChecks: true })
  )

/** The hash under which a key's value is stored and looked up. */
export const hashOf: (secret: Redacted.Redacted<string>) => Effect.Effect<ApiKeyHash, never, Digest.Digest> = (
  secret
) => Digest.Digest.use((digest) => hashWith(digest, secret))

/** Unknown, revoked, expired, foreign, or of a deactivated owner: one message, so that nothing is disclosed. */
const notFound = new Unauthenticated({ message: "invalid API key: API key not found" })

/** Tells who a bearer value speaks for. */
export class Authentication extends Context.Service<
  Authentication,
  {
    /** The principal of a bearer value; an empty one means that there was none. */
    readonly authenticate: (bearer: Redacted.Redacted<string>) => Effect.Effect<Principal, Unauthenticated>
  }
>()("@castellan/core/access/Authentication") {}

/** Authenticates by the stores of keys, members and roles. */
export const layer: Layer.Layer<Authentication, never, ApiKeyStore | MemberStore | RoleStore | Digest.Digest> =
  Layer.effect(
    Authentication,
    Effect.gen(function* () {
      const keys = yield* ApiKeyStore
      const members = yield* MemberStore
      const roles = yield* RoleStore
      const digest = yield* Digest.Digest

      // Untraced: it is a part of every request, whose own span tells as much.
      const authenticate = Effect.fnUntraced(function* (bearer: Redacted.Redacted<string>) {
        const value = Redacted.value(bearer)
        if (value === "") return yield* new Unauthenticated({ message: "Authentication required" })
        if (!ApiKeySecret.isWellFormed(value)) {
          return yield* new Unauthenticated({ message: "invalid API key format" })
        }
        const hash = yield* hashWith(digest, bearer)
        const found = yield* keys.byHash(hash)
        if (Option.isNone(found)) return yield* notFound
        const key = found.value
        if (statusAt(key, yield* DateTime.now) !== "active") return yield* notFound
        const owner = yield* members.get(key.organizationId, key.owner)
        if (Option.isNone(owner) || owner.value.status._tag !== "Active") return yield* notFound
        const existing = yield* roles.list(key.organizationId)
        return new Principal(
          {
            organizationId: key.organizationId,
            memberId: key.owner,
            roles: EffectiveRoles.ofKey(key.assumedRoles, owner.value.roles, existing),
            ...(key.clientMetadata === undefined ? {} : { clientMetadata: key.clientMetadata }),
            restricted: !key.fullMemberAccess,
            isSuperadmin: owner.value.standing === "superadmin",
            credential: { _tag: "ApiKey", id: key.id, rotatedFrom: key.rotatedFrom }
          },
          // All of it comes from rows that were checked when they were made.
          { disableChecks: true }
        )
      })

      return Authentication.of({ authenticate })
    })
  )
