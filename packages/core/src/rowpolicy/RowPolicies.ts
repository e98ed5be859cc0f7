/**
 * The use cases of row policies.
 *
 * Source: decisions.md §5 ("Row policies").
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import type { ConnectorId } from "../connector/Connector.ts"
import * as ConnectorPolicy from "../connector/ConnectorPolicy.ts"
import { ConnectorStore } from "../connector/ConnectorStore.ts"
import { InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { RoleStore } from "../role/RoleStore.ts"
import * as RowAccess from "./RowAccess.ts"
import { RowPolicy, RowPolicyId, type RowRule } from "./RowPolicy.ts"
import { RowPolicyStore } from "./RowPolicyStore.ts"
import * as RowRuleReview from "./RowRuleReview.ts"

type Failure = InvalidRequest | NotFound | PermissionDenied

/** A policy as it shall be. */
export interface RowPolicyDraft {
  /** The policy to keep or to change; absent: a new one. */
  readonly id?: RowPolicyId
  readonly rule: RowRule
}

/** The use cases of row policies. Whoever may change a connector administers its policies. */
export class RowPolicies extends Context.Service<
  RowPolicies,
  {
    /** The policies of a connector, oldest first. */
    readonly list: (connectorId: ConnectorId) => Effect.Effect<ReadonlyArray<RowPolicy>, Failure, CurrentPrincipal>
    readonly create: (connectorId: ConnectorId, rule: RowRule) => Effect.Effect<RowPolicy, Failure, CurrentPrincipal>
    /** Changes what a policy says; what is absent stays. */
    readonly update: (id: RowPolicyId, change: Partial<RowRule>) => Effect.Effect<RowPolicy, Failure, CurrentPrincipal>
    readonly delete: (id: RowPolicyId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /**
     * Sets every policy of a connector at once: makes those without an id, changes those with one, and removes those
     * that are not named. Answers with all of them, oldest first.
     */
    readonly replace: (
      connectorId: ConnectorId,
      drafts: ReadonlyArray<RowPolicyDraft>
    ) => Effect.Effect<ReadonlyArray<RowPolicy>, Failure, CurrentPrincipal>
    /** What the caller would see of these tables of a connector now, and why. */
    readonly explain: (
      connectorId: ConnectorId,
      tables: ReadonlyArray<string>
    ) => Effect.Effect<RowAccess.RowAccess, Failure, CurrentPrincipal>
    /** What a principal may see of these tables of a connector now. */
    readonly applicable: (
      principal: Principal,
      connectorId: ConnectorId,
      tables: ReadonlyArray<string>
    ) => Effect.Effect<RowAccess.RowAccess>
  }
>()("@castellan/core/rowpolicy/RowPolicies") {}

const notFound = new NotFound({ message: "row policy not found" })

const target = (id: RowPolicyId): AuditTarget => ({ type: "row_policy", id })

/** What a policy says. */
const ruleOf = ({ attributes, exemptRoles, predicate, table }: RowPolicy): RowRule => ({
  table,
  attributes,
  predicate,
  exemptRoles
})

/** What the audit log says of a policy. */
const facts = (policy: RowPolicy) => ({
  connector_id: policy.connectorId,
  table: policy.table,
  attributes: { ...policy.attributes },
  predicate: JSON.stringify(policy.predicate),
  exempt_role_ids: [...policy.exemptRoles]
})

/** The use cases over the stores. */
export const layer: Layer.Layer<
  RowPolicies,
  never,
  ConnectorStore | RoleStore | RowPolicyStore | SecureRandom.SecureRandom | UseCase
> = Layer.effect(
  RowPolicies,
  Effect.gen(function* () {
    const connectors = yield* ConnectorStore
    const roles = yield* RoleStore
    const store = yield* RowPolicyStore
    const useCase = yield* UseCase
    const random = yield* SecureRandom.SecureRandom
    const nextId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
      RowPolicyId.make(id)
    )

    /** A connector that the principal may change, and so may police. */
    const governed = Effect.fnUntraced(function* (principal: Principal, id: ConnectorId) {
      const stored = yield* connectors.get(principal.organizationId, id)
      if (Option.isNone(stored)) return yield* new NotFound({ message: "connector not found" })
      yield* enforce(ConnectorPolicy.decide(principal, stored.value, "update", yield* DateTime.now))
    })

    const load = Effect.fnUntraced(function* (principal: Principal, id: RowPolicyId) {
      const policy = yield* store.get(principal.organizationId, id)
      if (Option.isNone(policy)) return yield* notFound
      // A policy of a connector that the caller does not see is not there for it.
      yield* Effect.catchTag(governed(principal, policy.value.connectorId), "NotFound", () => Effect.fail(notFound))
      return policy.value
    })

    const reviewed = Effect.fnUntraced(function* (principal: Principal, rule: RowRule) {
      const known = (yield* roles.list(principal.organizationId)).map((role) => role.id)
      const problem = RowRuleReview.problem(rule, known)
      if (problem !== undefined) return yield* new InvalidRequest({ message: problem })
    })

    return RowPolicies.of({
      list: Effect.fn("RowPolicies.list")(function* (connectorId) {
        return yield* useCase.read({ action: "list", target: { type: "row_policy" } }, (principal) =>
          Effect.andThen(governed(principal, connectorId), store.list(principal.organizationId, connectorId))
        )
      }),

      create: Effect.fn("RowPolicies.create")(function* (connectorId, rule) {
        return yield* useCase.run({ action: "create", target: { type: "row_policy" } }, (principal) =>
          Effect.gen(function* () {
            yield* governed(principal, connectorId)
            yield* reviewed(principal, rule)
            const now = yield* DateTime.now
            const policy = new RowPolicy({
              ...rule,
              id: yield* nextId,
              organizationId: principal.organizationId,
              connectorId,
              createdAt: now,
              updatedAt: now
            })
            yield* store.save(policy)
            const entry: AuditEntry = { action: "create", target: target(policy.id), after: facts(policy) }
            return { answer: policy, entries: [entry] }
          })
        )
      }),

      update: Effect.fn("RowPolicies.update")(function* (id, change) {
        return yield* useCase.run({ action: "update", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const before = yield* load(principal, id)
            const policy = new RowPolicy({ ...before, ...change, updatedAt: yield* DateTime.now })
            yield* reviewed(principal, policy)
            yield* store.save(policy)
            const entry: AuditEntry = {
              action: "update",
              target: target(id),
              before: facts(before),
              after: facts(policy)
            }
            return { answer: policy, entries: [entry] }
          })
        )
      }),

      delete: Effect.fn("RowPolicies.delete")(function* (id) {
        yield* useCase.run({ action: "delete", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const policy = yield* load(principal, id)
            yield* store.remove(principal.organizationId, id)
            const entry: AuditEntry = { action: "delete", target: target(id), before: facts(policy) }
            return { answer: undefined, entries: [entry] }
          })
        )
      }),

      replace: Effect.fn("RowPolicies.replace")(function* (connectorId, drafts) {
        const ids = drafts.flatMap(({ id }) => (id === undefined ? [] : [id]))
        if (new Set(ids).size < ids.length) {
          return yield* new InvalidRequest({ message: "row_policies: a policy must not be named twice" })
        }
        return yield* useCase.run({ action: "update", target: { type: "row_policy" } }, (principal) =>
          Effect.gen(function* () {
            const { organizationId } = principal
            yield* governed(principal, connectorId)
            const before = new Map((yield* store.list(organizationId, connectorId)).map((one) => [one.id, one]))
            if (ids.some((id) => !before.has(id))) return yield* notFound
            const now = yield* DateTime.now
            const entries: Array<AuditEntry> = []
            for (const { id, rule } of drafts) {
              const old = id === undefined ? undefined : before.get(id)
              if (old !== undefined && Equal.equals(ruleOf(old), rule)) continue
              yield* reviewed(principal, rule)
              const policy = new RowPolicy({
                ...rule,
                id: old?.id ?? (yield* nextId),
                organizationId,
                connectorId,
                createdAt: old?.createdAt ?? now,
                updatedAt: now
              })
              yield* store.save(policy)
              entries.push({
                action: old === undefined ? "create" : "update",
                target: target(policy.id),
                ...(old === undefined ? {} : { before: facts(old) }),
                after: facts(policy)
              })
            }
            for (const policy of before.values()) {
              if (ids.includes(policy.id)) continue
              yield* store.remove(organizationId, policy.id)
              entries.push({ action: "delete", target: target(policy.id), before: facts(policy) })
            }
            return { answer: yield* store.list(organizationId, connectorId), entries }
          })
        )
      }),

      explain: Effect.fn("RowPolicies.explain")(function* (connectorId, tables) {
        const explained: AuditTarget = { type: "connector", id: String(connectorId) }
        return yield* useCase.read({ action: "read", target: explained }, (principal) =>
          Effect.gen(function* () {
            const stored = yield* connectors.get(principal.organizationId, connectorId)
            if (Option.isNone(stored)) return yield* new NotFound({ message: "connector not found" })
            yield* enforce(ConnectorPolicy.decide(principal, stored.value, "query", yield* DateTime.now))
            return RowAccess.applicable(principal, yield* store.list(principal.organizationId, connectorId), tables)
          })
        )
      }),

      applicable: Effect.fn("RowPolicies.applicable")(function* (principal, connectorId, tables) {
        return RowAccess.applicable(principal, yield* store.list(principal.organizationId, connectorId), tables)
      })
    })
  })
)
