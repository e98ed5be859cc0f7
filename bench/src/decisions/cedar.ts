/**
 * The scenario in Cedar's words: one policy, prepared beforehand, over owners that are data of the folder. The entities
 * of a question are handed in with it, as Cedar has it, and only those; which folder governs a file is worked out
 * beforehand.
 */
import { type EntityJson, preparsePolicySet, statefulIsAuthorized } from "@cedar-policy/cedar-wasm/nodejs"
import { Effect } from "effect"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import type { Engine } from "./Engine.ts"
import { folderOf, ownersOf, roleOf } from "./Scenario.ts"

const policy = `permit(principal, action == Action::"approve", resource) when { principal.roles.containsAny(resource.owners) };`

const roleNames = (numbers: ReadonlyArray<number>): Array<string> => [...new Set(numbers.map(roleOf))]

/** The engine. */
export const cedar: Engine = {
  name: "Cedar (WebAssembly)",
  questions: () => 100,
  prepare: (policies) =>
    Effect.suspend(() => {
      const prepared = preparsePolicySet("decisions", { staticPolicies: policy })
      if (prepared.type === "failure")
        return Effect.fail(new BenchmarkFailure({ message: "cedar: the policy is none" }))
      const owners = new Map(
        Array.from({ length: policies }, (_, folder) => [folderOf(folder), roleNames(ownersOf(folder))])
      )
      return Effect.succeed({
        answer: ({ folder, path, roles, who }) => {
          const principal = { type: "Member", id: `${who}` }
          const resource = { type: "File", id: path }
          const entities: Array<EntityJson> = [
            { uid: principal, attrs: { roles: roleNames(roles) }, parents: [] },
            { uid: resource, attrs: { owners: owners.get(folderOf(folder)) ?? [] }, parents: [] }
          ]
          const answer = statefulIsAuthorized({
            principal,
            action: { type: "Action", id: "approve" },
            resource,
            context: {},
            entities,
            preparsedPolicySetId: "decisions"
          })
          return answer.type === "success" && answer.response.decision === "allow"
        }
      })
    })
}
