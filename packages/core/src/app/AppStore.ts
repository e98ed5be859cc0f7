/**
 * The port that keeps apps.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readable } from "../access/AccessPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import * as MemoryTable from "../memory/MemoryTable.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import * as Page from "../page/Page.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { App, AppId } from "./App.ts"

/** Which apps a list holds: in the order of their names, ties by id. */
export interface AppQuery extends Page.OffsetPage {
  /** Only apps of its organization that it may read, and whose rows it may be shown. */
  readonly reader: Principal
  /** The moment at which grants are judged. */
  readonly now: DateTime.Utc
}

/** Keeps apps. No answer ever holds one of another organization. */
export class AppStore extends Context.Service<
  AppStore,
  {
    readonly get: (organizationId: OrganizationId, id: AppId) => Effect.Effect<Option.Option<App>>
    readonly list: (query: AppQuery) => Effect.Effect<Page.Counted<App>>
    /** Inserts the app, or replaces the one of the same id. */
    readonly save: (app: App) => Effect.Effect<void>
    /** Removes the app; nothing where there is none. */
    readonly remove: (organizationId: OrganizationId, id: AppId) => Effect.Effect<void>
  }
>()("@castellan/core/app/AppStore") {}

/** Whether an app belongs on a list. */
export const matches = (query: AppQuery, app: App): boolean =>
  app.organizationId === query.reader.organizationId &&
  shownTo(query.reader, app.chatCreator) &&
  readable(query.reader, app.access, query.now)

const byName = (a: App, b: App): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0

/** Keeps apps in memory. */
export const layerMemory: Layer.Layer<AppStore> = Layer.effect(
  AppStore,
  Effect.gen(function* () {
    const table = yield* MemoryTable.make<AppId, App>()
    const get = (organizationId: OrganizationId, id: AppId) =>
      Effect.map(
        table.get(id),
        Option.filter((app) => app.organizationId === organizationId)
      )
    return AppStore.of({
      get,
      list: (query) =>
        Effect.map(
          table.where((app) => matches(query, app)),
          (found) => Page.counted(found.toSorted(byName), query)
        ),
      save: (app) => table.set(app.id, app),
      remove: (organizationId, id) =>
        Effect.flatMap(get(organizationId, id), (found) => (Option.isSome(found) ? table.remove(id) : Effect.void))
    })
  })
)
