import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import {
  AttemptId,
  IdempotentRequest,
  IdempotentRequestId,
  IdempotentRequestStatus,
  RequestFingerprint
} from "../../src/idempotency/IdempotentRequest.ts"
import * as IdempotentRequestState from "../../src/idempotency/IdempotentRequestState.ts"
import { OrganizationId } from "../../src/organization/Organization.ts"

const attemptOf = (digit: string) => AttemptId.make(`0197c0de-0000-7000-8000-00000000000${digit}`)
const [mine, other] = [attemptOf("1"), attemptOf("2")]
const now = DateTime.makeUnsafe("2030-01-01T00:00:00.000Z")
const [past, future] = [DateTime.subtract(now, { seconds: 1 }), DateTime.add(now, { seconds: 1 })]
const fingerprint = RequestFingerprint.make("a".repeat(64))
const { Answered, CarriedOut, Underway } = IdempotentRequestStatus.cases
const answer = new Uint8Array([1, 2, 3])

const common = {
  organizationId: OrganizationId.make("0197c0de-0000-7000-8000-000000000000"),
  id: IdempotentRequestId.make("b".repeat(64))
}

const request = (status: IdempotentRequestStatus, createdAt = past) =>
  new IdempotentRequest({ ...common, fingerprint, createdAt, status })

const claim = { ...common, attempt: mine, fingerprint, now, leaseUntil: future }
const granted = Underway.make({ attempt: mine, leaseUntil: future })

/** Every state that a request can be in, as far as an attempt can tell. */
const states = {
  nothing: undefined,
  "underway, leased": Underway.make({ attempt: other, leaseUntil: future }),
  "underway, lease over": Underway.make({ attempt: other, leaseUntil: now }),
  "carried out, leased": CarriedOut.make({ attempt: other, leaseUntil: future }),
  "carried out, lease over": CarriedOut.make({ attempt: other, leaseUntil: now }),
  answered: Answered.make({ attempt: other, answer })
} as const

const dayOld = DateTime.subtract(now, { hours: 24 })
const almostDayOld = DateTime.add(dayOld, { milliseconds: 1 })

describe("a claim", () => {
  const rows: ReadonlyArray<readonly [state: keyof typeof states, same: string, differs: string, dayOld: string]> = [
    ["nothing", "Granted", "Granted", "Granted"],
    ["underway, leased", "Underway", "Differs", "Underway"],
    ["underway, lease over", "Granted", "Differs", "Granted"],
    ["carried out, leased", "Underway", "Differs", "Underway"],
    ["carried out, lease over", "CarriedOut", "Differs", "Granted"],
    ["answered", "Answered", "Differs", "Granted"]
  ]
  for (const [state, same, differs, old] of rows) {
    it(`of a request that is ${state}`, () => {
      const status = states[state]
      const made = (createdAt?: DateTime.Utc) => (status === undefined ? undefined : request(status, createdAt))
      const another = { ...claim, fingerprint: RequestFingerprint.make("c".repeat(64)) }
      for (const [found, claimed, expected] of [
        [made(), claim, same],
        [made(almostDayOld), claim, same],
        [made(), another, differs],
        [made(dayOld), claim, old]
      ] as const) {
        const result = IdempotentRequestState.claim(found, claimed)
        assert.strictEqual(result.outcome._tag, expected)
        if (expected === "Granted") {
          assert.deepStrictEqual(result.request.status, granted)
          assert.deepStrictEqual([result.request.createdAt, result.request.fingerprint], [now, claimed.fingerprint])
        } else {
          assert.strictEqual(result.request, found)
        }
        if (result.outcome._tag === "Answered") assert.strictEqual(result.outcome.answer, answer)
      }
    })
  }
})

describe("a step of the attempt that holds the request", () => {
  const held = {
    Underway: Underway.make({ attempt: mine, leaseUntil: future }),
    CarriedOut: CarriedOut.make({ attempt: mine, leaseUntil: future }),
    Answered: Answered.make({ attempt: mine, answer })
  } as const
  const later = DateTime.add(now, { hours: 1 })
  const given = new Uint8Array([9])
  const steps = {
    commit: (of: IdempotentRequest | undefined) => IdempotentRequestState.commit(of, mine),
    renew: (of: IdempotentRequest | undefined) => IdempotentRequestState.renew(of, mine, later),
    answer: (of: IdempotentRequest | undefined) => IdempotentRequestState.answer(of, mine, given),
    release: (of: IdempotentRequest | undefined) => IdempotentRequestState.release(of, mine, now)
  } as const
  const rows: ReadonlyArray<
    readonly [keyof typeof steps, Record<keyof typeof held, IdempotentRequestStatus | undefined>]
  > = [
    [
      "commit",
      {
        Underway: CarriedOut.make({ attempt: mine, leaseUntil: future }),
        CarriedOut: held.CarriedOut,
        Answered: held.Answered
      }
    ],
    [
      "renew",
      {
        Underway: Underway.make({ attempt: mine, leaseUntil: later }),
        CarriedOut: CarriedOut.make({ attempt: mine, leaseUntil: later }),
        Answered: held.Answered
      }
    ],
    [
      "answer",
      {
        Underway: Answered.make({ attempt: mine, answer: given }),
        CarriedOut: Answered.make({ attempt: mine, answer: given }),
        Answered: held.Answered
      }
    ],
    [
      "release",
      { Underway: undefined, CarriedOut: CarriedOut.make({ attempt: mine, leaseUntil: now }), Answered: held.Answered }
    ]
  ]
  for (const [step, expected] of rows) {
    for (const state of ["Underway", "CarriedOut", "Answered"] as const) {
      it(`${step}, ${state}`, () => {
        const result = Result.getOrThrow(steps[step](request(held[state])))
        assert.deepStrictEqual(result?.status, expected[state])
      })
    }
    it(`${step}, by an attempt that was superseded, says so, and the state`, () => {
      for (const [state, words] of [
        ["Underway", /is underway by another attempt/],
        ["CarriedOut", /was carried out by another attempt/],
        ["Answered", /was answered by another attempt/]
      ] as const) {
        const theirs = request({ ...held[state], attempt: other })
        const refused = Result.flip(steps[step](theirs))
        assert.match(Result.getOrThrow(refused).message, words)
      }
      assert.match(Result.getOrThrow(Result.flip(steps[step](undefined))).message, /not on record/)
    })
  }
})
