/**
 * When a change has approvals enough: for each folder whose policy governs a path that it touches, as many as that
 * folder asks for, by members who own it now. An approval is for one revision; a member counts once; where approvers
 * must be distinct, neither the author nor whoever pushed the revision counts, nor an account in their hands.
 *
 * All of it is recomputed from what is the case now whenever it is asked, at the merge above all (law L8).
 *
 * Source: api-v2.md "Approve" (rules 1 to 5); decisions.md §8; policy-cases A1 to A42.
 */
import { allow, type Decision, type Deny, deny } from "../access/Decision.ts"
import { shown } from "../folderpolicy/FolderPath.ts"
import { decideAll, type Holder, owns } from "../folderpolicy/OwnersPolicy.ts"
import { byFolder, type GoverningFolder, type PolicyTree } from "../folderpolicy/PolicyTree.ts"
import { countApprovers, type LiveMember, type Population } from "../folderpolicy/Population.ts"
import type { LibraryPath } from "../library/LibraryPath.ts"
import type { MemberId } from "../member/Member.ts"
import { count } from "../text/Count.ts"
import type { Attribution } from "./Change.ts"

/** What the rules read of a change: one revision of it, and the approvals that were given. */
export interface Reviewed {
  readonly author: Attribution
  /** Who pushed this revision. */
  readonly pusher: Attribution
  /** The revision: a git commit of ours, or whatever tells revisions apart in a host of its own. */
  readonly gitRef: string
  readonly paths: ReadonlyArray<LibraryPath>
  readonly approvals: ReadonlyArray<{ readonly memberId: MemberId; readonly gitRef: string }>
}

/** What is the case now. */
export interface Situation {
  readonly tree: PolicyTree
  readonly population: Population
}

/** How far the approvals of one governing folder are. */
export interface FolderStanding {
  readonly folder: GoverningFolder
  /** False where the rule is scoped to roles that the author does not hold. */
  readonly governed: boolean
  /** How many of the change's paths the folder governs. */
  readonly paths: number
  readonly required: number
  /** The members whose approval counts here, sorted. */
  readonly approvers: ReadonlyArray<MemberId>
  /** How many members there are whose approval could count here. */
  readonly population: number
}

/** How far the approvals of a change are. */
export interface Standing {
  /** Every folder that governs a path of the change, in the order of their paths; at least one. */
  readonly folders: ReadonlyArray<FolderStanding>
  /** The folder that is furthest from its number: what people are shown. */
  readonly furthest: FolderStanding
  /** Whether every folder has its number. */
  readonly met: boolean
}

const attributed = (by: Attribution): MemberId | undefined => (by._tag === "Member" ? by.memberId : undefined)

/** Whether whoever wrote something held any of the roles then, or holds one now. Nobody known holds every role. */
const mayHold = (by: Attribution, roles: GoverningFolder["terms"]["authorRoles"], population: Population): boolean => {
  if (by._tag === "Unattributed") return true
  const live = population.member(by.memberId)
  return roles.some((role) => by.roles.includes(role) || live?.roles.has(role) === true)
}

/**
 * Whether a folder's rule governs a change. A rule scoped to roles governs the changes of authors who hold one of
 * them or held it when they wrote it, whatever key they acted through (A16, A17, law L7), and those whose revision was
 * pushed by such a member, so that nobody has another's name put on what is theirs. A rule that names a role that does
 * not exist is broken, and governs everybody (A19, law L12).
 */
export const governs = (
  folder: GoverningFolder,
  reviewed: Pick<Reviewed, "author" | "pusher">,
  population: Population
): boolean => {
  const roles = folder.terms.authorRoles
  if (roles.length === 0 || roles.some((role) => !population.hasRole(role))) return true
  return mayHold(reviewed.author, roles, population) || mayHold(reviewed.pusher, roles, population)
}

const noMembers: ReadonlySet<MemberId> = new Set()

/** Why an approver is no other person than the author. */
type SameHand = "unattributed" | "self_approval" | "controlled_by_author"

/**
 * Why an approver is no other person than the author, or undefined where it is one. Two accounts in one person's hands
 * are no two people either; that person is another one than an account of theirs, and may review what it wrote.
 */
const sameHand = (
  reviewed: Pick<Reviewed, "author" | "pusher">,
  approver: Pick<LiveMember, "memberId" | "controllers">,
  population: Population
): SameHand | undefined => {
  const author = attributed(reviewed.author)
  const pusher = attributed(reviewed.pusher)
  if (author === undefined || pusher === undefined) return "unattributed"
  if (approver.memberId === author || approver.memberId === pusher) return "self_approval"
  for (const writer of [author, pusher]) {
    if (approver.controllers.has(writer)) return "controlled_by_author"
    for (const one of population.member(writer)?.controllers ?? noMembers) {
      if (approver.controllers.has(one)) return "controlled_by_author"
    }
  }
  return undefined
}

/** The members who are no other person than the author; undefined where that could be anybody. */
const ownHands = (
  reviewed: Pick<Reviewed, "author" | "pusher">,
  population: Population
): ReadonlySet<MemberId> | undefined => {
  const author = attributed(reviewed.author)
  const pusher = attributed(reviewed.pusher)
  if (author === undefined || pusher === undefined) return undefined
  const found = new Set([author, pusher])
  for (const account of population.serviceAccounts) {
    if (sameHand(reviewed, account, population) !== undefined) found.add(account.memberId)
  }
  return found
}

