/**
 * How a change comes to be, and how it is revised: from edits that were staged on a version of the library.
 *
 * A mount holds only what its reader owns, so only that can be edited, moved or deleted; a file that is not there yet
 * may be proposed anywhere, and waits for somebody with authority (policy-cases O5, O16, A20, A37).
 *
 * Source: api-v2.md "POST /v2/sandcastles/{id}/library/changes"; decisions.md §7, §8; policy-cases A14, A37 to A44, M12,
 * M15.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { Principal } from "../access/Principal.ts"
import type { Done } from "../audit/UseCase.ts"
import type { ChatId } from "../chat/Chat.ts"
import { InvalidRequest, NotFound } from "../error/Failure.ts"
import * as OwnersPolicy from "../folderpolicy/OwnersPolicy.ts"
import type { Population } from "../folderpolicy/Population.ts"
import { Commit } from "../library/Commit.ts"
import { ancestors, type LibraryPath, rootFolder } from "../library/LibraryPath.ts"
import type { LibraryStore } from "../library/LibraryStore.ts"
import { CommitId } from "../library/ObjectId.ts"
import { fileAt, find, prune, type Tree } from "../library/Tree.ts"
import { blobsOf, changes, touchedPaths, withRenames } from "../library/TreeChange.ts"
import { apply } from "../library/TreeEdit.ts"
import { unifiedDiff } from "../library/UnifiedDiff.ts"
import { unresolved } from "../library/Unresolved.ts"
import { standing } from "./ApprovalPolicy.ts"
import { decideAutoApproval } from "./AutoApprovalPolicy.ts"
import { Attribution, Change, ChangeId, ChangeNumber, type Changeset, ChangeTitle } from "./Change.ts"
import { decideRevise, isAuthor, reviewedOf } from "./ChangePolicy.ts"
import { allowed, entry, replace } from "./ChangeRecord.ts"
import { advance, ChangeEvent, outcomeOf, transition } from "./ChangeState.ts"
import type { ChangeStore } from "./ChangeStore.ts"
import type { LibraryVersions, Version } from "./LibraryVersions.ts"
import type { Merging } from "./Merging.ts"
import type { Situations } from "./ReviewSituation.ts"
import * as StagedEdit from "./StagedEdit.ts"

/** What somebody files as a change, or as a further revision of one. */
export interface Proposal {
  /** The version that the edits were staged on, as `mount` gave it; absent: the live one. */
  readonly base?: string
  readonly staged: ReadonlyArray<StagedEdit.StagedEdit>
  /** Required for a new change; absent for a revised one: as it was. */
  readonly title?: string
  /** Markdown. Required for a new change; absent for a revised one: as it was. */
  readonly description?: string
  readonly draft: boolean
  /** The change to revise; absent: a new one. */
  readonly changeNumber?: number
  /** Whether the service's own analyst made the edits. */
  readonly aiGenerated?: boolean
  readonly chatId?: ChatId
}

/** What became of a proposal. */
export interface Proposed {
  readonly change: Change
  /** What the caller is to go on from where there are conflicts: the library with reject files, as far as they own it. */
  readonly rejected?: Version
}

/** What proposals are made with. */
export interface ProposingParts {
  readonly store: ChangeStore["Service"]
  readonly library: LibraryStore["Service"]
  readonly situations: Situations
  readonly versions: LibraryVersions
  readonly merging: Merging
  readonly nextId: Effect.Effect<string>
}

const invalid = (message: string): InvalidRequest => new InvalidRequest({ message })

const isTitle = Schema.is(ChangeTitle)
const isNumber = Schema.is(ChangeNumber)
const isCommit = Schema.is(CommitId)

/** What a proposal says in words. */
type Words = Pick<Proposal, "title" | "description">

/** The title of a proposal, where it has one. */
const titleOf = ({ title }: Words): Result.Result<ChangeTitle | undefined, InvalidRequest> =>
  title === undefined || isTitle(title)
    ? Result.succeed(title)
    : Result.fail(invalid("title: must be one line of 1 to 50 characters, without control characters"))

/** What a new change says in words. */
const firstWords = (
  title: ChangeTitle | undefined,
  { description }: Words
): Result.Result<Pick<Change, "title" | "description">, InvalidRequest> => {
  if (title === undefined) return Result.fail(invalid("title: is required for a new change"))
  if (description === undefined) return Result.fail(invalid("description: is required for a new change"))
  return Result.succeed({ title, description })
}

