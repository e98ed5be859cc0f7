/**
 * The scenario in our own words: an index of the policies, and whoever asks as a holder of roles.
 */
import * as OwnersPolicy from "@castellan/core/folderpolicy/OwnersPolicy"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Name from "@castellan/testing/policy/Name"
import { Effect } from "effect"
import type { Engine } from "./Engine.ts"
import { policiesOf, roleCount, roleOf, rolesOf } from "./Scenario.ts"

/** The engine. */
export const castellan: Engine = {
  name: "Castellan",
  questions: () => 20_000,
  prepare: (policies) =>
    Effect.sync(() => {
      const tree = PolicyTree.make(policiesOf(policies))
      const holders = Array.from({ length: roleCount }, (_, who): OwnersPolicy.Holder => ({
        memberId: Name.memberId(`member-${who}`),
        roles: new Set(rolesOf(who).map((role) => Name.roleId(roleOf(role)))),
        isAdmin: false
      }))
      return {
        answer: ({ path, who }) => {
          const holder = holders[who % roleCount]
          return holder !== undefined && OwnersPolicy.decide(tree, holder, path)._tag === "Allow"
        }
      }
    })
}
