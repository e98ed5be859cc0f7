/**
 * A request for a new API key, read: after it, what contradicts itself cannot be said any more.
 *
 * Source: api-v2.md "API keys"; decisions.md §3; policy-cases K8, K10, K25, R4.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type ClientMetadata, isEmpty, parse as parseClientMetadata } from "../access/ClientMetadata.ts"
import type { MemberId } from "../member/Member.ts"
import type { RoleId } from "../role/Role.ts"
import { nameLength } from "./ApiKey.ts"

/** What is asked for, in the words of the wire. */
export interface KeyRequest {
  /** Seconds until the key expires; absent: what the host has set. */
  readonly expirySeconds?: number
  readonly assumedRoles?: ReadonlyArray<RoleId>
  readonly inheritAllRoles?: boolean
  readonly name?: string
  /** The service account to mint for; absent: the caller. */
  readonly targetMemberId?: MemberId
  /** Client metadata: a JSON object of scalars, as text. */
  readonly clientId?: string
  readonly fullMemberAccess?: boolean
}

/** Which roles the key is to assume. */
export type RoleSelection =
  | { readonly _tag: "Chosen"; readonly roles: ReadonlyArray<RoleId> }
  /** All that the caller has at this moment. */
  | { readonly _tag: "Inherited" }

/** What a key is to be. */
export interface KeyTerms {
  readonly roles: RoleSelection
  /** Absent: what the host has set. */
  readonly lifetime?: Duration.Duration
  readonly name?: string
  readonly target?: MemberId
  readonly clientMetadata?: ClientMetadata
  readonly fullMemberAccess: boolean
}

/** Seconds that a key may live, at least and at most. */
export const expirySeconds = { minimum: 60, maximum: 31_536_000 } as const

/** A request that contradicts itself, or is out of bounds; the message names the field and the rule. */
export class KeyRequestRefusal extends Schema.TaggedError<KeyRequestRefusal>()("KeyRequestRefusal", {
  field: Schema.Literals(["expirySeconds", "assumedRoles", "inheritAllRoles", "name", "clientId"]),
  rule: Schema.String
}) {
  override get message(): string {
    return `${this.field}: ${this.rule}`
  }
}

const refuse = (field: KeyRequestRefusal["field"], rule: string): Result.Result<never, KeyRequestRefusal> =>
  Result.fail(new KeyRequestRefusal({ field, rule }))

const selection = (request: KeyRequest): Result.Result<RoleSelection, KeyRequestRefusal> => {
  const chosen = request.assumedRoles ?? []
  const inherit = request.inheritAllRoles ?? false
  if (chosen.length > 0) {
    return inherit
      ? refuse("inheritAllRoles", "must not be true together with assumedRoles")
      : Result.succeed({ _tag: "Chosen", roles: [...new Set(chosen)] })
  }
  return inherit
    ? Result.succeed({ _tag: "Inherited" })
    : refuse("assumedRoles", "must name a role, unless inheritAllRoles is true")
}

const lifetime = (seconds: number | undefined): Result.Result<Duration.Duration | undefined, KeyRequestRefusal> => {
  if (seconds === undefined) return Result.succeed(undefined)
  const { maximum, minimum } = expirySeconds
  return Number.isInteger(seconds) && seconds >= minimum && seconds <= maximum
    ? Result.succeed(Duration.seconds(seconds))
    : refuse("expirySeconds", `must be an integer from ${minimum} to ${maximum}`)
}

const metadata = (clientId: string | undefined): Result.Result<ClientMetadata | undefined, KeyRequestRefusal> =>
  clientId === undefined
    ? Result.succeed(undefined)
    : Result.mapError(
        parseClientMetadata(clientId),
        (refusal) => new KeyRequestRefusal({ field: "clientId", rule: refusal.rule })
      )

/** Reads a request, or refuses it by the first of its fields that cannot stand. */
export const parse = (request: KeyRequest): Result.Result<KeyTerms, KeyRequestRefusal> =>
  Result.gen(function* () {
    const roles = yield* selection(request)
    const lives = yield* lifetime(request.expirySeconds)
    const { fullMemberAccess = false, name, targetMemberId } = request
    if (name !== undefined && (name.trim() === "" || name.length > nameLength)) {
      return yield* refuse("name", `must be 1 to ${nameLength} characters, not all of them spaces`)
    }
    // What no database keeps as it is: a name is refused here, not where it is stored.
    if (name !== undefined && (!name.isWellFormed() || name.includes("\0"))) {
      return yield* refuse("name", "must be whole Unicode text without NUL")
    }
    const clientMetadata = yield* metadata(request.clientId)
    return {
      roles,
      ...(lives === undefined ? {} : { lifetime: lives }),
      ...(name === undefined ? {} : { name }),
      ...(targetMemberId === undefined ? {} : { target: targetMemberId }),
      // An object without a field says nothing of anybody: the key is as one without it.
      ...(clientMetadata === undefined || isEmpty(clientMetadata) ? {} : { clientMetadata }),
      fullMemberAccess
    }
  })
