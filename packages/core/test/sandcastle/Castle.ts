/**
 * Words for tests of sandcastles: a member who has one, what runs in it, and what is known of it.
 */
import type { Position } from "@castellan/core/page/Page"
import type { SandcastleId } from "@castellan/core/sandcastle/Sandcastle"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as } from "@castellan/testing/fixture/Acting"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect } from "effect"

/** A member with a sandcastle. */
export const castle = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const member = yield* Fixture.someone(tenant, { fullMemberAccess: true })
  const sandcastle = yield* as(member)(Sandcastles.use((sandcastles) => sandcastles.start()))
  return { tenant, member, sandcastle, id: sandcastle.id }
})

/** Runs Python in a sandcastle, to its end. */
export const execute = (id: SandcastleId, code: string) =>
  Sandcastles.use((sandcastles) => sandcastles.execute(id, { code, source: "platform_api" }))

/** The executions of a sandcastle, a page of them. */
export const recorded = (id: SandcastleId, limit = 100, after?: Position) =>
  Sandcastles.use((sandcastles) => sandcastles.executions(id, { limit, ...(after === undefined ? {} : { after }) }))

/** The status of a sandcastle. */
export const statusOf = (id: SandcastleId) =>
  Effect.map(
    Sandcastles.use((sandcastles) => sandcastles.get(id)),
    ({ sandcastle }) => sandcastle.status._tag
  )

/** What is said where a sandcastle's session is gone. */
export const noSession = "conflict: the sandcastle's session does not answer: start it again"
