import * as Fixture from "@castellan/testing/fixture/Fixture"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { code, json, keyOf, powerless, refusal } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

const unknown = "0197c0de-0000-7000-8000-000000000000"

/** A member who owns the whole library, and is nobody else's second account. */
const owner = Effect.gen(function* () {
  const { tenant } = yield* Site.Site
  return yield* keyOf({ roles: [tenant.adminRole, tenant.memberRole] })
})

/** A sandcastle in which a file of the library was written. */
const staged = Effect.fnUntraced(function* (path: string, content = "Sales are net.", key?: string) {
  const { body } = yield* json("POST", "/v2/sandcastles", undefined, key)
  const sandcastle = `/v2/sandcastles/${body.sandbox_id}`
  const program = `open("library/${path}", "w").write("${content}")`
  yield* json("POST", `${sandcastle}/execute`, { code: program }, key)
  return sandcastle
})

const proposal = { title: "Say what sales are", description: "They are **net**." }

/** A change that was filed. */
const filed = Effect.fnUntraced(function* (path: string, more: object = {}) {
  const { body } = yield* json("POST", `${yield* staged(path)}/library/changes`, { ...proposal, ...more })
  const ref: string = body.git_ref
  return {
    address: `/v2/changes/${body.change_id}`,
    ref,
    number: body.change_number,
    review: { expected_git_ref: ref }
  }
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("changes of the library over HTTP", (it) => {
  it.effect("edits are shown, filed, approved by somebody else and merged; then they are there for everybody", () =>
    Effect.gen(function* () {
      const sandcastle = yield* staged("docs/sales.md")
      const diff = yield* json("GET", `${sandcastle}/library/diff`)
      assert.strictEqual(diff.status, 200)
      assert.isTrue(diff.body.has_changes)
      assert.deepInclude(diff.body.diffs[0], { new_path: "docs/sales.md", is_new: true, additions: 1 })
      assert.include(diff.body.raw_diff, "+Sales are net.")

      const change = yield* json("POST", `${sandcastle}/library/changes`, proposal)
      assert.strictEqual(change.status, 201)
      assert.deepInclude(change.body, { status: "open", has_conflicts: false, auto_approved: false })
      const address = `/v2/changes/${change.body.change_id}`
      const review = { expected_git_ref: change.body.git_ref }
      const shown = (yield* json("GET", address)).body
      assert.deepInclude(shown, { ...proposal, status: "open", revision: 1, approval_count: 0, required_approvals: 1 })
      assert.deepInclude(shown.capabilities, { can_approve: false, can_deny: true, caller_approved: false })

      yield* refusal(code.denied, "POST", `${address}/approve`, review)
      const second = yield* owner
      const stale = { expected_git_ref: "0".repeat(40) }
      yield* refusal(code.conflict, "POST", `${address}/approve`, stale, second)
      assert.deepStrictEqual(yield* json("POST", `${address}/approve`, review, second), {
        status: 200,
        body: { merged: true, approval_count: 1, required_approvals: 1, already_approved: false }
      })
      assert.match(yield* refusal(code.conflict, "POST", `${address}/approve`, review, second), /approved/)
      assert.match(yield* refusal(code.conflict, "POST", `${address}/deny`, review, second), /approved/)

      const mounted = (yield* json("POST", "/v2/sandcastles", undefined, second)).body.sandbox_id
      const file = yield* Site.call(`/v2/sandcastles/${mounted}/files/${encodeURIComponent("library/docs/sales.md")}`, {
        key: second
      })
      assert.deepStrictEqual([file.status, file.text], [200, "Sales are net."])
    })
  )

  it.effect("a draft is submitted; a denied change is restored to what it was", () =>
    Effect.gen(function* () {
      const { address, review } = yield* filed("docs/draft.md", { draft: true })
      const submitted = yield* json("POST", `${address}/submit`)
      assert.deepStrictEqual(
        [submitted.status, submitted.body.success, submitted.body.change.status],
        [200, true, "open"]
      )
      yield* refusal(code.conflict, "POST", `${address}/submit`)
      assert.deepStrictEqual((yield* json("POST", `${address}/deny`, review)).body, { success: true })
      assert.strictEqual((yield* json("GET", address)).body.status, "denied")
      const restored = yield* json("POST", `${address}/restore`, review)
      assert.deepStrictEqual([restored.status, restored.body.change.status], [200, "open"])
      yield* refusal(code.conflict, "POST", `${address}/restore`, review)
    })
  )

  it.effect("a change is revised under its number, and each revision can be looked at", () =>
    Effect.gen(function* () {
      const { address, number } = yield* filed("docs/revised.md")
      const sandcastle = yield* staged("docs/revised.md", "Sales are gross.")
      const second = yield* json("POST", `${sandcastle}/library/changes`, { change_number: number })
      assert.strictEqual(second.status, 201)
      assert.strictEqual(second.body.change_number, number)
      const latest = (yield* json("GET", address)).body
      assert.deepInclude(latest, { revision: 2, title: proposal.title })
      assert.include(latest.raw_diff, "+Sales are gross.")
      const first = (yield* json("GET", `${address}?revision=1`)).body
      assert.strictEqual(first.revision, 1)
      assert.include(first.raw_diff, "+Sales are net.")
      assert.match(yield* refusal(code.invalid, "GET", `${address}?revision=0`), /^revision: /)
      yield* refusal(code.notFound, "GET", `${address}?revision=3`)
    })
  )

  it.effect("what is malformed is refused by the name of its field, before anything is said of the change", () =>
    Effect.gen(function* () {
      const address = `/v2/changes/${unknown}`
      for (const verb of ["approve", "deny", "restore"]) {
        assert.match(yield* refusal(code.invalid, "POST", `${address}/${verb}`, {}), /^expected_git_ref: is missing/)
        assert.match(
          yield* refusal(code.invalid, "POST", `${address}/${verb}`, { expected_git_ref: "HEAD" }),
          /^expected_git_ref: /
        )
        yield* refusal(code.notFound, "POST", `${address}/${verb}`, { expected_git_ref: "0".repeat(40) })
      }
      yield* refusal(code.notFound, "POST", `${address}/submit`)
      yield* refusal(code.notFound, "GET", address)
      yield* refusal(code.notFound, "GET", "/v2/changes/1")
      for (const [query, message] of [
        ["status=lost", /^status/],
        ["page_size=0", /^page_size: /],
        ["page_token=abc", /^page_token: /],
        ["include_auto_approved=perhaps", /^include_auto_approved: /]
      ] as const) {
        assert.match(yield* refusal(code.invalid, "GET", `/v2/changes?${query}`), message)
      }
      const { body } = yield* json("POST", "/v2/sandcastles")
      const changes = `/v2/sandcastles/${body.sandbox_id}/library/changes`
      assert.strictEqual(yield* refusal(code.invalid, "POST", changes, proposal), "no staged library changes")
      const long = { ...proposal, title: "x".repeat(51) }
      assert.match(yield* refusal(code.invalid, "POST", changes, long), /^title: /)
      const edited = yield* staged("docs/untitled.md")
      assert.match(yield* refusal(code.invalid, "POST", `${edited}/library/changes`, { description: "" }), /^title: /)
    })
  )
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("the list of changes over HTTP", (it) => {
  it.effect("has pages without a gap or a repeat, and counts what the caller sees", () =>
    Effect.gen(function* () {
      const made = []
      for (const name of ["a", "b", "c", "d", "e"]) made.push(yield* filed(`docs/${name}.md`))
      yield* json("POST", `${made[0]?.address}/deny`, made[0]?.review)
      const seen: Array<number> = []
      let token = ""
      for (let pages = 0; pages < 2; pages += 1) {
        const { body } = yield* json("GET", `/v2/changes?status=open&status=draft&page_size=2${token}`)
        seen.push(...body.changes.map(({ number }: { readonly number: number }) => number))
        assert.deepStrictEqual(body.counts, { draft: 0, open: 4, reserved: 0, approved: 0, denied: 1 })
        assert.strictEqual(body.next_page_token === undefined, pages === 1)
        token = `&page_token=${body.next_page_token}`
      }
      assert.deepStrictEqual(seen, [5, 4, 3, 2])

      const stranger = yield* keyOf()
      const nothing = (yield* json("GET", "/v2/changes", undefined, stranger)).body
      assert.deepStrictEqual(nothing, {
        changes: [],
        counts: { draft: 0, open: 0, reserved: 0, approved: 0, denied: 0 }
      })
      yield* refusal(code.notFound, "GET", made[1]?.address ?? "", undefined, stranger)
      yield* refusal(code.notFound, "POST", `${made[1]?.address}/deny`, made[1]?.review, stranger)
      yield* refusal(code.denied, "GET", "/v2/changes", undefined, yield* powerless)
    })
  )
})

layer(Site.layer(), { timeout: "180 seconds", excludeTestServices: true })("folder policies over HTTP", (it) => {
  it.effect("a folder has a policy of its own until it is deleted; the library's own stays", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const root = yield* json("GET", "/v2/folder-policies")
      assert.strictEqual(root.status, 200)
      assert.strictEqual(root.body.folder_policies.length, 1)
      assert.deepInclude(root.body.folder_policies[0], {
        path: "",
        owners: [{ role_id: tenant.adminRole.id }],
        required_approvals: 1,
        distinct_approvers: true
      })
      const member = yield* Fixture.member(tenant.organizationId, { roles: [tenant.memberRole] })
      const saved = yield* json("PUT", "/v2/folder-policies", {
        path: "docs/finance",
        owners: [{ member_id: member.id }],
        required_approvals: 5,
        auto_approve: [{ path_globs: ["docs/finance/*.md"] }]
      })
      assert.strictEqual(saved.status, 200)
      assert.deepInclude(saved.body, {
        path: "docs/finance",
        owners: [{ member_id: member.id }],
        inherit_owners: true,
        required_approvals: 5,
        auto_approve: [{ author_role_ids: [], path_globs: ["docs/finance/*.md"] }]
      })
      // Nobody could ever meet five approvals of an administrator and a member.
      assert.isAtLeast(saved.body.warnings.length, 1)
      const listed = (yield* json("GET", "/v2/folder-policies")).body.folder_policies
      assert.deepStrictEqual(
        listed.map(({ path }: { readonly path: string }) => path),
        ["", "docs/finance"]
      )
      assert.deepStrictEqual(yield* json("DELETE", "/v2/folder-policies?path=docs%2Ffinance"), {
        status: 200,
        body: { path: "docs/finance", success: true }
      })
      yield* refusal(code.notFound, "DELETE", "/v2/folder-policies?path=docs%2Ffinance")
      assert.match(yield* refusal(code.invalid, "DELETE", "/v2/folder-policies?path="), /^path: /)
      assert.strictEqual((yield* json("GET", "/v2/folder-policies")).body.folder_policies.length, 1)
    })
  )

  it.effect("what is malformed is refused by the name of its field; only administrators save and delete", () =>
    Effect.gen(function* () {
      const { tenant } = yield* Site.Site
      const owners = [{ role_id: tenant.adminRole.id }]
      const refused: ReadonlyArray<readonly [object, RegExp]> = [
        [{ owners }, /^path: is missing/],
        [{ path: "../up", owners }, /^path: /],
        [{ path: "docs" }, /^owners: is missing/],
        [{ path: "docs", owners: [{}] }, /^owners\[0\]: must have either member_id or role_id/],
        [{ path: "docs", owners, required_approvals: 0 }, /^required_approvals: /],
        [{ path: "docs", owners, auto_approve: [{ path_globs: [] }] }, /^auto_approve\[0\]\.path_globs: /],
        [{ path: "docs", owners: [{ member_id: unknown }] }, /./]
      ]
      for (const [body, message] of refused) {
        assert.match(yield* refusal(code.invalid, "PUT", "/v2/folder-policies", body), message)
      }
      assert.match(yield* refusal(code.invalid, "DELETE", "/v2/folder-policies"), /^path: is missing/)
      assert.match(yield* refusal(code.invalid, "DELETE", "/v2/folder-policies?path=..%2Fup"), /^path: /)
      const member = yield* keyOf()
      yield* refusal(code.denied, "PUT", "/v2/folder-policies", { path: "docs", owners }, member)
      yield* json("PUT", "/v2/folder-policies", { path: "docs", owners })
      yield* refusal(code.denied, "DELETE", "/v2/folder-policies?path=docs", undefined, member)
    })
  )
})
