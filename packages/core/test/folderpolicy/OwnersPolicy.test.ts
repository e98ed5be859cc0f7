import * as FolderPath from "@castellan/core/folderpolicy/FolderPath"
import { type FolderPolicyTerms, rootTerms } from "@castellan/core/folderpolicy/FolderPolicy"
import * as OwnersPolicy from "@castellan/core/folderpolicy/OwnersPolicy"
import * as PolicyTree from "@castellan/core/folderpolicy/PolicyTree"
import * as Population from "@castellan/core/folderpolicy/Population"
import * as LibraryPath from "@castellan/core/library/LibraryPath"
import { expectDecision } from "@castellan/testing/policy/ExpectDecision"
import { folderPolicy } from "@castellan/testing/policy/FolderPolicy"
import * as Name from "@castellan/testing/policy/Name"
import { type PolicyWorldOptions, policyWorld } from "@castellan/testing/policy/PolicyWorld"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const members = {
  boss: ["admin"],
  ana: ["member", "writers"],
  bob: ["member"],
  cleo: ["member", "finance"],
  gone: { roles: ["member"], deactivated: true }
}

const roles = { writers: [], finance: [] }

const organization = (...policies: NonNullable<PolicyWorldOptions["policies"]>) =>
  policyWorld({ roles, members, policies })

const docs = folderPolicy("docs", { owners: { members: ["ana"] } })

