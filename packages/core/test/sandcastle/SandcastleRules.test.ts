import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { ExecutionStatus, error, duration } from "@castellan/core/sandcastle/Execution"
import * as ExecutionState from "@castellan/core/sandcastle/ExecutionState"
import { maxBytes, previewOf, truncated } from "@castellan/core/sandcastle/OutputPreview"
import { isIdle, SandcastleStatus } from "@castellan/core/sandcastle/Sandcastle"
import { decide, type SandcastleAction } from "@castellan/core/sandcastle/SandcastlePolicy"
import * as SandcastleState from "@castellan/core/sandcastle/SandcastleState"
import * as SandboxPath from "@castellan/core/sandcastle/SandboxPath"
import { utf8Length, utf8Prefix } from "@castellan/core/text/Utf8"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SandcastleSample from "@castellan/testing/fixture/SandcastleSample"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Result, Schema } from "effect"

const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

describe("SandcastleState", () => {
  const { Running, Stale, Stopped, Unknown } = SandcastleStatus.cases
  const { Expire, Find, Lose, Restart, Stop, Use } = SandcastleState.SandcastleEvent.cases
  const used = { startedAt: at(1), lastUsedAt: at(2) }
  const states: ReadonlyArray<SandcastleStatus> = [
    Running.make(used),
    Stale.make(used),
    Unknown.make(used),
    Stopped.make({ startedAt: at(1), releasedAt: at(3), cause: "asked" })
  ]
  const events: ReadonlyArray<SandcastleState.SandcastleEvent> = [
    Use.make({}),
    Expire.make({}),
    Lose.make({}),
    Find.make({}),
    Stop.make({ cause: "idle" }),
    Restart.make({})
  ]
  const again = Running.make({ startedAt: at(9), lastUsedAt: at(9) })
  const inUse = Running.make({ startedAt: at(1), lastUsedAt: at(9) })
  const released = Stopped.make({ startedAt: at(1), releasedAt: at(9), cause: "idle" })
  /** Every pair that is legal, and what it comes to at second 9. */
  const legal: { readonly [pair: string]: SandcastleStatus } = {
    "Running Use": inUse,
    "Running Expire": Stale.make(used),
    "Running Lose": Unknown.make(used),
    "Running Stop": released,
    "Running Restart": again,
    "Stale Use": inUse,
    "Stale Lose": Unknown.make(used),
    "Stale Stop": released,
    "Stale Restart": again,
    "Unknown Find": Running.make(used),
    "Unknown Stop": released,
    "Unknown Restart": again,
    "Stopped Restart": again
  }

  it("answers every pair of state and event", () => {
    const answered = new Set<string>()
    for (const state of states) {
      for (const event of events) {
        const pair = `${state._tag} ${event._tag}`
        const outcome = SandcastleState.transition(state, event, at(9))
        const expected = legal[pair]
        if (expected === undefined) {
          const refusal = Result.getOrThrow(Result.flip(outcome))
          assert.deepStrictEqual([refusal.state, refusal.event], [state._tag, event._tag], pair)
          assert.strictEqual(
            refusal.message,
            `cannot ${event._tag.toLowerCase()} a sandcastle that is ${state._tag.toLowerCase()}`
          )
        } else {
          assert.deepStrictEqual(Result.getOrThrow(outcome), expected, pair)
          answered.add(pair)
        }
      }
    }
    assert.deepStrictEqual([...answered].toSorted(), Object.keys(legal).toSorted())
  })
})

