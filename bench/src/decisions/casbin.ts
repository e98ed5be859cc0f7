/**
 * The scenario in casbin's words: roles by `g`, a policy line for each owner of a folder, and `keyMatch` for what lies in
 * it. casbin goes through its lines until one allows.
 */
import { type Enforcer, newEnforcer, newModelFromString } from "casbin"
import { Effect } from "effect"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import type { Engine } from "./Engine.ts"
import { folderOf, ownersOf, roleCount, roleOf, rolesOf } from "./Scenario.ts"

const model = `
[request_definition]
r = sub, obj, act

[policy_definition]
p = sub, obj, act

[role_definition]
g = _, _

[policy_effect]
e = some(where (p.eft == allow))

[matchers]
m = keyMatch(r.obj, p.obj) && g(r.sub, p.sub) && r.act == p.act
`

const fill = async (policies: number): Promise<Enforcer> => {
  const enforcer = await newEnforcer(newModelFromString(model))
  const lines: Array<Array<string>> = []
  for (let folder = 0; folder < policies; folder += 1) {
    for (const role of new Set(ownersOf(folder))) lines.push([roleOf(role), `${folderOf(folder)}/*`, "approve"])
  }
  await enforcer.addPolicies(lines)
  const members: Array<Array<string>> = []
  for (let who = 0; who < roleCount; who += 1) {
    for (const role of rolesOf(who)) members.push([`member-${who}`, roleOf(role)])
  }
  await enforcer.addGroupingPolicies(members)
  return enforcer
}

/** The engine. */
export const casbin: Engine = {
  name: "casbin",
  questions: () => 10,
  // Beyond that it spends a second and more on a question.
  most: 1_000,
  prepare: (policies) =>
    Effect.tryPromise({
      try: () => fill(policies),
      catch: (cause) => new BenchmarkFailure({ message: `casbin: ${String(cause)}` })
    }).pipe(
      Effect.map((enforcer) => ({
        answer: ({ path, who }) => enforcer.enforceSync(`member-${who % roleCount}`, path, "approve")
      }))
    )
}
