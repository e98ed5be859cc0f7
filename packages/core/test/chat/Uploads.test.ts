import type { WantedGrant } from "@castellan/core/access/AccessChange"
import { Accesses } from "@castellan/core/access/Accesses"
import type { Principal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import type * as Upload from "@castellan/core/chat/Upload"
import { UploadStore } from "@castellan/core/chat/UploadStore"
import type { Run } from "@castellan/core/run/Run"
import { ChatSandcastles } from "@castellan/core/sandcastle/ChatSandcastles"
import { layerUnavailable } from "@castellan/core/sandcastle/SandboxRuntime"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says, ScriptedModel } from "@castellan/testing/scripted/ScriptedModel"
import * as ScriptedSandboxes from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"

const text = (content: string) => new TextEncoder().encode(content)

const file = (name: string, content = "a,b\n1,2\n"): Upload.SentFile => ({ name, content: text(content) })

const someone = Effect.flatMap(Fixture.tenant(), (tenant) => Fixture.someone(tenant, { fullMemberAccess: true }))

const ask = Effect.fnUntraced(function* (
  member: Principal,
  files: ReadonlyArray<Upload.SentFile>,
  more: { readonly chatId?: Run["chatId"] } = {}
) {
  const run = yield* Conversation.ask(member, "What is in it?", { files, ...more })
  yield* Conversation.events(run)
  return run
})

const uploadsIn = (run: Run) =>
  ChatSandcastles.use((chats) =>
    Effect.flatMap(chats.of(run), (sandcastle) =>
      Effect.map(sandcastle.listFiles("uploads"), ({ answer }) => answer.map(({ path, size }) => [path, size]))
    )
  )

const contentIn = (run: Run, path: string) =>
  ChatSandcastles.use((chats) =>
    Effect.flatMap(chats.of(run), (sandcastle) =>
      Effect.map(sandcastle.download(path), ({ answer }) => new TextDecoder().decode(answer.content))
    )
  )

const deployment = Deployment.layer({ script: () => says("Figures.") })