/** What a proposal's words alone make impossible, whatever is there and whoever files it. */
export const shapeOf = (proposal: Words & Pick<Proposal, "changeNumber">): Result.Result<void, InvalidRequest> =>
  Result.flatMap(titleOf(proposal), (title) =>
    proposal.changeNumber === undefined
      ? Result.map(firstWords(title, proposal), () => undefined)
      : Result.succeed(undefined)
  )

const leftovers = {
  RejectFile: "is a reject file: take what is needed of it, and delete it",
  RejectedHunks: "holds rejected hunks",
  ConflictMarkers: "holds conflict markers"
} as const

/**
 * What edits would change of what is there: the mount held it, if the caller may have staged them. It is asked before
 * anything is compared, so that nobody finds out what a file holds by writing what they think it does.
 */
const replaced = (base: Tree, edits: StagedEdit.ParsedEdits["edits"]): ReadonlyArray<LibraryPath> =>
  edits.flatMap(({ path }) => {
    const inTheWay = ancestors(path).filter((folder): folder is LibraryPath => folder !== rootFolder)
    return [
      ...(find(base, path) === undefined ? [] : [path]),
      ...inTheWay.filter((folder) => fileAt(base, folder) !== undefined)
    ]
  })

const attribution = (population: Population, principal: Principal): Attribution =>
  Attribution.cases.Member.make({
    memberId: principal.memberId,
    roles: [...(population.member(principal.memberId)?.roles ?? principal.roles.map((role) => role.id))].toSorted(),
    ...(principal.clientMetadata === undefined ? {} : { clientMetadata: principal.clientMetadata })
  })

