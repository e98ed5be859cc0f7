/**
 * An organization with a library, for tests of the use cases of changes: its people by name, and what they do, in one
 * call each.
 */
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { ApiKey } from "@castellan/core/apikey/ApiKey"
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import * as UseCase from "@castellan/core/audit/UseCase"
import { type Change, statusName } from "@castellan/core/change/Change"
import * as Changes from "@castellan/core/change/Changes"
import type { Proposal } from "@castellan/core/change/Proposing"
import type { StagedEdit } from "@castellan/core/change/StagedEdit"
import * as FolderPolicies from "@castellan/core/folderpolicy/FolderPolicies"
import { Owner } from "@castellan/core/folderpolicy/FolderPolicy"
import { LibraryStore } from "@castellan/core/library/LibraryStore"
import * as TextBytes from "@castellan/core/library/TextBytes"
import * as Tree from "@castellan/core/library/Tree"
import { Member, type MemberId, MemberStatus } from "@castellan/core/member/Member"
import { MemberStore } from "@castellan/core/member/MemberStore"
import * as Stores from "@castellan/core/memory/Stores"
import { OntologyEngine, OntologyError } from "@castellan/core/ontology/OntologyEngine"
import type { Permission } from "@castellan/core/role/Permission"
import type { Role } from "@castellan/core/role/Role"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Effect, Layer, Option } from "effect"

/** A compiler to which a text is broken that says so, or that needs two where another file says that it is not needed. */
const layerCompiler = Layer.succeed(OntologyEngine, {
  describe: ({ files }) => {
    const isNotNeeded = files.some(({ content }) => content.includes("two is not needed"))
    const problems = files.flatMap(({ content, path }) => {
      const line = content.split("\n").findIndex((text) => text.includes("broken")) + 1
      if (line > 0) return [{ path, line, column: 1, message: "it is broken" }]
      return content === "needs two" && isNotNeeded ? [{ path, line: 1, column: 1, message: "two is not needed" }] : []
    })
    // A compiler that breaks down is no compiler that refuses.
    if (isNotNeeded && files.some(({ content }) => content === "breaks the compiler")) return Effect.die("broken down")
    return problems.length === 0 ? Effect.succeed([]) : Effect.fail(new OntologyError({ problems }))
  },
  prepare: () => Effect.fail(new OntologyError({ problems: [] }))
})

/** The use cases over memory. */
export const layer = Layer.mergeAll(Changes.layer, FolderPolicies.layer).pipe(
  Layer.provideMerge(UseCase.layer),
  Layer.provideMerge(Layer.mergeAll(Stores.layerMemory, layerCompiler, layerCrypto))
)

/** What somebody stages: texts to write, and paths to delete. */
export interface Staged {
  readonly write?: { readonly [path: string]: string }
  readonly remove?: ReadonlyArray<string>
}

const editsOf = ({ remove = [], write = {} }: Staged): ReadonlyArray<StagedEdit> => [
  ...Object.entries(write).map(([path, text]): StagedEdit => ({
    _tag: "Write",
    path,
    content: TextBytes.encode(text)
  })),
  ...remove.map((path): StagedEdit => ({ _tag: "Delete", path }))
]

/** Does something as somebody. */
export const as =
  (who: Principal) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, CurrentPrincipal>> =>
    Effect.provideService(effect, CurrentPrincipal, who)

/** The code of the failure of a use case, or `ok`. */
export const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ code }) => code, onSuccess: () => "ok" })

/** What a policy says by people and roles; all else as in `folderPolicy`. */
export interface Policy {
  readonly members?: ReadonlyArray<Principal>
  readonly roles?: ReadonlyArray<Role>
  readonly inheritOwners?: boolean
  readonly required?: number
  readonly distinct?: boolean
  readonly authorRoles?: ReadonlyArray<Role>
  readonly autoApprove?: ReadonlyArray<{
    readonly authorRoles?: ReadonlyArray<Role>
    readonly pathGlobs: ReadonlyArray<string>
  }>
}

