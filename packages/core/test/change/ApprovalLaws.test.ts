import type { Decision } from "@castellan/core/access/Decision"
import type * as ApprovalPolicy from "@castellan/core/change/ApprovalPolicy"
import { change } from "@castellan/testing/policy/Change"
import { expectDecision } from "@castellan/testing/policy/ExpectDecision"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import { roleId } from "@castellan/testing/policy/Name"
import type { PolicyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { organization } from "./ApprovalWorld.ts"

describe("Laws of approvals", () => {
  const people = ["boss", "ana", "bob", "cleo", "bot", "otherBot"] as const
  const folders = ["", "a", "a/b", "c"] as const
  const Person = Schema.Literals(people)
  const few = <S extends Schema.Top>(item: S, count: number) => Schema.Array(item).check(Schema.isMaxLength(count))
  const Policy = Schema.Struct({
    path: Schema.Literals(folders),
    members: few(Person, 3),
    roles: few(Schema.Literals(["writers", "finance"]), 1),
    inheritOwners: Schema.Boolean,
    requiredApprovals: Schema.Literals([1, 2, 3]),
    distinctApprovers: Schema.Boolean,
    authorRoles: few(Schema.Literals(["writers", "finance", "deleted"]), 1),
    exception: Schema.Boolean
  })
  const Drawn = Schema.Struct({
    policies: few(Policy, 4),
    by: Schema.Literals([...people, "unknown"]),
    pushedBy: Schema.Literals([...people, "unknown"]),
    rolesThen: few(Schema.Literals(["writers", "finance"]), 1),
    paths: Schema.NonEmptyArray(Schema.Literals(["x", "a/1", "a/b/1", "c/1", "c/2"])),
    approvedBy: few(Person, 4)
  })
  const worldOf = (
    drawn: typeof Drawn.Type,
    turn: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A> = (items) => items
  ) => {
    const byPath = new Map(drawn.policies.map((one) => [one.path, one]))
    return organization(
      ...turn(
        [...byPath.values()].map((one) =>
          folderPolicy(one.path, {
            owners: { members: turn(one.members), roles: turn(one.roles) },
            inheritOwners: one.inheritOwners,
            requiredApprovals: one.requiredApprovals,
            distinctApprovers: one.distinctApprovers,
            authorRoles: turn(one.authorRoles),
            autoApprove: one.exception ? [{ pathGlobs: ["**"] }] : []
          })
        )
      )
    )
  }
  const changeOf = (drawn: typeof Drawn.Type, approvedBy: ReadonlyArray<string> = drawn.approvedBy) =>
    change({ by: drawn.by, pushedBy: drawn.pushedBy, rolesThen: drawn.rolesThen, paths: drawn.paths, approvedBy })
  const countsOf = (world: PolicyWorld, of: ApprovalPolicy.Reviewed) =>
    world.standing(of).folders.map((folder) => folder.approvers.length)

  it.prop(
    "L8 one more approval never lowers a count, nor is any count above the members who approved",
    [Drawn, Person],
    ([drawn, more]) => {
      const world = worldOf(drawn)
      const before = countsOf(world, changeOf(drawn))
      const after = countsOf(world, changeOf(drawn, [...drawn.approvedBy, more]))
      before.forEach((count, index) => {
        const then = after[index] ?? -1
        assert.isAtLeast(then, count)
        assert.isAtMost(then, count + 1)
      })
      for (const count of before) assert.isAtMost(count, new Set(drawn.approvedBy).size)
    }
  )

  it.prop("the population of a folder is everybody whose approval would count there", [Drawn], ([drawn]) => {
    const world = worldOf(drawn)
    const alone = [...people, "botOfBot"].map((name) => countsOf(world, changeOf(drawn, [name])))
    world.standing(changeOf(drawn)).folders.forEach((folder, index) => {
      assert.strictEqual(
        folder.population,
        alone.reduce((sum, counts) => sum + (counts[index] ?? 0), 0)
      )
    })
  })

  it.prop("L8 author and pusher never count where approvers must be distinct", [Drawn], ([drawn]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    for (const folder of world.standing(of).folders) {
      if (!folder.governed || !folder.folder.terms.distinctApprovers) continue
      for (const by of [of.author, of.pusher]) {
        if (by._tag === "Unattributed") assert.isEmpty(folder.approvers)
        else assert.notInclude(folder.approvers, by.memberId)
      }
    }
  })

  it.prop(
    "L8 and A26 a member who is gone, or owns nothing there, does not count",
    [Drawn, Person],
    ([drawn, leaves]) => {
      const world = worldOf(drawn)
      for (const folder of world.standing(changeOf(drawn)).folders) {
        for (const id of folder.approvers) {
          const member = world.situation.population.member(id)
          assert.isDefined(member)
        }
      }
      const without = countsOf(
        world,
        changeOf(
          drawn,
          drawn.approvedBy.filter((name) => name !== leaves)
        )
      )
      countsOf(world, changeOf(drawn)).forEach((count, index) => assert.isAtLeast(count, without[index] ?? 0))
    }
  )

  it.prop("L3 and A42 the order of everything, and saying it twice, do not matter", [Drawn, Person], ([drawn, who]) => {
    const turned = worldOf(drawn, (items) => [...items, ...items].toReversed())
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    const reversed = {
      ...of,
      paths: [...of.paths, ...of.paths].toReversed(),
      approvals: [...of.approvals, ...of.approvals].toReversed()
    }
    const tell = (decision: Decision) => [decision._tag, decision.reason, decision.message]
    assert.deepStrictEqual(tell(turned.merge(reversed)), tell(world.merge(of)))
    assert.deepStrictEqual(tell(turned.approve(who, reversed)), tell(world.approve(who, of)))
    assert.deepStrictEqual(tell(turned.autoApprove(who, reversed)), tell(world.autoApprove(who, of)))
  })

  it.prop("L4 the same question has the same answer", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    assert.deepStrictEqual(world.approve(who, of), worldOf(drawn).approve(who, of))
    assert.deepStrictEqual(world.merge(of), worldOf(drawn).merge(of))
  })

  it.prop("L7 fewer roles of a key never free a change from a rule", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    const narrow = world.approve(world.principal(who, { throughKeyWith: ["member"] }), of)
    if (narrow._tag === "Allow") expectDecision(world.approve(who, of)).toAllow()
    const narrowException = world.autoApprove(world.principal(who, { throughKeyWith: ["member"] }), of)
    if (narrowException._tag === "Allow") expectDecision(world.autoApprove(who, of)).toAllow()
  })

  it.prop("L12 a role that cannot be found restricts, and grants nothing", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const broken = worldOf({
      ...drawn,
      policies: drawn.policies.map((one) => ({ ...one, authorRoles: ["deleted" as const] }))
    })
    const of = changeOf(drawn)
    if (broken.approve(who, of)._tag === "Allow") expectDecision(world.approve(who, of)).toAllow()
    broken.standing(of).folders.forEach((folder, index) => {
      assert.isTrue(folder.governed || world.standing(of).folders[index]?.folder.terms.authorRoles.length === 0)
      assert.isFalse(world.situation.population.hasRole(roleId("deleted")))
    })
  })

  it.prop("L1 what merges has an approval or a rule that asks for none, in every folder", [Drawn], ([drawn]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    if (world.merge(of)._tag === "Deny") return
    for (const folder of world.standing(of).folders) {
      assert.isTrue(folder.approvers.length >= folder.required && (folder.required > 0 || !folder.governed))
    }
  })

  it.prop("an exception is never made for what its pusher does not own", [Drawn, Person], ([drawn, who]) => {
    const world = worldOf(drawn)
    const of = changeOf(drawn)
    if (world.autoApprove(who, of)._tag === "Allow") expectDecision(world.own(who, ...of.paths)).toAllow()
  })
})