describe("OWNERS by path", () => {
  // The case, the policies, who, the paths, and the reason of the decision.
  const rows: ReadonlyArray<
    readonly [string, ReadonlyArray<PolicyTree.KeptTerms>, string, ReadonlyArray<string>, string]
  > = [
    ["O1 an owner of docs owns what is deep in it", [docs], "ana", ["docs/a/b.md"], "ownership"],
    ["O1 by a role too", [folderPolicy("docs", { owners: { roles: ["writers"] } })], "ana", ["docs/a"], "ownership"],
    ["O1 nobody else does", [docs], "bob", ["docs/a/b.md"], "not_owned"],
    ["O1 an administrator owns every path", [docs], "boss", ["docs/a/b.md", "x"], "administrator"],
    ["O2 an owner of docs does not own docs-private", [docs], "ana", ["docs-private/x"], "not_owned"],
    ["O2 nor what only begins like it", [docs], "ana", ["docs.md"], "not_owned"],
    ["O4 nor what is spelled in another case", [docs], "ana", ["Docs/x"], "not_owned"],
    ["O5 both ends of a rename count", [docs], "ana", ["a/x", "docs/x"], "not_owned"],
    ["O6 the path of a deletion counts", [docs], "ana", ["a/x"], "not_owned"],
    [
      "O8 a change that writes an OWNERS file is judged by the policies, not by the file",
      [docs, folderPolicy("secret", { owners: { members: ["cleo"] } })],
      "ana",
      ["secret/OWNERS", "secret/x"],
      "not_owned"
    ],
    [
      "O10 owners that cannot be read are administrators only: the one who was named",
      [{ ...folderPolicy("docs", { inheritOwners: false }), malformations: ["owners"] }],
      "ana",
      ["docs/a"],
      "not_owned"
    ],
    [
      "O10 owners that cannot be read are administrators only: an administrator",
      [{ ...folderPolicy("docs", { inheritOwners: false }), malformations: ["owners"] }],
      "boss",
      ["docs/a"],
      "administrator"
    ],
    [
      "O12 a locked folder without owners does not fall through to the one above",
      [docs, folderPolicy("docs/locked", { inheritOwners: false })],
      "ana",
      ["docs/locked/x"],
      "not_owned"
    ],
    [
      "O12 nor does a folder below it",
      [docs, folderPolicy("docs/locked", { inheritOwners: false }), folderPolicy("docs/locked/deep")],
      "ana",
      ["docs/locked/deep/x"],
      "not_owned"
    ],
    ["an owner above owns what inherits", [docs, folderPolicy("docs/sub")], "ana", ["docs/sub/x"], "ownership"],
    [
      "owners of the root own what no other policy locks",
      [folderPolicy("/", { owners: { members: ["bob"] } }), folderPolicy("a/b")],
      "bob",
      ["x", "a/y", "a/b/z"],
      "ownership"
    ],
    [
      "an owner below does not own above",
      [folderPolicy("docs/sub", { owners: { members: ["bob"] } })],
      "bob",
      ["docs/x"],
      "not_owned"
    ],
    ["the folder's own name is in the folder", [docs], "ana", ["docs"], "ownership"],
    [
      "O13 an owner who is listed twice is one",
      [folderPolicy("docs", { owners: { members: ["ana", "ana"], roles: ["writers"] } })],
      "ana",
      ["docs/x"],
      "ownership"
    ],
    ["without any policy administrators alone own", [], "ana", ["docs/x"], "not_owned"]
  ]
  for (const [name, policies, who, paths, reason] of rows) {
    it(name, () => {
      const decision = organization(...policies).own(who, ...paths)
      assert.strictEqual(decision.reason, reason)
      assert.strictEqual(decision._tag, reason === "not_owned" ? "Deny" : "Allow")
    })
  }

  it("O15 one of 10,000 paths that is not owned denies the whole, and is named", () => {
    const paths = Array.from({ length: 10_000 }, (_, index) => `docs/${index}/page.md`)
    const world = organization(docs)
    expectDecision(world.own("ana", ...paths)).toAllow("ownership")
    const decision = world.own("ana", ...paths.with(7_000, "elsewhere/page.md"))
    expectDecision(decision).toDeny("not_owned")
    assert.deepStrictEqual(decision.facts["missing"], ["elsewhere/page.md"])
    assert.strictEqual(decision.facts["missingCount"], 1)
  })

  it("O11 a folder whose only owner is gone is the administrators'", () => {
    const world = organization(folderPolicy("docs", { owners: { members: ["gone"] }, inheritOwners: false }))
    const folder = world.situation.tree.governing("docs/x")
    assert.deepStrictEqual([...Population.approversOf(world.situation.population, folder)], [Name.memberId("boss")])
    assert.isTrue(Population.isOrphaned(world.situation.population, folder))
  })

  it("O16 a mount holds what its reader owns", () => {
    const world = organization(docs)
    const paths = ["docs/a", "docs-private/b", "docs/c", "d"]
    const mount = (who: string) =>
      OwnersPolicy.owned(world.situation.tree, OwnersPolicy.holderOf(world.principal(who)), paths)
    assert.deepStrictEqual(mount("ana"), ["docs/a", "docs/c"])
    assert.deepStrictEqual(mount("bob"), [])
    assert.deepStrictEqual(mount("boss"), paths)
  })

  it("K23 an administrator's key without the admin role owns nothing by it", () => {
    const world = policyWorld({ members: { boss: ["admin", "member"] } })
    const narrow = world.principal("boss", { throughKeyWith: ["member"] })
    assert.strictEqual(world.own("boss", "docs/a").reason, "administrator")
    assert.strictEqual(world.own(narrow, "docs/a").reason, "not_owned")
  })

  it("O3, O4 what is no path is refused before anybody's authority is asked", () => {
    for (const text of ["docs/../secrets/x", "/abs", "a\\b", "a\0b", ".git/config", "docs/.GIT/x"]) {
      assert.isTrue(Result.isFailure(LibraryPath.parse(text)), JSON.stringify(text))
    }
    assert.deepStrictEqual(LibraryPath.parse("e\u0301/x"), LibraryPath.parse("\u00e9/x"))
  })

  it("the root's policy from the start is the administrators', one approval, by somebody else", () => {
    const terms = rootTerms(Name.roleId("admin"))
    const from = policyWorld({ members, policies: [terms] }).situation.tree.governing("anything")
    const unsaid = policyWorld({ members }).situation.tree.governing("anything")
    for (const { terms: found } of [from, unsaid]) {
      assert.strictEqual(found.requiredApprovals, 1)
      assert.isTrue(found.distinctApprovers)
    }
    assert.isTrue(Schema.is(FolderPath.FolderPath)(terms.path))
  })
})