describe("files that come with a question", () => {
  it.effect("are kept with the run, told to the model and shown in the transcript, now and later", () =>
    Effect.gen(function* () {
      const member = yield* someone
      const run = yield* ask(member, [file("sales.csv"), file("Umsätze.xlsx", "x".repeat(1536))])
      assert.deepStrictEqual(
        run.files.map(({ mediaType, name, path, size }) => [name, path, mediaType, size]),
        [
          ["sales.csv", "uploads/sales.csv", "text/csv", 8],
          [
            "Umsätze.xlsx",
            "uploads/Umsätze.xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            1536
          ]
        ]
      )
      yield* ask(member, [], { chatId: run.chatId })
      const told = [
        "What is in it?",
        "",
        "Files that came with this question:",
        "- /sandbox/files/uploads/sales.csv (8 bytes, text/csv)",
        "- /sandbox/files/uploads/Umsätze.xlsx (1.5 KiB, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet)"
      ].join("\n")
      const recorded = yield* ScriptedModel.use((model) => model.recorded)
      assert.deepStrictEqual(
        recorded.map(({ turn: { messages } }) =>
          messages.flatMap((said) => (said._tag === "Question" ? [said.text] : []))
        ),
        [[told], [told, "What is in it?"]]
      )
      const { transcript } = yield* as(member)(Chats.use((chats) => chats.get(run.chatId)))
      assert.deepStrictEqual(
        transcript.messages.map((message) => message.files?.map(({ name }) => name)),
        [["sales.csv", "Umsätze.xlsx"], undefined, undefined, undefined]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("are in the chat's sandcastle at its first use, when more come, and when it is started again", () =>
    Effect.gen(function* () {
      const member = yield* someone
      const run = yield* ask(member, [file("a.csv"), file("b.csv")])
      assert.deepStrictEqual(yield* ScriptedSandboxes.ScriptedSandbox.use((sandbox) => sandbox.opened), [])
      assert.deepStrictEqual(yield* uploadsIn(run), [
        ["uploads/a.csv", 8],
        ["uploads/b.csv", 8]
      ])
      // What a program did to a file stays: it is given once.
      const castle = yield* ChatSandcastles.use((chats) => chats.of(run))
      const { sandcastleId } = yield* castle.execute('open("uploads/a.csv", "w").write("mine")')
      const next = yield* ask(member, [file("b.csv", "newer"), file("c.csv")], { chatId: run.chatId })
      assert.deepStrictEqual(yield* uploadsIn(next), [
        ["uploads/a.csv", 4],
        ["uploads/b.csv", 5],
        ["uploads/c.csv", 8]
      ])
      yield* as(member)(Sandcastles.use((sandcastles) => sandcastles.stop(sandcastleId)))
      yield* as(member)(Sandcastles.use((sandcastles) => sandcastles.start({ id: sandcastleId })))
      assert.strictEqual(yield* contentIn(next, "uploads/a.csv"), "a,b\n1,2\n")
      assert.strictEqual(yield* contentIn(next, "uploads/b.csv"), "newer")
    }).pipe(Effect.provide(deployment))
  )

  it.effect("that there is no room for are left out and said to be: programs run without them", () =>
    Effect.gen(function* () {
      const member = yield* someone
      const run = yield* ask(member, [file("big.csv", "x".repeat(2000)), file("a.csv")])
      const castle = yield* ChatSandcastles.use((chats) => chats.of(run))
      for (const code of ["print(1)", "print(2)"]) {
        const { answer, missing } = yield* castle.execute(code)
        assert.isUndefined(answer.error)
        assert.deepStrictEqual(missing, ["there is no room for uploads/big.csv (the disk is full)"])
      }
      assert.deepStrictEqual(yield* uploadsIn(run), [["uploads/a.csv", 8]])
    }).pipe(
      Effect.provide(
        Deployment.layer({
          script: () => says("Figures."),
          sandbox: ScriptedSandboxes.layer({ maximumFileBytes: 1000 })
        })
      )
    )
  )

  it.effect("are not told to whoever may not go on with the chat any more: its sandcastle starts without them", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const tenant = yield* Fixture.tenant()
      const owner = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      const colleague = yield* Fixture.someone(tenant, { fullMemberAccess: true })
      const run = yield* ask(owner, [file("ours.csv")])
      const shareWith = (grants: ReadonlyArray<WantedGrant>) =>
        as(owner)(Accesses.use((accesses) => accesses.replace("chat", run.chatId, { isPublic: false, grants })))
      yield* shareWith([{ grantee: { _tag: "Member", id: colleague.memberId }, accessType: "editor" }])
      const theirs = yield* ask(colleague, [], { chatId: run.chatId })
      assert.deepStrictEqual(yield* uploadsIn(theirs), [["uploads/ours.csv", 8]])
      const { items } = yield* as(colleague)(sandcastles.list({ status: "running", limit: 10 }))
      const [castle] = items
      if (castle === undefined) return assert.fail("the colleague has no sandcastle")
      yield* shareWith([])
      yield* ask(owner, [file("secret.csv")], { chatId: run.chatId })
      // It is the colleague's own still.
      yield* as(colleague)(sandcastles.start({ id: castle.id }))
      assert.deepStrictEqual(yield* as(colleague)(sandcastles.listFiles(castle.id)), [])
      yield* shareWith([{ grantee: { _tag: "Member", id: colleague.memberId }, accessType: "editor" }])
      const later = yield* ask(colleague, [], { chatId: run.chatId })
      assert.deepStrictEqual(yield* uploadsIn(later), [
        ["uploads/ours.csv", 8],
        ["uploads/secret.csv", 8]
      ])
    }).pipe(Effect.provide(deployment))
  )

  it.effect("are checked before anything is kept: how many, how large, by which names", () =>
    Effect.gen(function* () {
      const member = yield* someone
      const refused = (...files: ReadonlyArray<Upload.SentFile>) =>
        Effect.map(Effect.flip(Conversation.ask(member, "What is in it?", { files })), ({ code, message }) => [
          code,
          message
        ])
      const shapes = [
        [[file(".env")], 'files: the name ".env" must not name a dotfile'],
        [[file("a/b.csv")], 'files: the name "a/b.csv" must not have a slash'],
        [[file("..")], 'files: the name ".." must not have `.` or `..` segments'],
        [[file("a.csv"), file("A.CSV")], 'files: the name "A.CSV" must not be sent twice'],
        [Array.from({ length: 11 }, (_, index) => file(`${index}.csv`)), "files: must not be more than 10"]
      ] as const
      for (const [files, message] of shapes) {
        assert.deepStrictEqual(yield* refused(...files), ["invalid_request", message])
      }
      const large = { name: "a.csv", content: new Uint8Array(25 * 1024 * 1024 + 1) }
      assert.deepStrictEqual(yield* refused(large), [
        "invalid_request",
        'files: "a.csv" must not be larger than 25 MiB'
      ])
      const listed = yield* as(member)(
        Chats.use((chats) => chats.list({ limit: 10, offset: 0, sortBy: "name", sortDirection: "asc" }))
      )
      assert.strictEqual(listed.totalCount, 0)
    }).pipe(Effect.provide(deployment))
  )

  it.effect("are a hundred of a chat at most; one of a name that it has takes no place", () =>
    Effect.gen(function* () {
      const member = yield* someone
      const files = (from: number) => Array.from({ length: 10 }, (_, index) => file(`${from + index}.csv`, "x"))
      const first = yield* ask(member, files(0))
      const { chatId } = first
      for (let from = 10; from < 100; from += 10) yield* ask(member, files(from), { chatId })
      const failure = yield* Effect.flip(Conversation.ask(member, "More?", { files: [file("100.csv")], chatId }))
      assert.strictEqual(failure.message, "files: a chat holds at most 100 of them")
      yield* ask(member, [file("99.csv")], { chatId })
    }).pipe(Effect.provide(deployment))
  )

  it.effect("are removed with their chat, and its sandcastle is stopped", () =>
    Effect.gen(function* () {
      const store = yield* UploadStore
      const member = yield* someone
      const run = yield* ask(member, [file("a.csv")])
      const [kept] = yield* store.list(run.organizationId, run.chatId)
      if (kept === undefined) return assert.fail("nothing was kept")
      yield* uploadsIn(run)
      const open = ScriptedSandboxes.ScriptedSandbox.use((sandbox) => sandbox.open)
      assert.strictEqual((yield* open).length, 1)
      yield* as(member)(Chats.use((chats) => chats.delete(run.chatId)))
      assert.deepStrictEqual(yield* store.list(run.organizationId, run.chatId), [])
      assert.deepStrictEqual(yield* store.content(run.organizationId, kept.id), Option.none())
      assert.deepStrictEqual(yield* open, [])
      const { items } = yield* as(member)(
        Sandcastles.use((sandcastles) => sandcastles.list({ status: "all", limit: 10 }))
      )
      assert.deepStrictEqual(
        items.map(({ status }) => status._tag),
        ["Stopped"]
      )
    }).pipe(Effect.provide(deployment))
  )

  it.effect("are refused where there are no sandboxes, so that none is lost in silence", () =>
    Effect.gen(function* () {
      const member = yield* someone
      const failure = yield* Effect.flip(Conversation.ask(member, "What is in it?", { files: [file("a.csv")] }))
      assert.strictEqual(failure.message, "files: this deployment has no sandboxes to read them in")
      yield* ask(member, [])
    }).pipe(Effect.provide(Deployment.layer({ script: () => says("Figures."), sandbox: layerUnavailable })))
  )
})
