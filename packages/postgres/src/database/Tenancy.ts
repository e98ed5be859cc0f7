/**
 * The two walls between organizations, in one fragment: a statement names its organization, and enters it.
 *
 * Every table has row-level security: a statement sees and writes only rows of the organization that was entered, in
 * the same transaction, through `castellan.enter`. A statement that forgets to name its organization has entered none,
 * and finds nothing. Entering is part of the statement itself, so that a read takes one round trip and no transaction
 * of its own: the condition holds no column, so PostgreSQL evaluates it once, before it looks at any row ("One-Time
 * Filter" in its plan; a test holds every statement's shape to that).
 */
import type { OrganizationId } from "@castellan/core/organization/Organization"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** Rows of one organization: the condition that every statement about one begins with. */
export const within = (sql: SqlClient, organizationId: OrganizationId, alias?: string): Fragment =>
  sql`(SELECT castellan.enter(${organizationId})) AND ${column(sql, alias)} = ${organizationId}`

/** Enters an organization, where no row of it is read: for `INSERT ... SELECT ... WHERE`. */
export const entering = (sql: SqlClient, organizationId: OrganizationId): Fragment =>
  sql`(SELECT castellan.enter(${organizationId}))`

/**
 * Rows of every organization, for the few questions that are asked for the deployment as a whole: whose key is this,
 * what is due, what is old enough to be purged.
 */
export const acrossOrganizations = (sql: SqlClient): Fragment => sql`(SELECT castellan.enter_deployment())`

const column = (sql: SqlClient, alias: string | undefined): Fragment =>
  sql.literal(alias === undefined ? "organization_id" : `${alias}.organization_id`)
