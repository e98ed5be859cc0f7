/**
 * An organization with as many keys as the peers have, kept by few statements: only one of them is used.
 */
import { entering, within } from "@castellan/postgres/database/Tenancy"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { keyCount } from "../server/Keys.ts"

/** The first organization, with 10,000 keys beside the administrator's. */
export const establish = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tenant = yield* Fixture.tenant()
  const { adminKeyId, organizationId } = tenant
  yield* Fixture.unlimited(organizationId)
  yield* Effect.orDie(sql`
    INSERT INTO castellan.api_keys (organization_id, id, hash, owner, is_revoked, client, ancestors, minter, created_at,
      document)
    SELECT organization_id, gen_random_uuid(), encode(sha256(number::text::bytea), 'hex'), owner, is_revoked, client,
      ancestors, minter, created_at, document
    FROM castellan.api_keys CROSS JOIN generate_series(2, ${keyCount}::int) AS number
    WHERE ${within(sql, organizationId)} AND id = ${adminKeyId}`)
  return tenant
})

/** Keys of the administrator that are used, beside those that nobody uses. */
export const addKeys = ({ adminId, adminRole, memberRole, organizationId }: Fixture.Tenant, count: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), () =>
      Fixture.key({ id: adminId, organizationId, roles: [adminRole.id, memberRole.id] })
    ),
    (issued) => issued.map(({ secret }) => secret)
  )

/** Roles beside those that the members have, alike but for their ids. */
export const addRoles = (tenant: Fixture.Tenant, count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const first = yield* Fixture.role(tenant.organizationId, {
      name: "Analysts of the northern region",
      permissions: ["chat:read"]
    })
    const others = yield* Effect.orDie(sql<{ readonly id: string }>`
      INSERT INTO castellan.roles (organization_id, id, created_at, document)
      SELECT ${tenant.organizationId}, another.id, role.created_at,
        jsonb_set(role.document::jsonb, '{id}', to_jsonb(another.id))::json
      FROM castellan.roles AS role CROSS JOIN (
        SELECT gen_random_uuid() AS id FROM generate_series(2, ${count}::int)) AS another
      WHERE ${entering(sql, tenant.organizationId)} AND role.organization_id = ${tenant.organizationId}
        AND role.id = ${first.id}
      RETURNING id`)
    return [first.id, ...others.map(({ id }) => id)]
  })
