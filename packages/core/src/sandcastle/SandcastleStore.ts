/**
 * The port that keeps sandcastles: who has which, and how it is. Their sessions are the runtime's.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Principal } from "../access/Principal.ts"
import type { ChatId } from "../chat/Chat.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { lastUsedAt, type Sandcastle, type SandcastleId, type ServerId } from "./Sandcastle.ts"
import { owns } from "./SandcastlePolicy.ts"

/** Which sandcastles a list holds. Source: decisions.md §7 (`GET /v2/sandcastles`). */
export interface SandcastleQuery extends Page.PositionPage {
  /** Only its own. */
  readonly reader: Principal
  /** `running` holds all that were not stopped: those that are stale or unknown as well. */
  readonly status: "running" | "stopped" | "all"
}

/** Keeps sandcastles. No answer ever holds one of another organization, but for `idleSince` and `abandoned`. */
export class SandcastleStore extends Context.Service<
  SandcastleStore,
  {
    readonly get: (organizationId: OrganizationId, id: SandcastleId) => Effect.Effect<Option.Option<Sandcastle>>
    /** Sandcastles newest first. */
    readonly list: (query: SandcastleQuery) => Effect.Effect<Page.Slice<Sandcastle>>
    /**
     * Inserts the sandcastle, or replaces the one of the same id. `heldUntil`, where its session was opened: until when
     * its server is taken to be there; absent, that stays as it is.
     */
    readonly save: (sandcastle: Sandcastle, heldUntil?: DateTime.Utc) => Effect.Effect<void>
    /**
     * Replaces a sandcastle that was not used or stopped since it was found. False, and nothing is changed, where it
     * was: of all servers that find it idle, one stops it.
     */
    readonly replace: (found: Sandcastle, next: Sandcastle) => Effect.Effect<boolean>
    /** The sandcastles of every organization that were not stopped and not used since a moment, for the sweep. */
    readonly idleSince: (moment: DateTime.Utc) => Effect.Effect<ReadonlyArray<Sandcastle>>
    /** Those of an organization that were not stopped, unused for longest first: `limit` at most. */
    readonly running: (organizationId: OrganizationId, limit: number) => Effect.Effect<ReadonlyArray<Sandcastle>>
    /** Those that were not stopped and serve a chat, unused for longest first: all of them. */
    readonly ofChat: (organizationId: OrganizationId, chatId: ChatId) => Effect.Effect<ReadonlyArray<Sandcastle>>
    /** A server is there: those of every organization that are its own, and not stopped, are held by it until a moment. */
    readonly renew: (serverId: ServerId, heldUntil: DateTime.Utc) => Effect.Effect<void>
    /** Whether a sandcastle is held by its server at a moment. */
    readonly isHeld: (organizationId: OrganizationId, id: SandcastleId, now: DateTime.Utc) => Effect.Effect<boolean>
    /**
     * The sandcastles of every organization that were not stopped and that no server holds at a moment, unused for
     * longest first: `limit` at most.
     */
    readonly abandoned: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Sandcastle>>
  }
>()("@castellan/core/sandcastle/SandcastleStore") {}

const matches = (query: SandcastleQuery, sandcastle: Sandcastle): boolean =>
  sandcastle.organizationId === query.reader.organizationId &&
  owns(query.reader, sandcastle) &&
  (query.status === "all" || (query.status === "stopped") === (sandcastle.status._tag === "Stopped"))

/** A sandcastle with until when its server holds it. */
interface KeptSandcastle {
  readonly sandcastle: Sandcastle
  readonly heldUntil: DateTime.Utc | undefined
}

const isHeldAt = ({ heldUntil }: KeptSandcastle, now: DateTime.Utc): boolean =>
  heldUntil !== undefined && DateTime.isGreaterThan(heldUntil, now)

const usedMillis = (sandcastle: Sandcastle): number => {
  const used = lastUsedAt(sandcastle)
  return used === undefined ? Infinity : DateTime.toEpochMillis(used)
}

/** Those that were not stopped, unused for longest first; ties break by id. */
const longestUnused = (found: ReadonlyArray<KeptSandcastle>, limit = Infinity): ReadonlyArray<Sandcastle> =>
  found
    .map(({ sandcastle }) => sandcastle)
    .filter((sandcastle) => lastUsedAt(sandcastle) !== undefined)
    .toSorted((a, b) => usedMillis(a) - usedMillis(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit)

/** Keeps sandcastles in memory. */
export const layerMemory: Layer.Layer<SandcastleStore> = Layer.effect(
  SandcastleStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<SandcastleId, KeptSandcastle>()
    const find = (organizationId: OrganizationId, id: SandcastleId) =>
      Effect.map(
        table.get(id),
        Option.filter(({ sandcastle }) => sandcastle.organizationId === organizationId)
      )
    return SandcastleStore.of({
      get: (organizationId, id) =>
        Effect.map(
          find(organizationId, id),
          Option.map(({ sandcastle }) => sandcastle)
        ),
      list: (query) =>
        Effect.map(
          table.where(({ sandcastle }) => matches(query, sandcastle)),
          (found) =>
            Page.slice(
              found.map(({ sandcastle }) => sandcastle),
              query,
              ({ createdAt, id }) => ({ at: createdAt, id })
            )
        ),
      save: (sandcastle, heldUntil) =>
        table.modify((rows) => [
          undefined,
          [[sandcastle.id, { sandcastle, heldUntil: heldUntil ?? rows.get(sandcastle.id)?.heldUntil }]]
        ]),
      replace: (found, next) =>
        table.modify((rows) => {
          const current = rows.get(found.id)
          return current !== undefined &&
            current.sandcastle.organizationId === found.organizationId &&
            Equal.equals(lastUsedAt(current.sandcastle), lastUsedAt(found))
            ? [true, [[next.id, { ...current, sandcastle: next }]]]
            : [false, []]
        }),
      idleSince: (moment) =>
        Effect.map(
          table.where(({ sandcastle }) => {
            const used = lastUsedAt(sandcastle)
            return used !== undefined && DateTime.isLessThanOrEqualTo(used, moment)
          }),
          (found) => found.map(({ sandcastle }) => sandcastle)
        ),
      running: (organizationId, limit) =>
        Effect.map(
          table.where(({ sandcastle }) => sandcastle.organizationId === organizationId),
          (found) => longestUnused(found, limit)
        ),
      ofChat: (organizationId, chatId) =>
        Effect.map(
          table.where(({ sandcastle }) => sandcastle.organizationId === organizationId && sandcastle.chatId === chatId),
          (found) => longestUnused(found)
        ),
      renew: (serverId, heldUntil) =>
        table.modify((rows) => [
          undefined,
          [...rows].flatMap(([id, { sandcastle }]) =>
            sandcastle.serverId === serverId && sandcastle.status._tag !== "Stopped"
              ? [[id, { sandcastle, heldUntil }] as const]
              : []
          )
        ]),
      isHeld: (organizationId, id, now) =>
        Effect.map(find(organizationId, id), (found) => Option.isSome(found) && isHeldAt(found.value, now)),
      abandoned: (now, limit) =>
        Effect.map(
          table.where((kept) => !isHeldAt(kept, now)),
          (found) => longestUnused(found, limit)
        )
    })
  })
)
