/**
 * The port that keeps playbooks.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readable } from "../access/AccessPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import type { Playbook, PlaybookId } from "./Playbook.ts"

/** Which playbooks a list holds, and in which order. Source: decisions.md §6 (`GET /v2/playbooks`). */
export interface PlaybookQuery extends Page.OffsetPage {
  /** Only playbooks of its organization that it may read; deleted ones never. */
  readonly reader: Principal
  /** The moment at which grants are judged. */
  readonly now: DateTime.Utc
  /** Case-insensitive substring of the name or the prompt. */
  readonly searchTerm?: string
  readonly status?: "Draft" | "Deployed"
  readonly sortBy: "name" | "created_at" | "updated_at"
  readonly sortDirection: "asc" | "desc"
}

/** Keeps playbooks. No answer ever holds one of another organization. */
export class PlaybookStore extends Context.Service<
  PlaybookStore,
  {
    /** The playbook of an id, a deleted one as well. */
    readonly get: (organizationId: OrganizationId, id: PlaybookId) => Effect.Effect<Option.Option<Playbook>>
    readonly list: (query: PlaybookQuery) => Effect.Effect<Page.Counted<Playbook>>
    /** Inserts the playbook, or replaces the one of the same id. */
    readonly save: (playbook: Playbook) => Effect.Effect<void>
  }
>()("@castellan/core/playbook/PlaybookStore") {}

const sortKey = (query: PlaybookQuery, playbook: Playbook): string => {
  if (query.sortBy === "name") return playbook.configuration.name
  // ISO 8601 in UTC sorts as text.
  return DateTime.formatIso(query.sortBy === "created_at" ? playbook.createdAt : playbook.updatedAt)
}

/** Orders by the key asked for; ties break by id, in the same direction. */
const compare =
  (query: PlaybookQuery) =>
  (a: Playbook, b: Playbook): number => {
    const left = sortKey(query, a)
    const right = sortKey(query, b)
    const order = left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0
    return query.sortDirection === "asc" ? order : -order
  }

/** Whether a playbook belongs on a list. */
export const matches = (query: PlaybookQuery, playbook: Playbook): boolean => {
  if (playbook.organizationId !== query.reader.organizationId || playbook.status._tag === "Deleted") return false
  if (query.status !== undefined && playbook.status._tag !== query.status) return false
  if (!readable(query.reader, playbook.access, query.now)) return false
  if (query.searchTerm === undefined) return true
  const term = query.searchTerm.toLowerCase()
  const { name, prompt } = playbook.configuration
  return name.toLowerCase().includes(term) || prompt.toLowerCase().includes(term)
}

/** Keeps playbooks in memory. */
export const layerMemory: Layer.Layer<PlaybookStore> = Layer.effect(
  PlaybookStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<PlaybookId, Playbook>()
    return PlaybookStore.of({
      get: (organizationId, id) =>
        Effect.map(
          table.get(id),
          Option.filter((playbook) => playbook.organizationId === organizationId)
        ),
      list: (query) =>
        Effect.map(
          table.where((playbook) => matches(query, playbook)),
          (found) => Page.counted(found.toSorted(compare(query)), query)
        ),
      save: (playbook) => table.set(playbook.id, playbook)
    })
  })
)
