/**
 * What an edit of the folder policies would change: the changes of the past judged once more by the policies as they
 * are and as they would be. Nothing is kept and nothing is looked up, so it can be asked before anything is saved.
 *
 * Source: docs/policy-engine.md ("Before you change one").
 */
import type { Decision } from "../access/Decision.ts"
import { explain } from "../access/Explanation.ts"
import { byFolder, type KeptTerms } from "../folderpolicy/PolicyTree.ts"
import * as PolicyTree from "../folderpolicy/PolicyTree.ts"
import { approversOf, type Population } from "../folderpolicy/Population.ts"
import type { MemberId } from "../member/Member.ts"
import { decideApproval, decideStanding, type Reviewed, type Situation, standing } from "./ApprovalPolicy.ts"
import { decideAutoApproval } from "./AutoApprovalPolicy.ts"

/** A change of the past, under any name. */
export interface PastChange extends Reviewed {
  readonly id: string
}

/** An edit of the policies: those that are set, and the folders that lose theirs. */
export interface PolicyEdit {
  readonly set?: ReadonlyArray<KeptTerms>
  readonly remove?: ReadonlyArray<KeptTerms["path"]>
}

/** What the policies make of a change with the approvals that it got. */
export interface SimulatedOutcome {
  /** Whether it is part of the library: by its approvals, or by its folders' own exceptions; and if not, why. */
  readonly decision: Decision
  /** The number of the folder furthest from it, and the approvals that count there. */
  readonly required: number
  readonly approvals: number
  /** Whoever could approve it, sorted. */
  readonly approvers: ReadonlyArray<MemberId>
}

/** A change of the past to which an edit makes a difference. */
export interface SimulatedDifference {
  readonly id: string
  readonly before: SimulatedOutcome
  readonly after: SimulatedOutcome
}

/** Policies after an edit. */
export const edited = (policies: ReadonlyArray<KeptTerms>, edit: PolicyEdit): ReadonlyArray<KeptTerms> => {
  const gone = new Set<string>([...(edit.remove ?? []), ...(edit.set ?? []).map(({ path }) => path)])
  return [...policies.filter(({ path }) => !gone.has(path)), ...(edit.set ?? [])]
}

/** Everybody who could approve a change: owners of every folder that it touches, and nobody who may not. */
const approversFor = (change: Reviewed, situation: Situation): ReadonlyArray<MemberId> => {
  const { population, tree } = situation
  const [first] = byFolder(tree, change.paths)
  if (first === undefined) return []
  return [...approversOf(population, first[0])]
    .filter((id) => {
      const member = population.member(id)
      return member !== undefined && decideApproval(change, situation, member)._tag === "Allow"
    })
    .toSorted()
}

/** What the policies make of a change. */
export const outcomeOf = (change: Reviewed, situation: Situation): SimulatedOutcome => {
  const pusher = change.pusher._tag === "Member" ? situation.population.member(change.pusher.memberId) : undefined
  const exception = pusher === undefined ? undefined : decideAutoApproval(change, situation, pusher)
  const reached = standing(change, situation)
  return {
    decision: exception?._tag === "Allow" ? exception : decideStanding(reached),
    required: reached.furthest.required,
    approvals: reached.furthest.approvers.length,
    approvers: approversFor(change, situation)
  }
}

const isSame = (a: SimulatedOutcome, b: SimulatedOutcome): boolean =>
  a.decision._tag === b.decision._tag &&
  a.decision.reason === b.decision.reason &&
  a.required === b.required &&
  a.approvals === b.approvals &&
  a.approvers.length === b.approvers.length &&
  a.approvers.every((id, index) => id === b.approvers[index])

/** The changes of a history to which an edit of the policies makes a difference, in the order of the history. */
export const simulate = (
  policies: ReadonlyArray<KeptTerms>,
  edit: PolicyEdit,
  history: ReadonlyArray<PastChange>,
  population: Population
): ReadonlyArray<SimulatedDifference> => {
  const now: Situation = { tree: PolicyTree.make(policies), population }
  const then: Situation = { tree: PolicyTree.make(edited(policies, edit)), population }
  return history.flatMap((change) => {
    const before = outcomeOf(change, now)
    const after = outcomeOf(change, then)
    return isSame(before, after) ? [] : [{ id: change.id, before, after }]
  })
}

/** A difference as sentences; `nameOf` says what people call a member. */
export const explainDifference = (
  difference: SimulatedDifference,
  nameOf: (id: MemberId) => string = (id) => id
): string => {
  const { after, before, id } = difference
  const names = (ids: ReadonlyArray<MemberId>): string => ids.map(nameOf).toSorted().join(", ")
  const lost = before.approvers.filter((one) => !after.approvers.includes(one))
  const won = after.approvers.filter((one) => !before.approvers.includes(one))
  return [
    `${id}`,
    `  before: ${explain(before.decision)}`,
    `  after:  ${explain(after.decision)}`,
    ...(lost.length === 0 ? [] : [`  could approve, and could not any more: ${names(lost)}`]),
    ...(won.length === 0 ? [] : [`  could not approve, and could then: ${names(won)}`])
  ].join("\n")
}