const standingOf = (
  folder: GoverningFolder,
  paths: number,
  reviewed: Reviewed,
  { population }: Situation,
  approving: Iterable<MemberId>,
  hands: ReadonlySet<MemberId> | undefined
): FolderStanding => {
  const governed = governs(folder, reviewed, population)
  const excluded = governed && folder.terms.distinctApprovers ? hands : noMembers
  const approvers: Array<MemberId> = []
  for (const id of approving) {
    const member = population.member(id)
    if (member !== undefined && excluded?.has(id) === false && owns(folder, member)) approvers.push(id)
  }
  return {
    folder,
    governed,
    paths,
    required: governed ? folder.terms.requiredApprovals : 0,
    approvers: approvers.toSorted(),
    population: excluded === undefined ? 0 : countApprovers(population, folder, excluded)
  }
}

const short = (of: FolderStanding): number => of.required - of.approvers.length

/** Puts the folder first that is furthest from its number; of several, the one that asks for most. */
const furthestFirst = (a: FolderStanding, b: FolderStanding): number => short(b) - short(a) || b.required - a.required

/** How far the approvals of a change are now. A change touches one path at least. */
export const standing = (reviewed: Reviewed, situation: Situation): Standing => {
  const approving = new Set(
    reviewed.approvals.filter(({ gitRef }) => gitRef === reviewed.gitRef).map(({ memberId }) => memberId)
  )
  const hands = ownHands(reviewed, situation.population)
  const folders = byFolder(situation.tree, reviewed.paths).map(([folder, paths]) =>
    standingOf(folder, paths.length, reviewed, situation, approving, hands)
  )
  // Without a path there is nothing to own, and the root speaks for it.
  const furthest =
    folders.toSorted(furthestFirst)[0] ??
    standingOf(situation.tree.governing(""), 0, reviewed, situation, approving, hands)
  return { folders, furthest, met: short(furthest) <= 0 }
}

/** Whether the number of a folder can never be reached as things are (policy-cases A22). */
export const isUnsatisfiable = (of: FolderStanding): boolean => of.population < of.required

/** Whether the approvals of a change are complete, and if not, where they are missing most. */
export const decideStanding = (of: Standing): Decision => {
  const { furthest } = of
  const facts = {
    folder: shown(furthest.folder.path),
    approvals: furthest.approvers.length,
    required: furthest.required,
    population: furthest.population,
    folders: of.folders.length
  }
  const never = of.folders.find(isUnsatisfiable)
  if (never !== undefined && !of.met) {
    return deny(
      "unsatisfiable",
      `${shown(never.folder.path)} asks for ${count(never.required, "approval")}, and only ${count(never.population, "member")} could give one`,
      {
        ...facts,
        folder: shown(never.folder.path),
        approvals: never.approvers.length,
        required: never.required,
        population: never.population
      }
    )
  }
  if (!of.met) {
    return deny(
      "approvals_missing",
      `${facts.folder} has ${facts.approvals} of the ${count(facts.required, "approval")} that it asks for`,
      facts
    )
  }
  return of.folders.every(({ governed }) => !governed)
    ? allow("ungoverned", "no rule governs changes by this author", facts)
    : allow("approved", "every folder has the approvals that it asks for", facts)
}

/** What may keep an approver who owns every path from approving. */
const decideDistinct = (
  reviewed: Reviewed,
  situation: Situation,
  approver: Pick<LiveMember, "memberId" | "controllers">
): Deny | undefined => {
  const reason = sameHand(reviewed, approver, situation.population)
  if (reason === undefined) return undefined
  const strict = byFolder(situation.tree, reviewed.paths).find(
    ([folder]) => folder.terms.distinctApprovers && governs(folder, reviewed, situation.population)
  )
  if (strict === undefined) return undefined
  const folder = shown(strict[0].path)
  const messages = {
    unattributed: `${folder} asks for approvers other than the author, and who wrote the change is not known`,
    self_approval: `${folder} asks for approvers other than the author and whoever pushed the latest changeset`,
    controlled_by_author: `${folder} asks for approvers other than the author, who minted a key of this account`
  }
  return deny(reason, `permission denied: ${messages[reason]}`, { folder, member: approver.memberId })
}

/**
 * Whether somebody may approve a change: with authority over every path, by the key that they act through and by what
 * they hold now, and as somebody else than the author wherever that is asked.
 */
export const decideApproval = (reviewed: Reviewed, situation: Situation, approver: Holder): Decision => {
  const byKey = decideAll(situation.tree, approver, reviewed.paths)
  if (byKey._tag === "Deny") return byKey
  const live = situation.population.member(approver.memberId)
  if (live === undefined)
    return deny("not_owned", "permission denied: the member is not active", { member: approver.memberId })
  const byMember = decideAll(situation.tree, live, reviewed.paths)
  if (byMember._tag === "Deny") return byMember
  return decideDistinct(reviewed, situation, live) ?? byKey
}
