/**
 * Every step of the database's schema, in order.
 */
import { migration as scope } from "./internal/0001_scope.ts"
import { migration as roles } from "./internal/0002_roles.ts"
import type { Migration } from "./Migration.ts"

/** The steps. */
export const migrations: ReadonlyArray<Migration> = [scope, roles]
