/**
 * Every step of the database's schema, in order.
 */
import { migration as scope } from "./internal/0001_scope.ts"
import { migration as organizations } from "./internal/0002_organizations.ts"
import { migration as audit } from "./internal/0003_audit.ts"
import { migration as chats } from "./internal/0004_chats.ts"
import { migration as library } from "./internal/0005_library.ts"
import { migration as secrets } from "./internal/0006_secrets.ts"
import { migration as playbooks } from "./internal/0007_playbooks.ts"
import { migration as agents } from "./internal/0008_agents.ts"
import { migration as sandcastles } from "./internal/0009_sandcastles.ts"
import { migration as requests } from "./internal/0010_requests.ts"
import { migration as leases } from "./internal/0011_leases.ts"
import { migration as uploads } from "./internal/0012_uploads.ts"
import { migration as sandcastleServers } from "./internal/0013_sandcastle_servers.ts"
import { migration as unfinishedExecutions } from "./internal/0014_unfinished_executions.ts"
import { migration as sandcastleIndexes } from "./internal/0015_sandcastle_indexes.ts"
import { migration as assetNames } from "./internal/0016_asset_names.ts"
import { migration as auditWall } from "./internal/0017_audit_wall.ts"
import { migration as versions } from "./internal/0018_versions.ts"
import type { Migration } from "./Migration.ts"

/** The steps. */
export const migrations: ReadonlyArray<Migration> = [
  scope,
  organizations,
  audit,
  chats,
  library,
  secrets,
  playbooks,
  agents,
  sandcastles,
  requests,
  leases,
  uploads,
  sandcastleServers,
  unfinishedExecutions,
  sandcastleIndexes,
  assetNames,
  auditWall,
  versions
]