/** Carries out proposals. */
export const make = ({ library, merging, nextId, situations, store, versions }: ProposingParts) => {
  const revised = Effect.fnUntraced(function* (principal: Principal, number: number | undefined) {
    if (number === undefined) return undefined
    if (!isNumber(number)) return yield* invalid("change_number: must be a whole number from 1")
    const found = yield* store.numbered(principal.organizationId, number)
    return Option.isSome(found) ? found.value : yield* new NotFound({ message: "change not found" })
  })

  const baseOf = Effect.fnUntraced(function* (principal: Principal, base: string | undefined, head: Version) {
    if (base === undefined) return head
    const found = isCommit(base) ? yield* versions.version(principal.organizationId, base) : Option.none()
    return Option.isSome(found) ? found.value : yield* invalid("base: is no version of the library")
  })

  /** What the edits make of their base, checked file by file. */
  const changed = Effect.fnUntraced(function* (principal: Principal, base: Tree, parsed: StagedEdit.ParsedEdits) {
    const tree = yield* Effect.fromResult(Result.mapError(apply(base, parsed.edits), ({ message }) => invalid(message)))
    const all = withRenames(changes(base, tree))
    if (all.length === 0) return yield* StagedEdit.nothingStaged
    yield* library.addBlobs(principal.organizationId, parsed.contents)
    const contents = yield* library.blobs(principal.organizationId, blobsOf(all))
    const left = unresolved(all, contents)
    if (left[0] !== undefined) return yield* invalid(`${left[0].path} ${leftovers[left[0].kind]}`)
    return {
      tree,
      all,
      files: all.map((one) => {
        const { diffs, raw } = unifiedDiff([one], contents)
        return diffs.map((diff) => ({ diff, patch: raw }))
      })
    }
  })

  return Effect.fnUntraced(function* (principal: Principal, proposal: Proposal) {
    const { organizationId } = principal
    const named = yield* Effect.fromResult(titleOf(proposal))
    const parsed = yield* Effect.fromResult(StagedEdit.parse(proposal.staged))
    const existing = yield* revised(principal, proposal.changeNumber)
    const { description, title } =
      existing === undefined
        ? yield* Effect.fromResult(firstWords(named, proposal))
        : { title: named ?? existing.title, description: proposal.description ?? existing.description }
    const situation = yield* situations.situation(organizationId)
    // Numbers have no gaps: that a change of this number is there tells nobody anything, and needs no hiding (A44).
    yield* enforce(
      existing === undefined
        ? requires(principal, "library:propose")
        : decideRevise(situation.tree, principal, existing)
    )
    const at = yield* DateTime.now
    if (existing !== undefined) {
      // Whatever the changeset turns out to be, the state has to allow one.
      const event = ChangeEvent.cases.Revise.make({ outcome: outcomeOf(true, []) })
      yield* allowed(transition(existing.status, event, at))
    }
    const head = yield* merging.head(organizationId)
    const base = yield* baseOf(principal, proposal.base, head)
    const holder = OwnersPolicy.holderOf(principal)
    // Of the live version as well: what came there since would be told by whether the edits conflict with it.
    const there = [base, head].flatMap(({ tree }) => replaced(tree, parsed.edits))
    yield* enforce(OwnersPolicy.decideAll(situation.tree, holder, there))
    const { all, files, tree } = yield* changed(principal, base.tree, parsed)

    const id = existing?.id ?? ChangeId.make(yield* nextId)
    const revision = (existing?.changesets.length ?? 0) + 1
    const by = yield* merging.signature(organizationId, principal.memberId, at)
    const gitRef = yield* versions.commit(
      organizationId,
      new Commit({
        tree: tree.id,
        parents: [base.id],
        author: by,
        committer: by,
        // The change and its revision are part of it: two revisions are never the same commit, whatever they hold.
        message: `${title}\n\n${description}\n\nChange-Id: ${id}\nRevision: ${revision}`
      }),
      tree
    )
    const changeset: Changeset = {
      revision,
      gitRef,
      base: base.id,
      pusher: attribution(situation.population, principal),
      paths: [...new Set(touchedPaths(all))].toSorted(),
      files: files.flat(),
      createdAt: at
    }
    const attempt = yield* merging.attempt(organizationId, changeset)
    if (attempt.uncompiled.length > 0) {
      return yield* invalid(
        attempt.uncompiled
          .map(({ view }) => view)
          .join("")
          .trimEnd()
      )
    }
    // A draft is made ready by its author alone (decisions.md §8, "Submit"), and no revision of another's does it.
    const staysDraft = existing?.status._tag === "Draft" && !isAuthor(principal, { author: existing.author, paths: [] })
    const outcome = outcomeOf(proposal.draft || staysDraft, attempt.conflicts)

    let change: Change
    if (existing === undefined) {
      change = yield* store.add(
        organizationId,
        (number) =>
          new Change({
            id,
            organizationId,
            number,
            author: changeset.pusher,
            title,
            description,
            status: outcome,
            changesets: [changeset],
            approvals: [],
            aiGenerated: proposal.aiGenerated ?? false,
            ...(proposal.chatId === undefined ? {} : { chatId: proposal.chatId }),
            createdAt: at,
            updatedAt: at
          })
      )
    } else {
      const [first, ...others] = existing.changesets
      const next = advance(existing, ChangeEvent.cases.Revise.make({ outcome }), at, {
        title,
        description,
        changesets: [first, ...others, changeset]
      })
      change = yield* allowed(next)
      yield* replace(store, existing, change)
    }
    const entries = [entry(existing === undefined ? "create" : "revise", existing, change)]

    if (change.status._tag === "Open" && decideAutoApproval(reviewedOf(change), situation, holder)._tag === "Allow") {
      const merge = yield* merging.merge(change, attempt, {
        by: principal.memberId,
        at,
        standing: standing(reviewedOf(change), situation),
        automatic: true
      })
      const next = advance(change, ChangeEvent.cases.Merge.make({ merge }), at)
      const merged = yield* allowed(next)
      yield* replace(store, change, merged)
      entries.push(entry("merge", change, merged))
      change = merged
    }

    const answer: Proposed = {
      change,
      ...(change.status._tag === "Reserved"
        ? {
            rejected: {
              id: attempt.head.id,
              // What the head does not have is the caller's own: a new file, or rejected hunks of theirs.
              tree: prune(
                yield* attempt.withRejects,
                (path) =>
                  OwnersPolicy.owns(situation.tree.governing(path), holder) ||
                  fileAt(attempt.head.tree, path) === undefined
              )
            }
          }
        : {})
    }
    const done: Done<Proposed> = { answer, entries }
    return done
  })
}
