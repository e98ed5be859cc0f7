import type { Grant } from "@castellan/core/access/Access"
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { creatorOf } from "@castellan/core/access/Access"
import { type ChatAction, decide, listed } from "@castellan/core/chat/ChatPolicy"
import * as Upload from "@castellan/core/chat/Upload"
import { shownTo } from "@castellan/core/rowpolicy/RowVisibility"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SmallWorld from "@castellan/testing/fixture/SmallWorld"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"

const now = DateTime.makeUnsafe("2030-05-05T12:00:00.000Z")

const client = (attributes: ClientMetadata["attributes"]): ClientMetadata => ({
  text: JSON.stringify(attributes),
  attributes
})

const actions: ReadonlyArray<ChatAction> = ["read", "ask", "cancel", "update", "delete", "feedback"]

layer(layerCrypto)("ChatPolicy", (it) => {
  it.effect("K20 K21 K22 reach and permissions decide, action by action", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const writer = yield* Sample.role(organization, { permissions: ["chat:read", "chat:write"] })
      const reader = yield* Sample.role(organization, { permissions: ["chat:read"] })
      const admin = yield* Sample.role(organization, {
        permissions: ["chat:read", "chat:write"],
        origin: { _tag: "System", name: "admin" }
      })
      const maker = yield* Sample.principal(organization, { roles: [writer] })
      const friend = yield* Sample.memberId
      const shared = (accessType: Grant["accessType"]): Grant => ({
        grantee: { _tag: "Member", id: friend },
        accessType
      })
      const chatWith = (...grants: ReadonlyArray<Grant>) => ({
        access: { isPublic: false, grants, creator: creatorOf(maker) }
      })
      const as = (roles: ReadonlyArray<typeof writer>, more: Sample.PrincipalOptions = {}) =>
        Sample.principal(organization, { memberId: friend, roles, ...more })
      const all = "allow allow allow allow allow allow"
      const none = "hidden hidden hidden hidden hidden hidden"
      const rows = [
        ["its maker", maker, chatWith(), all],
        ["a viewer", yield* as([writer]), chatWith(shared("viewer")), "allow access access access access allow"],
        ["an editor", yield* as([writer]), chatWith(shared("editor")), "allow allow allow allow access allow"],
        ["an owner", yield* as([writer]), chatWith(shared("owner")), all],
        [
          "K21 an owner whose roles lack the action",
          yield* as([reader]),
          chatWith(shared("owner")),
          "allow permission permission permission permission allow"
        ],
        [
          "K20 a share with the member, by a key without full access",
          yield* as([writer], { restricted: true }),
          chatWith(shared("owner")),
          none
        ],
        [
          "K22 an administrator of whom nothing is said",
          yield* Sample.principal(organization, { roles: [admin] }),
          chatWith(shared("viewer")),
          "access access access access access access"
        ],
        ["a stranger", yield* Sample.principal(organization, { roles: [writer] }), chatWith(), none]
      ] as const
      for (const [name, principal, chat, expected] of rows) {
        const decisions = actions.map((action) => decide(principal, chat, action, now))
        assert.strictEqual(
          decisions.map((decision) => (decision._tag === "Allow" ? "allow" : decision.reason)).join(" "),
          expected,
          name
        )
      }
    })
  )

  it.effect("what was answered for one end user is hidden from others, shared or not", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const role = yield* Sample.role(organization, { permissions: ["chat:read", "chat:write"] })
      const as = (metadata: ClientMetadata | undefined) =>
        Sample.principal(organization, {
          roles: [role],
          ...(metadata === undefined ? {} : { clientMetadata: metadata })
        })
      const [nobody, empty, a, again, b] = yield* Effect.all([
        as(undefined),
        as(client({})),
        as(client({ tenant: "a", site: 1 })),
        as({ text: '{"site":1,"tenant":"a"}', attributes: { site: 1, tenant: "a" } }),
        as(client({ tenant: "b", site: 1 }))
      ])
      const publicChat = (maker: typeof nobody) => ({
        access: { isPublic: true, grants: [], creator: creatorOf(maker) }
      })
      const rows = [
        ["without metadata, to whoever has none", nobody, [nobody, empty], true],
        ["without metadata, as an exempt maker sees it, to an end user", nobody, [a, b], false],
        ["with empty metadata, to whoever has none", empty, [nobody, empty], true],
        ["with empty metadata, to an end user", empty, [a, b], false],
        ["for an end user, to the same", a, [a, again], true],
        ["for an end user, to another or to none", a, [b, nobody, empty], false]
      ] as const
      for (const [name, maker, readers, expected] of rows) {
        for (const reader of readers) {
          assert.strictEqual(shownTo(reader, creatorOf(maker)), expected, name)
          assert.strictEqual(listed(reader, publicChat(maker), now), expected, name)
          const decision = decide(reader, publicChat(maker), "read", now)
          assert.strictEqual(decision._tag === "Allow" ? "allow" : decision.reason, expected ? "allow" : "hidden", name)
        }
      }
      // An answer that is filtered for one end user is no part of a chat that others read.
      const editable = {
        access: {
          isPublic: false,
          grants: [{ grantee: { _tag: "Role", id: role.id }, accessType: "editor" }],
          creator: creatorOf(nobody)
        }
      } as const
      const asked = (asker: typeof nobody) => {
        const decision = decide(asker, editable, "ask", now)
        return decision._tag === "Allow" ? "allow" : decision.reason
      }
      assert.deepStrictEqual([asked(nobody), asked(empty), asked(a)], ["allow", "allow", "hidden"])
    })
  )

  it.effect.prop(
    "what is listed can be read by whoever may read, and what is hidden can be nothing",
    { chat: SmallWorld.DrawnAccess, reader: SmallWorld.DrawnPrincipal },
    ({ chat, reader }) =>
      Effect.gen(function* () {
        const world = yield* SmallWorld.make
        const principal = SmallWorld.principalOf(world, reader)
        const one = { access: SmallWorld.accessOf(world, chat) }
        const read = decide(principal, one, "read", SmallWorld.now)
        const isListed = listed(principal, one, SmallWorld.now)
        assert.strictEqual(read._tag === "Allow", isListed && principal.holds("chat:read"))
        if (isListed) assert.isFalse(read._tag === "Deny" && read.reason === "hidden")
        if (read._tag === "Deny" && read.reason === "hidden") {
          for (const action of actions) {
            const decision = decide(principal, one, action, SmallWorld.now)
            assert.isTrue(decision._tag === "Deny" && decision.reason === "hidden")
          }
        }
      }),
    { arbitrary: { runs: 300 } }
  )
})

