import { ChangeStatus, statusName } from "@castellan/core/change/Change"
import { ChangeEvent, outcomeOf, transition } from "@castellan/core/change/ChangeState"
import { LibraryPath } from "@castellan/core/library/LibraryPath"
import { gitRef, memberId } from "@castellan/testing/policy/Name"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"

const at = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const merge = { commit: gitRef("merged"), at, automatic: false, approvals: 1, required: 1 }
const conflicts = [{ path: LibraryPath.make("docs/x"), view: "both" }]
const by = memberId("ana")

const { Approved, Denied, Draft, Open, Reserved } = ChangeStatus.cases
const denied = (from: "Draft" | "Open" | "Reserved") => Denied.make({ from, by, at })

const statuses = {
  draft: Draft.make({}),
  open: Open.make({}),
  reserved: Reserved.make({ conflicts }),
  approved: Approved.make({ merge }),
  "denied from draft": denied("Draft"),
  "denied from open": denied("Open"),
  "denied from reserved": denied("Reserved")
} as const

const { Approve, ConflictAtMerge, Deny, Merge, Restore, Revise, Submit } = ChangeEvent.cases

const events = {
  submit: Submit.make({}),
  "revise to draft": Revise.make({ outcome: outcomeOf(true, []) }),
  "revise to open": Revise.make({ outcome: outcomeOf(false, []) }),
  "revise to conflict": Revise.make({ outcome: outcomeOf(true, conflicts) }),
  approve: Approve.make({}),
  merge: Merge.make({ merge }),
  conflict: ConflictAtMerge.make({ conflicts }),
  deny: Deny.make({ by }),
  restore: Restore.make({ conflicts: [] }),
  "restore with conflicts": Restore.make({ conflicts })
} as const

type Name = keyof typeof statuses

/** Every pair that is allowed; all others are refused. */
const table: { readonly [From in Name]: { readonly [On in keyof typeof events]?: string } } = {
  draft: {
    submit: "open",
    "revise to draft": "draft",
    "revise to open": "open",
    "revise to conflict": "reserved",
    deny: "denied from Draft"
  },
  open: {
    "revise to draft": "draft",
    "revise to open": "open",
    "revise to conflict": "reserved",
    approve: "open",
    merge: "approved",
    conflict: "reserved",
    deny: "denied from Open"
  },
  reserved: {
    "revise to draft": "draft",
    "revise to open": "open",
    "revise to conflict": "reserved",
    deny: "denied from Reserved"
  },
  approved: {},
  "denied from draft": { restore: "draft", "restore with conflicts": "reserved" },
  "denied from open": { restore: "open", "restore with conflicts": "reserved" },
  "denied from reserved": { restore: "open", "restore with conflicts": "reserved" }
}

const told = (status: ChangeStatus): string =>
  status._tag === "Denied" ? `denied from ${status.from}` : statusName(status)

describe("ChangeState", () => {
  for (const [from, status] of Object.entries(statuses)) {
    for (const [on, event] of Object.entries(events)) {
      const row: { readonly [on: string]: string } = Object.fromEntries(
        Object.entries(table).flatMap(([name, cells]) => (name === from ? Object.entries(cells) : []))
      )
      const expected = row[on]
      it(`${from}: ${on} ${expected === undefined ? "is refused" : `leads to ${expected}`}`, () => {
        const outcome = transition(status, event, at)
        if (expected === undefined) {
          assert.isTrue(Result.isFailure(outcome))
          if (Result.isFailure(outcome)) {
            assert.strictEqual(outcome.failure.state, status._tag)
            assert.strictEqual(outcome.failure.event, event._tag)
            assert.include(outcome.failure.message, statusName(status))
          }
        } else assert.strictEqual(told(Result.getOrThrow(outcome)), expected)
      })
    }
  }

  it("what is denied remembers who denied it and when; what is merged, its commit; what is reserved, why", () => {
    assert.deepStrictEqual(Result.getOrThrow(transition(statuses.open, events.deny, at)), denied("Open"))
    assert.deepStrictEqual(Result.getOrThrow(transition(statuses.open, events.merge, at)), Approved.make({ merge }))
    assert.deepStrictEqual(
      Result.getOrThrow(transition(statuses.open, events.conflict, at)),
      Reserved.make({ conflicts })
    )
  })

  it("A40 what conflicts is reserved, whether or not it is a draft", () => {
    assert.deepStrictEqual(
      [true, false].map((draft) => outcomeOf(draft, conflicts)._tag),
      ["Reserved", "Reserved"]
    )
  })

  it.prop(
    "L10 nothing leaves approved, and only a restoration leaves denied",
    [ChangeStatus, ChangeEvent],
    ([status, event]) => {
      const outcome = transition(status, event, at)
      if (status._tag === "Approved") assert.isTrue(Result.isFailure(outcome))
      if (status._tag === "Denied") assert.strictEqual(Result.isSuccess(outcome), event._tag === "Restore")
    }
  )

  it.prop("only a merge makes a change approved", [ChangeStatus, ChangeEvent], ([status, event]) => {
    const outcome = transition(status, event, at)
    if (Result.isSuccess(outcome) && outcome.success._tag === "Approved") assert.strictEqual(event._tag, "Merge")
  })

  it.prop("any run of events keeps to the states of the specification", [Schema.Array(ChangeEvent)], ([run]) => {
    let status: ChangeStatus = statuses.draft
    for (const event of run) status = Result.getOrElse(transition(status, event, at), () => status)
    assert.isTrue(Schema.is(ChangeStatus)(status))
  })
})
