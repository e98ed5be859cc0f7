/** The same rules in a few lines, with people and roles by name: for policies that are not in files yet. */
// #region vocabulary
import { change } from "@castellan/testing/policy/Change"
import { expectDecision } from "@castellan/testing/policy/ExpectDecision"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import { policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { it } from "@effect/vitest"

const newsroom = policyWorld({
  roles: { writers: [], editors: ["library:approve"] },
  members: { ada: ["admin"], wes: ["member", "writers"], eli: ["member", "editors"], ivy: ["editors"] },
  policies: [
    folderPolicy("stories", { owners: { roles: ["writers", "editors"] } }),
    folderPolicy("stories/front", { owners: { roles: ["editors"] }, inheritOwners: false, requiredApprovals: 2 })
  ]
})

const story = change({ by: "wes", paths: ["stories/rain.md"] })
const headline = change({ by: "wes", paths: ["stories/front/headline.md"], approvedBy: ["eli"] })

it("an editor approves a story, its writer does not", () => {
  expectDecision(newsroom.approve("eli", story)).toAllow("ownership")
  expectDecision(newsroom.approve("wes", story)).toDeny("self_approval")
})

it("the front page takes two editors", () => {
  expectDecision(newsroom.merge(headline)).toDeny("approvals_missing")
  expectDecision(newsroom.approve("ivy", headline)).toAllow()
})
// #endregion
