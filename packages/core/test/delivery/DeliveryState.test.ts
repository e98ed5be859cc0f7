import { DeliveryStatus } from "@castellan/core/delivery/Delivery"
import * as DeliveryState from "@castellan/core/delivery/DeliveryState"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Result } from "effect"

const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

const { Delivered, Failed, GivenUp, Pending, Sending } = DeliveryStatus.cases
const { Fail, GiveUp, Lose, Send, Succeed } = DeliveryState.DeliveryEvent.cases

const now = at(1000)

const states: { readonly [name: string]: DeliveryStatus } = {
  pending: Pending.make({}),
  "sending, overdue": Sending.make({ attempts: 2, startedAt: at(600), until: at(1000) }),
  "sending, in time": Sending.make({ attempts: 2, startedAt: at(999), until: at(1299) }),
  "sending for the last time": Sending.make({ attempts: 8, startedAt: at(999), until: at(1000) }),
  delivered: Delivered.make({ attempts: 1, deliveredAt: at(5) }),
  "failed, due": Failed.make({ attempts: 2, failedAt: at(5), error: "busy", nextAt: at(1000) }),
  "failed, not due": Failed.make({ attempts: 2, failedAt: at(5), error: "busy", nextAt: at(1001) }),
  "given up": GivenUp.make({ attempts: 3, givenUpAt: at(5), error: "gone" })
}

const events: { readonly [name: string]: DeliveryState.DeliveryEvent } = {
  send: Send.make({}),
  succeed: Succeed.make({}),
  "fail for now": Fail.make({ kind: "retryable", error: "busy", deduplicates: false }),
  "fail for good": Fail.make({ kind: "permanent", error: "no such box", deduplicates: true }),
  "fail unknown": Fail.make({ kind: "unknown", error: "broke off", deduplicates: false }),
  "fail unknown, repeats dropped": Fail.make({ kind: "unknown", error: "broke off", deduplicates: true }),
  lose: Lose.make({ deduplicates: false }),
  "lose, repeats dropped": Lose.make({ deduplicates: true }),
  "give up": GiveUp.make({ error: "deleted" })
}

const sending = (attempts: number) => Sending.make({ attempts, startedAt: now, until: at(1300) })
const again = (error: string) => Failed.make({ attempts: 2, failedAt: now, error, nextAt: at(1120) })
const givenUp = (attempts: number, error: string) => GivenUp.make({ attempts, givenUpAt: now, error })
const mayHave = "it may have arrived, and is not sent again: "
const unseen = "the attempt was not seen to end"

const afterAttempt = {
  succeed: Delivered.make({ attempts: 2, deliveredAt: now }),
  "fail for now": again("busy"),
  "fail for good": givenUp(2, "no such box"),
  "fail unknown": givenUp(2, `${mayHave}broke off`),
  "fail unknown, repeats dropped": again("broke off")
}

/** Every pair that is legal, and what it comes to at second 1000. */
const legal: { readonly [state: string]: { readonly [event: string]: DeliveryStatus } } = {
  pending: { send: sending(1), "give up": givenUp(0, "deleted") },
  "sending, overdue": {
    ...afterAttempt,
    lose: givenUp(2, `${mayHave}${unseen}`),
    "lose, repeats dropped": again(unseen)
  },
  "sending, in time": afterAttempt,
  "sending for the last time": {
    succeed: Delivered.make({ attempts: 8, deliveredAt: now }),
    "fail for now": givenUp(8, "busy"),
    "fail for good": givenUp(8, "no such box"),
    "fail unknown": givenUp(8, `${mayHave}broke off`),
    "fail unknown, repeats dropped": givenUp(8, "broke off"),
    lose: givenUp(8, `${mayHave}${unseen}`),
    "lose, repeats dropped": givenUp(8, unseen)
  },
  delivered: {},
  "failed, due": { send: sending(3), "give up": givenUp(2, "deleted") },
  "failed, not due": { "give up": givenUp(2, "deleted") },
  "given up": {}
}

describe("DeliveryState", () => {
  for (const [state, status] of Object.entries(states)) {
    it.each(Object.entries(events))(`${state}: %s`, (name, event) => {
      const result = DeliveryState.transition(status, event, now)
      const expected = legal[state]?.[name]
      if (Result.isSuccess(result)) assert.deepStrictEqual(result.success, expected)
      else {
        assert.isUndefined(expected)
        assert.strictEqual(result.failure.state, status._tag)
        assert.include(result.failure.message, status._tag === "GivenUp" ? "given up" : status._tag.toLowerCase())
      }
    })
  }

  it("pauses longer after each failure, an hour at most", () => {
    assert.deepStrictEqual(
      Array.from({ length: 10 }, (_, index) => Duration.toMinutes(DeliveryState.pauseAfter(index + 1))),
      [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    )
  })
})
