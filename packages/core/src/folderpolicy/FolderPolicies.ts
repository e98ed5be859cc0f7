/**
 * The use cases of folder policies.
 *
 * Source: decisions.md §8 (`GET|PUT|DELETE /v2/folder-policies`); policy-cases O8, O9, A21, A22.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { enforce } from "../access/Decision.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { UseCase } from "../audit/UseCase.ts"
import { InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { RoleStore } from "../role/RoleStore.ts"
import * as FolderPath from "./FolderPath.ts"
import { FolderPolicy, type FolderPolicyTerms, RequiredApprovals, rootTerms } from "./FolderPolicy.ts"
import * as FolderPolicyPolicy from "./FolderPolicyPolicy.ts"
import { type FolderPolicyWarning, problemMessage, problemsOf, warnings } from "./FolderPolicyReview.ts"
import { FolderPolicyStore } from "./FolderPolicyStore.ts"
import * as PolicyTree from "./PolicyTree.ts"
import * as Population from "./Population.ts"

/** How a use case of folder policies can fail. */
type Failure = InvalidRequest | NotFound | PermissionDenied

/** What somebody would have a policy be, before its path and its number are known to be any. */
export interface FolderPolicyDraft extends Omit<FolderPolicyTerms, "path" | "requiredApprovals"> {
  readonly path: string
  readonly requiredApprovals: number
}

/** Policies with what they mean that may not be meant. */
export interface FolderPolicyList {
  /** Sorted by path; the root's is always among those of an administrator. */
  readonly policies: ReadonlyArray<FolderPolicy>
  readonly warnings: ReadonlyArray<FolderPolicyWarning>
}

/** A policy that was saved, with what it means that may not be meant. */
export interface SavedFolderPolicy {
  readonly policy: FolderPolicy
  /** About this folder and those below it whose owners it decides. */
  readonly warnings: ReadonlyArray<FolderPolicyWarning>
}

/** The use cases of folder policies. */
export class FolderPolicies extends Context.Service<
  FolderPolicies,
  {
    /** The policies that the caller may read, and what is wrong with them as things are now. */
    readonly list: Effect.Effect<FolderPolicyList, Failure, CurrentPrincipal>
    /** Sets the policy of a folder, in the place of the one that it had. */
    readonly save: (draft: FolderPolicyDraft) => Effect.Effect<SavedFolderPolicy, Failure, CurrentPrincipal>
    /** Removes the policy of a folder: the one above governs it from now on. The root's stays. */
    readonly remove: (
      path: string
    ) => Effect.Effect<{ readonly path: FolderPath.FolderPath }, Failure, CurrentPrincipal>
  }
>()("@castellan/core/folderpolicy/FolderPolicies") {}

const invalid = (message: string): InvalidRequest => new InvalidRequest({ message })

const pathOf = (text: string): Result.Result<FolderPath.FolderPath, InvalidRequest> =>
  Result.mapError(FolderPath.parse(text), ({ message }) => invalid(message))

const isNumber = Schema.is(RequiredApprovals)

/** Each item once, where it is first. */
const distinct = <A>(items: ReadonlyArray<A>, keyOf: (item: A) => string): ReadonlyArray<A> =>
  [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].toReversed()

const termsOf = (draft: FolderPolicyDraft): Result.Result<FolderPolicyTerms, InvalidRequest> =>
  Result.flatMap(pathOf(draft.path), (path) =>
    isNumber(draft.requiredApprovals)
      ? Result.succeed({
          ...draft,
          path,
          owners: distinct(draft.owners, ({ _tag, id }) => `${_tag} ${id}`),
          authorRoles: [...new Set(draft.authorRoles)]
        })
      : Result.fail(invalid("required_approvals: must be a whole number from 1"))
  )

/** A policy in the audit log. */
const recorded = (policy: FolderPolicyTerms): { readonly [field: string]: Schema.Json } => ({
  path: policy.path,
  owners: policy.owners.map(({ _tag, id }) => `${_tag} ${id}`),
  inheritOwners: policy.inheritOwners,
  requiredApprovals: policy.requiredApprovals,
  distinctApprovers: policy.distinctApprovers,
  authorRoles: [...policy.authorRoles],
  autoApprove: policy.autoApprove.map(({ authorRoles, pathGlobs }) => ({
    authorRoles: [...authorRoles],
    pathGlobs: [...pathGlobs]
  }))
})