describe("PolicyTree", () => {
  const segment = Schema.Literals(["a", "b", "c", "a-b"])
  const path = Schema.Array(segment).check(Schema.isMaxLength(4))
  const drawn = Schema.Array(Schema.Struct({ path, inherit: Schema.Boolean, owner: segment })).check(
    Schema.isMaxLength(8)
  )
  const termsOf = (of: (typeof drawn.Type)[number]): FolderPolicyTerms =>
    folderPolicy(of.path.join("/"), { inheritOwners: of.inherit, owners: { members: [of.owner] } })

  /** The same by definition: the longest policy path that is the path or above it. */
  const expected = (policies: ReadonlyArray<FolderPolicyTerms>, of: string): string =>
    policies
      .map((policy): string => policy.path)
      .filter((folder) => folder === "" || of === folder || of.startsWith(`${folder}/`))
      .reduce((longest, folder) => (folder.length > longest.length ? folder : longest), "")

  it.prop("the nearest policy governs", [drawn, path], ([policies, of]) => {
    const terms = policies.map(termsOf)
    const tree = PolicyTree.make(terms)
    assert.strictEqual(tree.governing(of.join("/")).path, expected(terms, of.join("/")))
  })

  it.prop(
    "owners are those of the policies above as far as each inherits",
    [drawn, path, segment],
    ([policies, of, name]) => {
      const terms = [...new Map(policies.map((one) => [one.path.join("/"), termsOf(one)])).values()]
      const holder = { memberId: Name.memberId(name), roles: new Set<never>(), isAdmin: false }
      const byDefinition = (at: string): boolean => {
        const nearest = expected(terms, at)
        const policy = terms.find((one) => one.path === nearest)
        if (policy === undefined) return false
        if (policy.owners.some((owner) => owner.id === holder.memberId)) return true
        if (!policy.inheritOwners || nearest === "") return false
        return byDefinition(nearest.includes("/") ? nearest.slice(0, nearest.lastIndexOf("/")) : "")
      }
      const tree = PolicyTree.make(terms)
      assert.strictEqual(OwnersPolicy.owns(tree.governing(of.join("/")), holder), byDefinition(of.join("/")))
    }
  )

  it.prop(
    "L3 the order of policies, of their owners, and owners listed twice do not matter",
    [drawn, path, segment],
    ([policies, of, name]) => {
      const terms = [...new Map(policies.map((one) => [one.path.join("/"), termsOf(one)])).values()]
      const shuffled = terms
        .toReversed()
        .map((one) => ({ ...one, owners: [...one.owners, ...one.owners].toReversed() }))
      const holder = { memberId: Name.memberId(name), roles: new Set<never>(), isAdmin: false }
      const at = of.join("/")
      assert.deepStrictEqual(
        OwnersPolicy.decide(PolicyTree.make(shuffled), holder, at),
        OwnersPolicy.decide(PolicyTree.make(terms), holder, at)
      )
    }
  )

  it.prop(
    "L1 and L2 a lock takes the owners above away, and gives nobody anything",
    [drawn, path, segment],
    ([policies, of, name]) => {
      const terms = policies.map(termsOf)
      const locked = terms.map((one) => ({ ...one, inheritOwners: false }))
      const holder = { memberId: Name.memberId(name), roles: new Set<never>(), isAdmin: false }
      const at = of.join("/")
      if (OwnersPolicy.owns(PolicyTree.make(locked).governing(at), holder)) {
        assert.isTrue(OwnersPolicy.owns(PolicyTree.make(terms).governing(at), holder))
      }
    }
  )
})
