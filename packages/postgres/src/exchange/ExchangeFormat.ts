/**
 * The file in which an organization leaves a deployment, and comes to another: lines of JSON.
 *
 * | line   | what it is                                                                                       |
 * | ------ | ------------------------------------------------------------------------------------------------ |
 * | first  | the format's version, the organization, the schema's number, and how secrets are in the file      |
 * | others | a row: its table, and its columns by name; documents as they are, everything else as text         |
 * | last   | how many rows there are of each table, and the SHA-256 of all lines before: a cut file is no file |
 *
 * The organization is named by the first line alone, so that no row can be another's.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as Schema from "effect/Schema"

/** The version of the format. */
export const formatVersion = 1

/**
 * How secrets (passwords of connectors) are in the file: as they are kept, so that only a deployment that has the key
 * can read them; not at all; or for everybody to read.
 */
export const SecretsMode = Schema.Literals(["sealed", "omitted", "plain"])
export type SecretsMode = typeof SecretsMode.Type

/** The first line. */
export const Header = Schema.Struct({
  castellan_export: Schema.Int,
  organization_id: OrganizationId,
  migration: Schema.Int,
  secrets: SecretsMode
})
export type Header = typeof Header.Type

/** A row. */
export const RowLine = Schema.Struct({
  table: Schema.String,
  row: Schema.Record(Schema.String, Schema.Json)
})
export type RowLine = typeof RowLine.Type

/** The last line. */
export const Footer = Schema.Struct({
  rows: Schema.Record(Schema.String, Schema.Int),
  sha256: Schema.String
})
export type Footer = typeof Footer.Type

/** What a table that is left out is left out for. */
export const leftOut: ReadonlyMap<string, string> = new Map([
  ["migrations", "the schema's own list; the file names its last step"],
  ["rate_limits", "how much of the last minute's allowance is used up"],
  ["chat_tallies", "how many chats there are; the database counts them anew as they come in"],
  ["idempotent_requests", "answers of the last day, with addresses of the deployment that gave them"]
])

/**
 * The tables of an organization in the order in which they are written. A test holds them, with those that are left
 * out, to the tables of the database.
 */
export const tables: ReadonlyArray<string> = [
  "organizations",
  "roles",
  "members",
  "member_roles",
  "api_keys",
  "scim_group_mappings",
  "model_numbers",
  "connectors",
  "connector_numbers",
  "row_policies",
  "secrets",
  "audit_events",
  "usage_records",
  "budgets",
  "chats",
  "chat_audiences",
  "runs",
  "run_logs",
  "run_leases",
  "run_events",
  "chat_feedback",
  "asset_bodies",
  "chat_uploads",
  "library_heads",
  "library_commits",
  "library_folders",
  "library_blobs",
  "changes",
  "changesets",
  "change_paths",
  "change_totals",
  "folder_policies",
  "folder_policy_versions",
  "ontologies",
  "playbooks",
  "schedules",
  "playbook_runs",
  "reports",
  "deliveries",
  "agents",
  "triggers",
  "agent_runs",
  "apps",
  "sandcastles",
  "executions"
]