layer(layerCrypto)("executions", (it) => {
  it.effect("answer every pair of state and event, and an ended one never changes again", () =>
    Effect.gen(function* () {
      const { Completed, Failed, Interrupted, Running } = ExecutionStatus.cases
      const { Complete, Fail, Interrupt } = ExecutionState.ExecutionEvent.cases
      const maker = yield* Sample.principal(yield* Sample.organizationId)
      const castle = yield* SandcastleSample.sandcastle(maker)
      const running = yield* SandcastleSample.execution(castle, { createdAt: at(4) })
      const pairs = [
        [Complete.make({}), Completed.make({ endedAt: at(9) }), undefined],
        [Fail.make({ error: "broken" }), Failed.make({ endedAt: at(9), error: "broken" }), "broken"],
        [Interrupt.make({}), Interrupted.make({ endedAt: at(9) }), "interrupted"],
        [
          Interrupt.make({ stateLost: true }),
          Interrupted.make({ endedAt: at(9), stateLost: true }),
          "interrupted; the session was restarted, and its variables are gone"
        ]
      ] as const
      assert.isUndefined(duration(running))
      for (const [event, status, said] of pairs) {
        const ended = Result.getOrThrow(ExecutionState.end(running, event, at(9), "output"))
        assert.deepStrictEqual({ ...ended }, { ...running, status, outputPreview: "output" })
        assert.deepStrictEqual(duration(ended), Duration.seconds(5))
        assert.strictEqual(error(ended), said)
        for (const [later] of pairs) {
          const refusal = Result.getOrThrow(Result.flip(ExecutionState.end(ended, later, at(10), "more")))
          assert.strictEqual(
            refusal.message,
            `cannot ${later._tag.toLowerCase()} an execution that is ${status._tag.toLowerCase()}`
          )
        }
      }
      assert.strictEqual(Running.make({})._tag, running.status._tag)
    })
  )

  it.effect("a sandcastle is idle from the very moment at which its time is up, and never once it is stopped", () =>
    Effect.gen(function* () {
      const maker = yield* Sample.principal(yield* Sample.organizationId)
      const { Running, Stopped } = SandcastleStatus.cases
      const castle = yield* SandcastleSample.sandcastle(maker, {
        status: Running.make({ startedAt: at(0), lastUsedAt: at(60) })
      })
      assert.isFalse(isIdle(castle, at(60 + 15 * 60 - 0.001)))
      assert.isTrue(isIdle(castle, at(60 + 15 * 60)))
      const stopped = yield* SandcastleSample.sandcastle(maker, {
        status: Stopped.make({ startedAt: at(0), releasedAt: at(60), cause: "asked" })
      })
      assert.isFalse(isIdle(stopped, at(1_000_000)))
    })
  )
})

