/**
 * Puts changes into the library: what is merged is live at once, the ontology with it.
 *
 * Source: decisions.md §8 ("Merge re-validates everything against the tree's head at that moment, serialized per
 * organization"; "A merge is one transaction: status, head, tree and audit event, or none").
 */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Conflict } from "../error/Failure.ts"
import { Commit, type Signature } from "../library/Commit.ts"
import * as LibraryPath from "../library/LibraryPath.ts"
import type { LibraryStore } from "../library/LibraryStore.ts"
import type { CommitId } from "../library/ObjectId.ts"
import type { MemberId } from "../member/Member.ts"
import type { MemberStore } from "../member/MemberStore.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import type { Standing } from "./ApprovalPolicy.ts"
import type { Attribution, Change, ChangeConflict, Merge } from "./Change.ts"
import { type LibraryVersions, type MergeAttempt, signatureOfNobody, type Version } from "./LibraryVersions.ts"
import * as OntologyFolder from "./OntologyFolder.ts"

/** The library moved between two steps of one transaction, which a store that serializes them does not let happen. */
const moved = new Conflict({ message: "the library was changed at the same time; try again" })

/** An attempt with what the compiler says of the ontology that would come of it. */
export interface CheckedAttempt extends MergeAttempt {
  /** What does not compile, file by file; empty where there are conflicts before that. */
  readonly uncompiled: ReadonlyArray<ChangeConflict>
}

/** Puts changes into libraries. */
export interface Merging {
  /** The live version. */
  readonly head: (organizationId: OrganizationId) => Effect.Effect<Version, Conflict>
  /** What would come of merging a changeset now. */
  readonly attempt: (
    organizationId: OrganizationId,
    changeset: { readonly base: CommitId; readonly gitRef: CommitId; readonly paths: Iterable<string> }
  ) => Effect.Effect<CheckedAttempt, Conflict>
  /** Makes a clean attempt the live version. */
  readonly merge: (
    change: Change,
    attempt: MergeAttempt,
    terms: {
      readonly by: MemberId
      readonly at: DateTime.Utc
      readonly standing: Standing
      readonly automatic: boolean
    }
  ) => Effect.Effect<Merge, Conflict>
  /** Who a member is to git. */
  readonly signature: (
    organizationId: OrganizationId,
    who: MemberId | undefined,
    at: DateTime.Utc
  ) => Effect.Effect<Signature>
}

const memberOf = (by: Attribution): MemberId | undefined => (by._tag === "Member" ? by.memberId : undefined)

/** What does not compile, as people are shown it: with file, line and column. */
const problemsByFile = (
  problems: ReadonlyArray<{
    readonly path: string
    readonly line: number
    readonly column: number
    readonly message: string
  }>
) => {
  const views = new Map<string, string>()
  for (const { column, line, message, path } of problems) {
    const at = `${OntologyFolder.folder}/${path}`
    views.set(at, `${views.get(at) ?? ""}${at}:${line}:${column}: ${message}\n`)
  }
  // The compiler names the files that it was given, which are paths.
  return Array.from(views, ([path, view]): ChangeConflict => ({ path: LibraryPath.LibraryPath.make(path), view }))
}

/** Puts changes into the libraries of a store. */
export const make = (
  store: LibraryStore["Service"],
  members: MemberStore["Service"],
  versions: LibraryVersions,
  ontology: OntologyFolder.OntologyFolder
): Merging => {
  const head = (organizationId: OrganizationId) =>
    Effect.mapError(versions.head(organizationId, ontology.library(organizationId)), () => moved)

  /** A version that a change rests on: it was kept with the change. */
  const kept = (organizationId: OrganizationId, id: CommitId) =>
    Effect.flatMap(versions.version(organizationId, id), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : Effect.die(new Error(`version ${id} is not kept`))
    )

  const signature = Effect.fnUntraced(function* (
    organizationId: OrganizationId,
    who: MemberId | undefined,
    at: DateTime.Utc
  ) {
    const found = who === undefined ? Option.none() : yield* members.get(organizationId, who)
    return Option.match(found, {
      onNone: () => signatureOfNobody(at),
      onSome: ({ email, name }): Signature => ({ name: name ?? email, email, at })
    })
  })

  return {
    head,
    signature,

    attempt: Effect.fnUntraced(function* (organizationId, { base, gitRef, paths }) {
      const attempt = yield* versions.attempt(organizationId, {
        base: (yield* kept(organizationId, base)).tree,
        head: yield* head(organizationId),
        change: (yield* kept(organizationId, gitRef)).tree
      })
      if (attempt.conflicts.length > 0 || !OntologyFolder.touches(paths)) return { ...attempt, uncompiled: [] }
      return yield* ontology.check(organizationId, attempt.tree).pipe(
        Effect.as({ ...attempt, uncompiled: [] }),
        Effect.catchTag("OntologyError", ({ problems }) =>
          Effect.succeed({ ...attempt, uncompiled: problemsByFile(problems) })
        )
      )
    }),

    merge: Effect.fnUntraced(function* (change, attempt, { at, automatic, by, standing }) {
      const { organizationId } = change
      const commit = new Commit({
        tree: attempt.tree.id,
        parents: [attempt.head.id, change.gitRef],
        author: yield* signature(organizationId, memberOf(change.author), at),
        committer: yield* signature(organizationId, by, at),
        message: `Merge change ${change.number}: ${change.title}`
      })
      const id = yield* versions.commit(organizationId, commit, attempt.tree)
      yield* Effect.mapError(store.advance(organizationId, Option.some(attempt.head.id), id), () => moved)
      if (OntologyFolder.touches(change.paths)) yield* ontology.publish(organizationId, attempt.tree)
      const { furthest } = standing
      return { commit: id, at, automatic, approvals: furthest.approvers.length, required: furthest.required }
    })
  }
}
