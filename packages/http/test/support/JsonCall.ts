/** Calls with JSON, as a member of the site makes them; and members to make them as. */
import * as Fixture from "@castellan/testing/fixture/Fixture"
import type * as Sample from "@castellan/testing/fixture/Sample"
import type { Role } from "@castellan/core/role/Role"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Site from "./Site.ts"

/** Sends JSON, if anything; the administrator's key unless another is given. */
export const json = (method: string, path: string, body?: unknown, key?: string) =>
  Effect.map(
    Site.call(path, {
      method,
      ...(key === undefined ? {} : { key }),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
    }),
    (reply) => ({ status: reply.status, body: JSON.parse(reply.text) })
  )

/** Sends JSON, and has it refused with a code; answers with the message. */
export const refusal = Effect.fnUntraced(function* (code: readonly [number, string], ...call: Parameters<typeof json>) {
  const reply = yield* json(...call)
  assert.deepStrictEqual([reply.status, reply.body.error?.code], [...code], JSON.stringify([call, reply.body]))
  const message: string = reply.body.error.message
  return message
})

/** The answers of the specification's table. */
export const code = {
  invalid: [400, "invalid_request"],
  unauthenticated: [401, "unauthenticated"],
  denied: [403, "permission_denied"],
  notFound: [404, "not_found"],
  conflict: [409, "conflict"],
  failed: [422, "execution_failed"],
  timeout: [504, "timeout"]
} as const

/** The key of a new member of the site; with the `member` role unless others are given, and all that is theirs. */
export const keyOf = Effect.fnUntraced(function* (
  given: Sample.KeyOptions & { readonly roles?: ReadonlyArray<Role> } = {}
) {
  const { tenant } = yield* Site.Site
  const owner = yield* Fixture.member(tenant.organizationId, { roles: given.roles ?? [tenant.memberRole] })
  const { secret } = yield* Fixture.key(owner, { fullMemberAccess: true, ...given })
  return Redacted.value(secret)
})

/** The key of a new member who may do nothing. */
export const powerless = Effect.gen(function* () {
  const { tenant } = yield* Site.Site
  return yield* keyOf({ roles: [yield* Fixture.role(tenant.organizationId)] })
})