describe("previews of output", () => {
  it("hold the whole of what fits, to the byte", () => {
    const whole = "x".repeat(maxBytes)
    assert.strictEqual(previewOf(whole), whole)
    const cut = previewOf(`${whole}x`)
    assert.strictEqual(utf8Length(cut), maxBytes)
    assert.isTrue(cut.endsWith(truncated))
  })

  it("never break a character", () => {
    const cut = previewOf("🚀".repeat(maxBytes))
    assert.match(cut, /^(?:🚀)+…\[truncated\]$/u)
    assert.isAtMost(utf8Length(cut), maxBytes)
    assert.isAbove(utf8Length(cut), maxBytes - 4)
  })

  it.prop(
    "sizes are those of an encoder, and a prefix is the longest that fits",
    [AnyText, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))],
    ([text, bytes]) => {
      assert.strictEqual(utf8Length(text), new TextEncoder().encode(text).length)
      const prefix = utf8Prefix(text, bytes)
      assert.isTrue(text.startsWith(prefix))
      assert.isAtMost(utf8Length(prefix), bytes)
      const next = Array.from(text.slice(prefix.length))[0]
      if (next !== undefined) assert.isAbove(utf8Length(prefix + next), bytes)
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("paths of a sandcastle", () => {
  const fine = ["a", "uploads/data.csv", "library/team/über uns.md", "a/b/c/d", "x".repeat(255), "console.log"]
  it.each(fine)("%s is a path", (path) => {
    assert.strictEqual(Result.getOrThrow(SandboxPath.parse(path)), path)
  })

  const refused: ReadonlyArray<readonly [string, string]> = [
    ["", "must not be empty"],
    ["/etc/passwd", "must be relative to /sandbox/files"],
    ["..", "must not have `.` or `..` segments"],
    ["uploads/../../etc/passwd", "must not have `.` or `..` segments"],
    ["uploads/./x", "must not have `.` or `..` segments"],
    ["uploads//x", "must not have empty segments"],
    ["uploads/", "must not have empty segments"],
    [".bashrc", "must not name a dotfile"],
    ["uploads/.git/config", "must not name a dotfile"],
    ["a\\..\\b", "control characters"],
    ["a\0b", "control characters"],
    ["a\nb", "control characters"],
    ["a\u202eb", "control characters"],
    ["a\ud800b", "control characters"],
    ["C:/windows", "control characters"],
    ["uploads/name.", "end in a space or a dot"],
    ["uploads/name ", "end in a space or a dot"],
    ["uploads/NUL.txt", "must not name a device"],
    ["cafe\u0301", "normalization form C"],
    ["ü".repeat(128), "255 bytes"],
    ["a/".repeat(600), "1024 bytes"]
  ]
  it.each(refused)("%j is none", (path, why) => {
    const refusal = Result.getOrThrow(Result.flip(SandboxPath.parse(path)))
    assert.isTrue(refusal.message.startsWith("path: "))
    assert.include(refusal.message, why)
  })
})

layer(layerCrypto)("SandcastlePolicy", (it) => {
  const client: ClientMetadata = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
  const everything = ["sandcastle:read", "sandcastle:execute"] as const

  it.effect("K20 K21 K22 whose sandcastle it is, and what they hold, decide", () =>
    Effect.gen(function* () {
      const organization = yield* Sample.organizationId
      const user = yield* Sample.role(organization, { permissions: everything })
      const reader = yield* Sample.role(organization, { permissions: ["sandcastle:read"] })
      const administrator = yield* Sample.role(organization, {
        permissions: [...everything, "organization:write"],
        origin: { _tag: "System", name: "admin" }
      })
      const maker = yield* Sample.principal(organization, { roles: [user] })
      const same = { memberId: maker.memberId }
      const castle = yield* SandcastleSample.sandcastle(maker)
      const forClient = yield* SandcastleSample.sandcastle(
        yield* Sample.principal(organization, { ...same, clientMetadata: client })
      )
      const rows = [
        ["its maker", yield* Sample.principal(organization, { ...same, roles: [user] }), castle, "allow allow allow"],
        [
          "K21 its maker, whose key lacks the action",
          yield* Sample.principal(organization, { ...same, roles: [reader] }),
          castle,
          "allow permission permission"
        ],
        [
          "its maker without any permission",
          yield* Sample.principal(organization, same),
          castle,
          "permission permission permission"
        ],
        [
          "K20 another key of its maker, without full access",
          yield* Sample.principal(organization, { ...same, roles: [user], restricted: true }),
          castle,
          "hidden hidden hidden"
        ],
        ["a colleague", yield* Sample.principal(organization, { roles: [user] }), castle, "hidden hidden hidden"],
        [
          "K22 an administrator, who can only stop it",
          yield* Sample.principal(organization, { roles: [administrator] }),
          castle,
          "hidden hidden allow"
        ],
        [
          "its maker's member, for no end user, where it was made for one",
          yield* Sample.principal(organization, { ...same, roles: [user] }),
          forClient,
          "hidden hidden hidden"
        ],
        [
          "its maker's member, for the same end user",
          yield* Sample.principal(organization, { ...same, roles: [user], restricted: true, clientMetadata: client }),
          forClient,
          "allow allow allow"
        ]
      ] as const
      const actions: ReadonlyArray<SandcastleAction> = ["read", "execute", "stop"]
      for (const [name, principal, sandcastle, expected] of rows) {
        const decisions = actions.map((action) => decide(principal, sandcastle, action))
        assert.strictEqual(
          decisions.map((decision) => (decision._tag === "Allow" ? "allow" : decision.reason)).join(" "),
          expected,
          name
        )
      }
    })
  )
})
