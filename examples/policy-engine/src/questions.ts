/**
 * What the host asks: may this person approve this change, and why not; is it approved; and what would other policies
 * have made of the changes of the past.
 */
import { explain } from "@castellan/core/access/Explanation"
import * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import * as Simulation from "@castellan/core/change/Simulation"
import { Schema } from "effect"
import { type ChangeFile, ChangeFile as Change, FolderFile, type HostPolicies, readJson } from "./policies.ts"

// #region ask
/** Whether a person may approve a change, and why or why not. */
export const mayApprove = (host: HostPolicies, person: string, change: ChangeFile): string =>
  explain(ApprovalPolicy.decideApproval(host.reviewed(change), host.situation, host.person(person)))

/** Whether a change has the approvals that its folders ask for, and if not, what is missing. */
export const isApproved = (host: HostPolicies, change: ChangeFile): string =>
  explain(ApprovalPolicy.decideStanding(ApprovalPolicy.standing(host.reviewed(change), host.situation)))
// #endregion

// #region simulate
/** The changes of `history.json` that the edit in a file would have judged otherwise, one paragraph each. */
export const simulate = (host: HostPolicies, folder: string, edit: string): ReadonlyArray<string> => {
  const { set } = readJson(Schema.Struct({ set: Schema.Array(FolderFile) }), folder, edit)
  const history = readJson(Schema.Array(Change), folder, "history.json")
  return Simulation.simulate(
    host.policies,
    { set: set.map(host.terms) },
    history.map((change) => ({ id: change.id, ...host.reviewed(change) })),
    host.situation.population
  ).map((difference) => Simulation.explainDifference(difference, host.nameOf))
}
// #endregion
