/**
 * Who calls, and what each is to be answered with by the rule of an operation.
 *
 * Source: decisions.md §1 ("Order of checks"), §3.
 */
import * as ApiKeySecret from "@castellan/core/apikey/ApiKeySecret"
import * as Permission from "@castellan/core/role/Permission"
import { Session } from "@castellan/core/session/Session"
import { SessionId } from "@castellan/core/session/SessionId"
import { SessionTokens } from "@castellan/core/session/SessionTokens"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { DateTime, Effect, Redacted } from "effect"
import type { Operation } from "./Operations.ts"
import { denied, notFound, type Refusal, type Rule } from "./Rule.ts"
import type { World } from "./World.ts"
import type { Authority } from "./WorldSessions.ts"

/** What a caller is answered with. */
export type Expectation = Refusal | "served"

/** A bearer value by which nobody is admitted to anything. */
export interface Outsider {
  readonly who: string
  /** None where no credential is sent. */
  readonly credential: string | undefined
  readonly message: string
}

const unknownKey = "invalid API key: API key not found"
const badToken = "invalid or expired token"

/** Everybody whom authentication turns away. */
export const outsiders = Effect.fnUntraced(function* (world: World) {
  const { keys } = world
  const now = yield* DateTime.now
  const tokens = yield* SessionTokens
  const expiredSession = yield* tokens.sign(
    new Session({
      id: SessionId.make(yield* Uuid.next),
      organizationId: world.tenant.organizationId,
      memberId: world.tenant.adminId,
      roles: [world.tenant.adminRole.id],
      restricted: false,
      issuedAt: DateTime.subtract(now, { minutes: 16 }),
      expiresAt: DateTime.subtract(now, { minutes: 1 })
    })
  )
  const { unrenewed } = yield* world.sessions
  const all: ReadonlyArray<Outsider> = [
    { who: "no credentials", credential: undefined, message: "Authentication required" },
    { who: "a malformed key", credential: `${keys.maker.slice(0, -2)}A=`, message: "invalid API key format" },
    { who: "a key in another alphabet", credential: `_${keys.maker.slice(1)}`, message: "invalid API key format" },
    { who: "a key that nobody has", credential: Redacted.value(yield* ApiKeySecret.generate), message: unknownKey },
    { who: "an expired key", credential: keys.expired, message: unknownKey },
    { who: "a revoked key", credential: keys.revoked, message: unknownKey },
    { who: "a key of a deactivated owner", credential: keys.deactivated, message: unknownKey },
    { who: "an expired session", credential: Redacted.value(expiredSession), message: badToken },
    { who: "an altered session", credential: `${unrenewed.slice(0, -2)}AA`, message: badToken }
  ]
  return all
})

/** Every permission but some; `admin` is none. */
export const without = (left: ReadonlyArray<string>): ReadonlyArray<Permission.Permission> =>
  Permission.all.filter((permission) => !left.includes(permission))

/** The authority that an operation asks for, and no more. */
export const exactly = ({ needs, proper }: Rule): Authority | "everything" => {
  if (proper !== "exact") return proper
  const held: Array<Permission.Permission> = []
  for (const { anyOf } of needs) {
    const [first] = anyOf
    if (first === "admin") return "admin"
    if (first !== undefined) held.push(first)
  }
  return held
}

/** What the holder of no permission at all is answered with. */
export const ofPowerless = (rule: Rule): Expectation => rule.except.powerless ?? rule.needs[0]?.otherwise ?? "served"

/**
 * What the holder of a session is answered with whose role was taken from its member a moment ago: the session has it
 * for its quarter of an hour (K40), but hands nothing on by it. Nothing where a request would be served and is no read.
 */
export const ofOldSession = ({ method }: Operation, { handsOn }: Rule): Expectation | undefined => {
  if (handsOn) return denied(/./)
  return method === "GET" ? "served" : undefined
}

/** What the maker is answered with through a key that does not count what is theirs. */
export const ofRestricted = ({ about, except }: Rule): Expectation => {
  if (except.restricted !== undefined) return except.restricted
  if (about._tag === "Carrier") return notFound(about.hiddenAs)
  return about._tag === "Sandcastle" ? notFound("sandcastle") : "served"
}

/** What somebody with every permission is answered with, whom nothing is shared with. */
export const ofStranger = ({ about, except }: Rule): Expectation => {
  if (except.stranger !== undefined) return except.stranger
  switch (about._tag) {
    case "Carrier":
      return notFound(about.hiddenAs)
    case "Sandcastle":
      return notFound("sandcastle")
    case "Change":
      return notFound("change")
    default:
      return "served"
  }
}

/** What somebody with every permission is answered with whom the object is shown to; nothing where nothing is shown. */
export const ofViewer = ({ about }: Rule): Expectation | undefined => {
  if (about._tag !== "Carrier") return undefined
  return about.reach === "viewer"
    ? "served"
    : denied(`permission denied: ${about.reach} access to this ${about.thing} is required`)
}

/** What an administrator is answered with, who owns nothing of it: it is seen, and no more. */
export const ofAdministrator = ({ about, except }: Rule): Expectation => {
  if (except.administrator !== undefined) return except.administrator
  if (about._tag === "Sandcastle") return notFound("sandcastle")
  if (about._tag !== "Carrier") return "served"
  // An agent is hidden from whoever lacks a connector that it uses, and this one's is shared with nobody else.
  return about.thing === "agent"
    ? notFound(about.hiddenAs)
    : denied(`permission denied: ${about.reach} access to this ${about.thing} is required`)
}

/** What an administrator of another organization is answered with. */
export const ofForeigner = ({ about, except }: Rule): Expectation => {
  if (except.foreign !== undefined) return except.foreign
  switch (about._tag) {
    case "Carrier":
      return notFound(about.hiddenAs)
    case "Sandcastle":
      return notFound("sandcastle")
    case "Change":
      return notFound("change")
    case "Administered":
      return notFound(about.thing)
    case "Nothing":
      return "served"
  }
}
