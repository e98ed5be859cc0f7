/**
 * The use cases of changes.
 *
 * Source: api-v2.md "Changes", "Library change result"; decisions.md §8.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { ApiKeyStore } from "../apikey/ApiKeyStore.ts"
import type { AuditAction } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { ConnectorStore } from "../connector/ConnectorStore.ts"
import { type Conflict, InvalidRequest, NotFound, type PermissionDenied } from "../error/Failure.ts"
import { FolderPolicyStore } from "../folderpolicy/FolderPolicyStore.ts"
import { holderOf, owns } from "../folderpolicy/OwnersPolicy.ts"
import * as Uuid from "../identifier/Uuid.ts"
import { LibraryStore } from "../library/LibraryStore.ts"
import { prune } from "../library/Tree.ts"
import type { MemberId } from "../member/Member.ts"
import { MemberStore } from "../member/MemberStore.ts"
import { OntologyEngine } from "../ontology/OntologyEngine.ts"
import { OntologyStore } from "../ontology/OntologyStore.ts"
import type { PositionPage, Slice } from "../page/Page.ts"
import { RoleStore } from "../role/RoleStore.ts"
import type { Situation } from "./ApprovalPolicy.ts"
import * as Approving from "./Approving.ts"
import type { Change, ChangeId } from "./Change.ts"
import * as ChangePolicy from "./ChangePolicy.ts"
import { readerOf } from "./ChangeReader.ts"
import { allowed, entry, replace } from "./ChangeRecord.ts"
import { advance, ChangeEvent, transition } from "./ChangeState.ts"
import { type ChangeCounts, type ChangeSelection, ChangeStore } from "./ChangeStore.ts"
import { type ChangeView, viewOf } from "./ChangeView.ts"
import { current, reviewedRef } from "./ExpectedRef.ts"
import * as LibraryVersions from "./LibraryVersions.ts"
import * as Merging from "./Merging.ts"
import * as OntologyFolder from "./OntologyFolder.ts"
import * as Proposing from "./Proposing.ts"
import * as ReviewSituation from "./ReviewSituation.ts"

/** How a use case of changes can fail. */
type Failure = InvalidRequest | NotFound | PermissionDenied | Conflict

/** What became of a proposal: the change as the caller is shown it, and what to resolve where there are conflicts. */
export interface ProposedChange extends ChangeView {
  readonly rejected: Proposing.Proposed["rejected"]
}

/** A page of changes with the numbers of all that the caller may see. */
export interface ChangeList extends Slice<ChangeView> {
  readonly counts: ChangeCounts
}

/** The use cases of changes. */
export class Changes extends Context.Service<
  Changes,
  {
    /** The live library as far as the caller owns it: what is mounted for them. Edits of it are staged on its `id`. */
    readonly mount: Effect.Effect<LibraryVersions.Version, Failure, CurrentPrincipal>
    /** Files staged edits as a new change, or as a further revision of one. */
    readonly propose: (proposal: Proposing.Proposal) => Effect.Effect<ProposedChange, Failure, CurrentPrincipal>
    /** Calls a draft ready for review. */
    readonly submit: (id: ChangeId) => Effect.Effect<ChangeView, Failure, CurrentPrincipal>
    /** Records the caller's approval of the revision that they reviewed, and merges once the approvals are complete. */
    readonly approve: (
      id: ChangeId,
      expectedGitRef: string | undefined
    ) => Effect.Effect<Approving.Approved, Failure, CurrentPrincipal>
    readonly deny: (
      id: ChangeId,
      expectedGitRef: string | undefined
    ) => Effect.Effect<ChangeView, Failure, CurrentPrincipal>
    /** Brings a denied change back to what it was, without its approvals and with the conflicts that it has now. */
    readonly restore: (
      id: ChangeId,
      expectedGitRef: string | undefined
    ) => Effect.Effect<ChangeView, Failure, CurrentPrincipal>
    /** A change with one of its revisions, from 1; absent: the latest. */
    readonly get: (id: ChangeId, revision?: number) => Effect.Effect<ChangeView, Failure, CurrentPrincipal>
    /** The changes that the caller may see, newest first. */
    readonly list: (
      query: Omit<ChangeSelection, "reader"> & PositionPage
    ) => Effect.Effect<ChangeList, Failure, CurrentPrincipal>
  }