/** The use cases over the stores. */
export const layer: Layer.Layer<FolderPolicies, never, FolderPolicyStore | MemberStore | RoleStore | UseCase> =
  Layer.effect(
    FolderPolicies,
    Effect.gen(function* () {
      const useCase = yield* UseCase
      const store = yield* FolderPolicyStore
      const members = yield* MemberStore
      const roles = yield* RoleStore

      const population = Effect.fnUntraced(function* ({ organizationId }: Principal) {
        return Population.make(yield* members.list(organizationId), yield* roles.list(organizationId))
      })

      /** Every policy, the root's as it is from the start where it was never set. */
      const policiesOf = Effect.fnUntraced(function* ({ organizationId }: Principal) {
        const kept = yield* store.list(organizationId)
        const admin = (yield* roles.list(organizationId)).find((role) => role.isAdmin)
        if (kept.some(({ path }) => path === FolderPath.root) || admin === undefined) return kept
        const first = new FolderPolicy({ ...rootTerms(admin.id), organizationId, updatedAt: admin.createdAt })
        return [first, ...kept]
      })

      return FolderPolicies.of({
        list: useCase
          .read({ action: "list", target: { type: "folder_policy" } }, (principal) =>
            Effect.gen(function* () {
              yield* enforce(FolderPolicyPolicy.decideRead(principal))
              const all = yield* policiesOf(principal)
              const tree = PolicyTree.make(all)
              const policies = FolderPolicyPolicy.readable(tree, principal, all)
              const shown = new Set<string>(policies.map(({ path }) => path))
              const found = warnings(tree, yield* population(principal))
              return { policies, warnings: found.filter(({ folder }) => shown.has(folder)) }
            })
          )
          .pipe(Effect.withSpan("FolderPolicies.list")),

        save: Effect.fn("FolderPolicies.save")(function* (draft) {
          return yield* useCase.run(
            { action: "update", target: { type: "folder_policy", id: draft.path } },
            (principal) =>
              Effect.gen(function* () {
                const terms = yield* Effect.fromResult(termsOf(draft))
                yield* enforce(FolderPolicyPolicy.decideWrite(principal))
                const people = yield* population(principal)
                const [problem] = problemsOf(terms, people)
                if (problem !== undefined) return yield* invalid(problemMessage(problem))
                const { organizationId } = principal
                const before = yield* store.get(organizationId, terms.path)
                const policy = new FolderPolicy({ ...terms, organizationId, updatedAt: yield* DateTime.now })
                yield* store.save(policy)
                const tree = PolicyTree.make(yield* policiesOf(principal))
                return {
                  answer: { policy, warnings: warnings(tree, people, policy.path) },
                  entries: [
                    {
                      action: "update" as const,
                      target: { type: "folder_policy" as const, id: FolderPath.shown(policy.path) },
                      ...(Option.isSome(before) ? { before: recorded(before.value) } : {}),
                      after: recorded(policy)
                    }
                  ]
                }
              })
          )
        }),

        remove: Effect.fn("FolderPolicies.remove")(function* (text) {
          return yield* useCase.run({ action: "delete", target: { type: "folder_policy", id: text } }, (principal) =>
            Effect.gen(function* () {
              const path = yield* Effect.fromResult(pathOf(text))
              if (path === FolderPath.root)
                return yield* invalid("path: the policy of the root can be set, not removed")
              const found = yield* store.get(principal.organizationId, path)
              yield* enforce(FolderPolicyPolicy.decideWrite(principal))
              if (Option.isNone(found)) return yield* new NotFound({ message: "folder policy not found" })
              yield* store.remove(principal.organizationId, path)
              return {
                answer: { path },
                entries: [
                  {
                    action: "delete" as const,
                    target: { type: "folder_policy" as const, id: FolderPath.shown(path) },
                    before: recorded(found.value)
                  }
                ]
              }
            })
          )
        })
      })
    })
  )
