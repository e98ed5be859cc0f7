/**
 * A host's own roles, people and folder policies, from its own files, as the rules read them.
 *
 * The files speak of people and roles by name. Whatever is wrong in them is said at once, and a policy that cannot be
 * read whole stands at its strictest instead of widening anything.
 */
import * as FolderPath from "@castellan/core/folderpolicy/FolderPath"
import * as FolderPolicyReview from "@castellan/core/folderpolicy/FolderPolicyReview"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Population from "@castellan/core/folderpolicy/Population"
import * as LibraryPath from "@castellan/core/library/LibraryPath"
import * as Member from "@castellan/core/member/Member"
import * as Role from "@castellan/core/role/Role"
import type * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import { Attribution } from "@castellan/core/change/Change"
import { Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const Names = Schema.Array(Schema.String)

const Organization = Schema.Struct({
  roles: Schema.Array(
    Schema.Struct({ id: Role.RoleId, name: Schema.String, isAdministrator: Schema.optionalKey(Schema.Boolean) })
  ),
  people: Schema.Array(
    Schema.Struct({
      id: Member.MemberId,
      name: Schema.String,
      roles: Names,
      /** For an account of a machine: who can make it say what they like. */
      serviceAccountOf: Schema.optionalKey(Names)
    })
  )
})

/** A folder policy as this host writes it. */
export const FolderFile = Schema.Struct({
  path: Schema.String,
  owners: Schema.optionalKey(Schema.Struct({ people: Schema.optionalKey(Names), roles: Schema.optionalKey(Names) })),
  inheritOwners: Schema.optionalKey(Schema.Boolean),
  requiredApprovals: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  distinctApprovers: Schema.Boolean,
  authorRoles: Schema.optionalKey(Names),
  autoApprove: Schema.optionalKey(
    Schema.Array(Schema.Struct({ authorRoles: Schema.optionalKey(Names), pathGlobs: Names }))
  )
})

/** A change as this host keeps it. */
export const ChangeFile = Schema.Struct({
  id: Schema.String,
  by: Schema.String,
  pushedBy: Schema.optionalKey(Schema.String),
  paths: Names,
  approvedBy: Names
})
export type ChangeFile = typeof ChangeFile.Type

/** Reads and checks one of the host's JSON files. */
export const readJson = <A>(schema: Schema.Codec<A, unknown>, folder: string, name: string): A =>
  Schema.decodeUnknownSync(schema)(JSON.parse(readFileSync(join(folder, name), "utf8")))

/** The host's policies, ready to be asked. */
export interface HostPolicies {
  readonly situation: ApprovalPolicy.Situation
  readonly policies: ReadonlyArray<PolicyTree.KeptTerms>
  readonly person: (name: string) => Population.LiveMember
  readonly nameOf: (id: Member.MemberId) => string
  /** A change of the host's as the rules read it. */
  readonly reviewed: (change: ChangeFile) => ApprovalPolicy.Reviewed
  /** A folder policy of the host's as the rules read it. */
  readonly terms: (file: typeof FolderFile.Type) => PolicyTree.KeptTerms
  /** What the policies mean that may not be meant. */
  readonly warnings: ReadonlyArray<string>
}

// #region load
/** Loads `organization.json` and `folders.json` of a folder. */
export const load = (folder: string): HostPolicies => {
  const { people, roles } = readJson(Organization, folder, "organization.json")
  const roleIds = new Map(roles.map(({ id, name }) => [name, id]))
  const personIds = new Map(people.map(({ id, name }) => [name, id]))
  const known = <Id>(ids: ReadonlyMap<string, Id>, name: string): Id => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`the policies name ${name}, whom the organization does not have`)
    return id
  }

  const terms: HostPolicies["terms"] = (file) => ({
    path: Result.getOrThrow(FolderPath.parse(file.path)),
    owners: [
      ...(file.owners?.people ?? []).map((name) => ({ _tag: "Member" as const, id: known(personIds, name) })),
      ...(file.owners?.roles ?? []).map((name) => ({ _tag: "Role" as const, id: known(roleIds, name) }))
    ],
    inheritOwners: file.inheritOwners ?? true,
    requiredApprovals: file.requiredApprovals,
    distinctApprovers: file.distinctApprovers,
    authorRoles: (file.authorRoles ?? []).map((name) => known(roleIds, name)),
    autoApprove: (file.autoApprove ?? []).map((exception) => ({
      authorRoles: (exception.authorRoles ?? []).map((name) => known(roleIds, name)),
      pathGlobs: exception.pathGlobs
    }))
  })

  const population = Population.make(
    people.map((person) => ({
      id: person.id,
      roles: person.roles.map((name) => known(roleIds, name)),
      isServiceAccount: person.serviceAccountOf !== undefined,
      status: { _tag: "Active" }
    })),
    roles.map(({ id, isAdministrator = false }) => ({ id, isAdmin: isAdministrator })),
    new Map(people.map(({ id, serviceAccountOf = [] }) => [id, serviceAccountOf.map((name) => known(personIds, name))]))
  )
  const policies = readJson(Schema.Array(FolderFile), folder, "folders.json").map(terms)
  for (const policy of policies) {
    const [problem] = FolderPolicyReview.problemsOf(policy, population)
    if (problem !== undefined) throw new Error(FolderPolicyReview.problemMessage(problem))
  }
  const tree = PolicyTree.make(policies)

  const person: HostPolicies["person"] = (name) => {
    const found = population.member(known(personIds, name))
    if (found === undefined) throw new Error(`${name} is not active`)
    return found
  }
  const attribution = (name: string): Attribution =>
    Attribution.cases.Member.make({ memberId: person(name).memberId, roles: [...person(name).roles] })

  return {
    situation: { tree, population },
    policies,
    person,
    nameOf: (id) => people.find((one) => one.id === id)?.name ?? id,
    reviewed: ({ approvedBy, by, id, paths, pushedBy }) => ({
      author: attribution(by),
      pusher: attribution(pushedBy ?? by),
      gitRef: id,
      paths: paths.map((path) => Result.getOrThrow(LibraryPath.parse(path))),
      approvals: approvedBy.map((name) => ({ memberId: person(name).memberId, gitRef: id }))
    }),
    terms,
    warnings: FolderPolicyReview.warnings(tree, population).map(FolderPolicyReview.warningMessage)
  }
}
// #endregion
