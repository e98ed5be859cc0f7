/**
 * A populated organization for the matrix: something of everything that the contract's operations are about, made by one
 * member, the maker, and known to a few others as far as the rules need it. Beside it a second organization, with an
 * administrator who has every permission there.
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect } from "effect"
import type { Filling } from "./Requests.ts"
import type * as Served from "./Served.ts"
import * as WorldFilling from "./WorldFilling.ts"
import * as WorldLibrary from "./WorldLibrary.ts"
import * as WorldPeople from "./WorldPeople.ts"
import * as WorldSessions from "./WorldSessions.ts"
import * as WorldThings from "./WorldThings.ts"

/** A populated organization, and who may call on it. */
export interface World {
  readonly tenant: Fixture.Tenant
  /** Both organizations. */
  readonly organizations: ReadonlyArray<OrganizationId>
  /** Bearer values, by who calls. */
  readonly keys: {
    /** Of the maker, with every permission and all that is theirs. */
    readonly maker: string
    /** Of the maker, without their own things. */
    readonly restricted: string
    /** Of a member with every permission, whom nothing is shared with. */
    readonly stranger: string
    /** Of a member with every permission, whom all is shown to. */
    readonly viewer: string
    /** Of the administrator, whom nothing is shared with. */
    readonly administrator: string
    /** Of the administrator of the other organization. */
    readonly foreign: string
    readonly expired: string
    readonly revoked: string
    readonly deactivated: string
  }
  /** A key of the maker with a certain authority, and no other. */
  readonly keyWith: (authority: WorldSessions.Authority) => Effect.Effect<string, never, Served.Parts>
  /** A session of the maker whose role was deleted, and one that was renewed after its role was taken from the maker. */
  readonly sessions: Effect.Effect<
    { readonly deleted: string; readonly renewed: string; readonly unrenewed: string },
    never,
    Served.Parts | Served.Served
  >
  readonly filling: Filling
  /** What each list tells its maker of, and not others, by the name of the operation. */
  readonly hidden: { readonly [operation: string]: WorldFilling.Hidden }
}

/** A populated organization, and another. */
export const make = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const other = yield* Fixture.tenant("Other")
  yield* Fixture.unlimited(tenant.organizationId)
  yield* Fixture.unlimited(other.organizationId)
  const people = yield* WorldPeople.make(tenant, other)
  const things = yield* WorldThings.make(people)
  const library = yield* WorldLibrary.make(people)
  const world: World = {
    tenant,
    organizations: [tenant.organizationId, other.organizationId],
    keys: people.keys,
    ...WorldSessions.of(tenant, people.maker),
    filling: WorldFilling.filling(people, things, library),
    hidden: WorldFilling.hidden(tenant, people, things, library)
  }
  return world
})
