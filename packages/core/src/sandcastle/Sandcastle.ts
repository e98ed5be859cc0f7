/**
 * A sandcastle: a sandbox that a member works in, directly or through a chat. It holds a Python session with its
 * variables and dataframes, and files; the context library is mounted into it.
 *
 * Source: api-v2.md "Sandcastles"; decisions.md §7.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Creator } from "../access/Access.ts"
import { ChatId } from "../chat/Chat.ts"
import { Uuid } from "../identifier/Uuid.ts"
import { CommitId, TreeId } from "../library/ObjectId.ts"
import { OrganizationId } from "../organization/Organization.ts"

/** A sandcastle's id: an opaque string, which the runtime uses as the tag of the session. */
export const SandcastleId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, { title: "a sandcastle id" })
).pipe(Schema.brand("SandcastleId"))
export type SandcastleId = typeof SandcastleId.Type

/** The id of a process that has sessions open. Each has a new one: a process that is started again is another server. */
export const ServerId = Uuid.pipe(Schema.brand("ServerId"))
export type ServerId = typeof ServerId.Type

/** Why a sandcastle was stopped: it was asked to, it was idle too long, or its session was lost. */
export const StopCause = Schema.Literals(["asked", "idle", "lost"])
export type StopCause = typeof StopCause.Type

/** How a sandcastle is. */
export const SandcastleStatus = Schema.TaggedUnion({
  /** Its session is open. */
  Running: { startedAt: Schema.DateTimeUtc, lastUsedAt: Schema.DateTimeUtc },
  /** It was idle too long and is about to be stopped; a use in time keeps it. */
  Stale: { startedAt: Schema.DateTimeUtc, lastUsedAt: Schema.DateTimeUtc },
  /** Its session does not answer: whether it is still there is not known. */
  Unknown: { startedAt: Schema.DateTimeUtc, lastUsedAt: Schema.DateTimeUtc },
  /** Its session is closed; its executions stay listed, and it can be started again. */
  Stopped: { startedAt: Schema.DateTimeUtc, releasedAt: Schema.DateTimeUtc, cause: StopCause }
})
export type SandcastleStatus = typeof SandcastleStatus.Type

/** The part of a version of the library that a session was opened with. */
export const LibraryMount = Schema.Struct({ commit: CommitId, tree: TreeId })
export type LibraryMount = typeof LibraryMount.Type

/** A sandcastle of an organization. Its maker alone reaches it: it holds what the maker's own queries answered. */
export class Sandcastle extends Schema.Class<Sandcastle>("@castellan/core/sandcastle/Sandcastle")({
  id: SandcastleId,
  organizationId: OrganizationId,
  /** Whom its session is bound to. */
  creator: Creator,
  /** The chat that it serves; absent where it was started directly. */
  chatId: Schema.optionalKey(ChatId),
  /** What of the library is mounted: the version that it was taken from, and the part of it that its maker owned. */
  library: Schema.optionalKey(LibraryMount),
  status: SandcastleStatus,
  /** The server that has, or had last, its session. */
  serverId: Schema.optionalKey(ServerId),
  createdAt: Schema.DateTimeUtc
}) {}

/** How long a sandcastle may be idle before it is stopped. Source: decisions.md §7 ("Idle sandcastles"). */
export const idleLimit: Duration.Duration = Duration.minutes(15)

/**
 * How long a server is taken to be there since it was last heard of. One that is not there any more has lost its
 * sessions. Servers are heard of once a minute.
 */
export const serverLease: Duration.Duration = Duration.minutes(3)

/** The moment at which a sandcastle was last used, while it may be. */
export const lastUsedAt = (sandcastle: Sandcastle): DateTime.Utc | undefined =>
  sandcastle.status._tag === "Stopped" ? undefined : sandcastle.status.lastUsedAt

/** Whether a running sandcastle has been idle for the whole limit at a moment. */
export const isIdle = (sandcastle: Sandcastle, now: DateTime.Utc, limit: Duration.Duration = idleLimit): boolean => {
  const used = lastUsedAt(sandcastle)
  return used !== undefined && DateTime.isGreaterThanOrEqualTo(now, DateTime.addDuration(used, limit))
}