>()("@castellan/core/change/Changes") {}

/** The use cases over the stores and the ontology's compiler. */
export const layer: Layer.Layer<
  Changes,
  never,
  | ApiKeyStore
  | ChangeStore
  | ConnectorStore
  | FolderPolicyStore
  | LibraryStore
  | MemberStore
  | OntologyEngine
  | OntologyStore
  | RoleStore
  | SecureRandom.SecureRandom
  | UseCase
> = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const useCase = yield* UseCase
    const store = yield* ChangeStore
    const members = yield* MemberStore
    const library = yield* LibraryStore
    const random = yield* SecureRandom.SecureRandom
    const situations = ReviewSituation.make({
      policies: yield* FolderPolicyStore,
      members,
      roles: yield* RoleStore,
      keys: yield* ApiKeyStore
    })
    const versions = LibraryVersions.make(library)
    const ontology = OntologyFolder.make(yield* OntologyStore, yield* OntologyEngine, yield* ConnectorStore, library)
    const merging = Merging.make(library, members, versions, ontology)
    const nextId = Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)
    const approving = Approving.make(store, merging)
    const proposing = Proposing.make({ library, merging, nextId, situations, store, versions })

    const shown = Effect.fnUntraced(function* (
      situation: Situation,
      principal: Principal,
      change: Change,
      changeset = change.changeset
    ) {
      const who = change.author._tag === "Member" ? [change.author.memberId] : []
      const [author] = yield* members.named(principal.organizationId, who)
      return viewOf(situation, principal, { change, changeset, author }, yield* DateTime.now)
    })

    /** The change as far as it is there for the principal at all. */
    const load = Effect.fnUntraced(function* (principal: Principal, id: ChangeId) {
      const found = yield* store.get(principal.organizationId, id)
      if (Option.isNone(found)) return yield* new NotFound({ message: "change not found" })
      const situation = yield* situations.situation(principal.organizationId)
      if (!ChangePolicy.visible(situation.tree, principal, found.value)) {
        return yield* new NotFound({ message: "change not found" })
      }
      return { change: found.value, situation }
    })

    const attempted = (action: AuditAction, id: ChangeId) => ({ action, target: { type: "change", id } }) as const

    /** Saves what became of a change, and shows it. */
    const saved = Effect.fnUntraced(function* (
      principal: Principal,
      situation: Situation,
      action: AuditAction,
      before: Change,
      after: Change
    ) {
      yield* replace(store, before, after)
      return { answer: yield* shown(situation, principal, after), entries: [entry(action, before, after)] }
    })

    return Changes.of({
      mount: useCase
        .run({ action: "read", target: { type: "library" } }, (principal) =>
          Effect.gen(function* () {
            yield* enforce(requires(principal, "library:read"))
            const head = yield* merging.head(principal.organizationId)
            const tree = yield* situations.tree(principal.organizationId)
            const holder = holderOf(principal)
            const answer = { id: head.id, tree: prune(head.tree, (path) => owns(tree.governing(path), holder)) }
            return { answer, entries: [] }
          })
        )
        .pipe(Effect.withSpan("Changes.mount")),

      propose: Effect.fn("Changes.propose")(function* (proposal) {
        const action = proposal.changeNumber === undefined ? "create" : "revise"
        return yield* useCase.run({ action, target: { type: "change" } }, (principal) =>
          Effect.gen(function* () {
            const { answer, entries } = yield* proposing(principal, proposal)
            const situation = yield* situations.situation(principal.organizationId)
            const view = yield* shown(situation, principal, answer.change)
            return { answer: { ...view, rejected: answer.rejected }, entries }
          })
        )
      }),

      submit: Effect.fn("Changes.submit")(function* (id) {
        return yield* useCase.run(attempted("submit", id), (principal) =>
          Effect.gen(function* () {
            const { change, situation } = yield* load(principal, id)
            yield* enforce(ChangePolicy.decideSubmit(principal, change))
            const submitted = yield* allowed(advance(change, ChangeEvent.cases.Submit.make({}), yield* DateTime.now))
            return yield* saved(principal, situation, "submit", change, submitted)
          })
        )
      }),

      approve: Effect.fn("Changes.approve")(function* (id, expected) {
        const outcome = yield* useCase.run(attempted("approve", id), (principal) =>
          Effect.gen(function* () {
            const ref = yield* reviewedRef(expected)
            const { change, situation } = yield* load(principal, id)
            return yield* approving(principal, situation, change, ref)
          })
        )
        return yield* Effect.fromResult(outcome)
      }),

      deny: Effect.fn("Changes.deny")(function* (id, expected) {
        return yield* useCase.run(attempted("deny", id), (principal) =>
          Effect.gen(function* () {
            const ref = yield* reviewedRef(expected)
            const { change, situation } = yield* load(principal, id)
            yield* enforce(ChangePolicy.decideDeny(situation.tree, principal, change))
            const by = principal.memberId
            const denied = yield* allowed(advance(change, ChangeEvent.cases.Deny.make({ by }), yield* DateTime.now))
            yield* current(change, ref)
            return yield* saved(principal, situation, "deny", change, denied)
          })
        )
      }),

      restore: Effect.fn("Changes.restore")(function* (id, expected) {
        return yield* useCase.run(attempted("restore", id), (principal) =>
          Effect.gen(function* () {
            const ref = yield* reviewedRef(expected)
            const { change, situation } = yield* load(principal, id)
            yield* enforce(ChangePolicy.decideRestore(situation.tree, principal, change))
            const at = yield* DateTime.now
            yield* allowed(transition(change.status, ChangeEvent.cases.Restore.make({ conflicts: [] }), at))
            yield* current(change, ref)
            const { conflicts } = yield* merging.attempt(principal.organizationId, change.changeset)
            const event = ChangeEvent.cases.Restore.make({ conflicts })
            const restored = yield* allowed(advance(change, event, at, { approvals: [] }))
            return yield* saved(principal, situation, "restore", change, restored)
          })
        )
      }),

      get: Effect.fn("Changes.get")(function* (id, revision) {
        return yield* useCase.read(attempted("read", id), (principal) =>
          Effect.gen(function* () {
            if (revision !== undefined && (!Number.isInteger(revision) || revision < 1)) {
              return yield* new InvalidRequest({ message: "revision: must be a whole number from 1" })
            }
            const { change, situation } = yield* load(principal, id)
            yield* enforce(ChangePolicy.decideRead(situation.tree, principal, change))
            const changeset = revision === undefined ? change.changeset : change.changesets[revision - 1]
            if (changeset === undefined)
              return yield* new NotFound({ message: `the change has no revision ${revision}` })
            return yield* shown(situation, principal, change, changeset)
          })
        )
      }),

      list: Effect.fn("Changes.list")(function* (query) {
        return yield* useCase.read({ action: "list", target: { type: "change" } }, (principal) =>
          Effect.gen(function* () {
            const { organizationId } = principal
            yield* enforce(requires(principal, "library:read"))
            const situation = yield* situations.situation(organizationId)
            const reader = readerOf(situation.tree, principal)
            const page = yield* store.list(organizationId, { ...query, reader })
            const counts = yield* store.counts(organizationId, {
              includeAutoApproved: query.includeAutoApproved,
              reader
            })
            const ids = page.items.flatMap(({ author }) => (author._tag === "Member" ? [author.memberId] : []))
            const known = yield* members.named(organizationId, [...new Set<MemberId>(ids)])
            const authors = new Map(known.map((member) => [member.id, member]))
            const now = yield* DateTime.now
            return {
              ...page,
              items: page.items.map((change) => {
                const author = change.author._tag === "Member" ? authors.get(change.author.memberId) : undefined
                return viewOf(situation, principal, { change, changeset: change.changeset, author }, now)
              }),
              counts
            }
          })
        )
      })
    })
  })
)