describe("uploads", () => {
  const file = (name: string, size = 1): Upload.UploadedFile => ({ name, size })
  const problem = (...files: ReadonlyArray<Upload.UploadedFile>) =>
    Result.match(Upload.check(files), { onSuccess: () => "fine", onFailure: ({ message }) => message })

  it("go where sandboxes see them, in the order in which they were sent", () => {
    assert.deepStrictEqual(Result.getOrThrow(Upload.check([file("b.csv"), file("Übersicht 2030.xlsx")])), [
      Upload.pathOf("b.csv"),
      Upload.pathOf("Übersicht 2030.xlsx")
    ])
    assert.strictEqual(String(Upload.pathOf("b.csv")), "uploads/b.csv")
  })

  const rows: ReadonlyArray<readonly [string, ReadonlyArray<Upload.UploadedFile>, RegExp]> = [
    ["ten files", Array.from({ length: 10 }, (_, index) => file(`${index}.csv`)), /^fine$/u],
    ["eleven files", Array.from({ length: 11 }, (_, index) => file(`${index}.csv`)), /must not be more than 10/u],
    ["25 MiB", [file("a", 25 * 1024 * 1024)], /^fine$/u],
    ["a byte more", [file("a", 25 * 1024 * 1024 + 1)], /must not be larger than 25 MiB/u],
    ["a folder in the name", [file("a/b")], /must not have a slash/u],
    ["a name that leads out", [file("..")], /`\.\.`/u],
    ["a dotfile", [file(".env")], /dotfile/u],
    ["no name", [file("")], /empty/u],
    ["a backslash", [file("a\\b")], /control characters/u],
    ["a device", [file("con.csv")], /device/u],
    ["a name twice", [file("a.csv"), file("a.csv")], /must not be sent twice/u],
    ["a name twice, in another case", [file("a.csv"), file("A.CSV")], /must not be sent twice/u]
  ]
  it.each(rows)("%s", (_, files, expected) => {
    assert.match(problem(...files), expected)
  })

  it.prop("a checked name never leads out of its folder", [AnyText], ([name]) => {
    const checked = Upload.check([file(name)])
    if (Result.isFailure(checked)) return
    assert.deepStrictEqual(checked.success.map(String), [`uploads/${name}`])
    assert.isFalse(/^\.|[\\/\0]/u.test(name))
  })
})
