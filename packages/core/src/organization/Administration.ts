/**
 * The use cases of administration as one layer: the organization's settings and its rate limit, its roles and members,
 * what its identity provider maps, its audit log, its usage and its budgets.
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import * as AuditEvents from "../audit/AuditEvents.ts"
import type { AuditStore } from "../audit/AuditStore.ts"
import type { UseCase } from "../audit/UseCase.ts"
import type { MemberStore } from "../member/MemberStore.ts"
import * as Members from "../member/Members.ts"
import type { LanguageModels } from "../model/LanguageModels.ts"
import type { ModelStore } from "../model/ModelStore.ts"
import * as RateLimits from "../ratelimit/RateLimits.ts"
import type { RateLimitStore } from "../ratelimit/RateLimitStore.ts"
import * as Roles from "../role/Roles.ts"
import type { RoleStore } from "../role/RoleStore.ts"
import * as ScimGroupMappings from "../scim/ScimGroupMappings.ts"
import type { ScimGroupMappingStore } from "../scim/ScimGroupMappingStore.ts"
import * as Budgets from "../usage/Budgets.ts"
import type { BudgetStore } from "../usage/BudgetStore.ts"
import * as Usage from "../usage/Usage.ts"
import type { UsageStore } from "../usage/UsageStore.ts"
import * as Organizations from "./Organizations.ts"
import type { OrganizationStore } from "./OrganizationStore.ts"

/** The use cases of administration. */
export type Administration =
  | AuditEvents.AuditEvents
  | Budgets.Budgets
  | Members.Members
  | Organizations.Organizations
  | RateLimits.RateLimits
  | Roles.Roles
  | ScimGroupMappings.ScimGroupMappings
  | Usage.Usage

/** Every use case of administration, over the stores. */
export const layer: Layer.Layer<
  Administration,
  never,
  | AuditStore
  | BudgetStore
  | LanguageModels
  | MemberStore
  | ModelStore
  | OrganizationStore
  | RateLimitStore
  | RoleStore
  | ScimGroupMappingStore
  | SecureRandom.SecureRandom
  | UsageStore
  | UseCase
> = Layer.mergeAll(
  AuditEvents.layer,
  Budgets.layer,
  Members.layer,
  Organizations.layer,
  RateLimits.layer,
  Roles.layer,
  ScimGroupMappings.layer,
  Usage.layer
)