/** A new organization with an administrator. */
export const organization = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const boss = Fixture.adminOf(tenant)
  const member = (roles: ReadonlyArray<Role> = []) => Fixture.someone(tenant, { roles: [tenant.memberRole, ...roles] })

  return {
    ...tenant,
    boss,
    member,
    /** Another administrator. */
    admin: Fixture.someone(tenant, { roles: [tenant.adminRole] }),
    role: (permissions: ReadonlyArray<Permission> = []) => Fixture.role(tenant.organizationId, { permissions }),
    /** A service account, one of whose keys somebody minted. */
    serviceAccount: Effect.fnUntraced(function* (mintedBy: Principal) {
      const who = yield* member()
      const members = yield* MemberStore
      const found = Option.getOrThrow(yield* members.get(tenant.organizationId, who.memberId))
      yield* members.save(new Member({ ...found, isServiceAccount: true }))
      const keys = yield* ApiKeyStore
      const id = who.key?.id
      if (id === undefined) return who
      const key = Option.getOrThrow(yield* keys.get(tenant.organizationId, id))
      yield* keys.save(new ApiKey({ ...key, mintedBy: { memberId: mintedBy.memberId } }))
      return who
    }),
    policy: (path: string, of: Policy = {}) =>
      FolderPolicies.FolderPolicies.use((policies) =>
        policies.save({
          path,
          owners: [
            ...(of.members ?? []).map(({ memberId }) => Owner.cases.Member.make({ id: memberId })),
            ...(of.roles ?? []).map(({ id }) => Owner.cases.Role.make({ id }))
          ],
          inheritOwners: of.inheritOwners ?? true,
          requiredApprovals: of.required ?? 1,
          distinctApprovers: of.distinct ?? true,
          authorRoles: (of.authorRoles ?? []).map(({ id }) => id),
          autoApprove: (of.autoApprove ?? []).map(({ authorRoles = [], pathGlobs }) => ({
            authorRoles: authorRoles.map(({ id }) => id),
            pathGlobs
          }))
        })
      ).pipe(as(boss)),
    /** What a member holds from now on. */
    holds: Effect.fnUntraced(function* (memberId: MemberId, roles: ReadonlyArray<Role>) {
      const members = yield* MemberStore
      const found = Option.getOrThrow(yield* members.get(tenant.organizationId, memberId))
      yield* members.save(new Member({ ...found, roles: roles.map(({ id }) => id) }))
    }),
    deactivate: Effect.fnUntraced(function* (memberId: MemberId) {
      const members = yield* MemberStore
      const found = Option.getOrThrow(yield* members.get(tenant.organizationId, memberId))
      yield* members.save(
        new Member({ ...found, status: MemberStatus.cases.Deactivated.make({ at: found.createdAt }) })
      )
    }),
    /** What is in the library now, as texts by path. */
    library: Effect.gen(function* () {
      const library = yield* LibraryStore
      const head = yield* library.head(tenant.organizationId)
      if (Option.isNone(head)) return {}
      const commit = Option.getOrThrow(yield* library.commit(tenant.organizationId, head.value))
      const tree = Option.getOrThrow(yield* library.tree(tenant.organizationId, commit.tree))
      return yield* textsOf(tenant.organizationId, tree)
    })
  }
})

/** What a tree holds, as texts by path. */
export const textsOf = Effect.fnUntraced(function* (organizationId: Fixture.Tenant["organizationId"], tree: Tree.Tree) {
  const library = yield* LibraryStore
  const files = [...Tree.files(tree)]
  const contents = yield* library.blobs(
    organizationId,
    files.map(([, { blob }]) => blob)
  )
  const texts: { [path: string]: string } = {}
  for (const [path, { blob }] of files) texts[path] = Option.getOrElse(TextBytes.decode(contents.get(blob)), () => "")
  return texts
})

/** Files a change as somebody. */
export const propose = (who: Principal, staged: Staged, options: Partial<Omit<Proposal, "staged">> = {}) =>
  Changes.Changes.use((changes) =>
    changes.propose({
      staged: editsOf(staged),
      draft: false,
      ...(options.changeNumber === undefined ? { title: "A change", description: "Because." } : {}),
      ...options
    })
  ).pipe(as(who))

/** A change, as far as reviewing it needs it. */
export interface Reviewable {
  readonly change: Pick<Change, "id" | "gitRef">
}

/** Approves a change as somebody, at the revision that they were shown unless another is said. */
export const approve = (who: Principal, { change }: Reviewable, ref: string | undefined = change.gitRef) =>
  Changes.Changes.use((changes) => changes.approve(change.id, ref)).pipe(as(who))

/** Denies a change as somebody. */
export const deny = (who: Principal, { change }: Reviewable, ref: string | undefined = change.gitRef) =>
  Changes.Changes.use((changes) => changes.deny(change.id, ref)).pipe(as(who))

/** Restores a change as somebody. */
export const restore = (who: Principal, { change }: Reviewable, ref: string | undefined = change.gitRef) =>
  Changes.Changes.use((changes) => changes.restore(change.id, ref)).pipe(as(who))

/** Submits a draft as somebody. */
export const submit = (who: Principal, { change }: Reviewable) =>
  Changes.Changes.use((changes) => changes.submit(change.id)).pipe(as(who))

/** A change as somebody is shown it. */
export const see = (who: Principal, { change }: Reviewable, revision?: number) =>
  Changes.Changes.use((changes) => changes.get(change.id, revision)).pipe(as(who))

/** The status of a change now, as the wire names it. */
export const statusOf = (who: Principal, of: Reviewable) =>
  Effect.map(see(who, of), ({ change }) => statusName(change.status))
