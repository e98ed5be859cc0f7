import { allow, deny, DenyReason, enforce } from "@castellan/core/access/Decision"
import { ApiKeyHash } from "@castellan/core/apikey/ApiKey"
import { Cell, CellContent, CellId, CellStatus, duration } from "@castellan/core/chat/Cell"
import { ConnectorId, ConnectorName, ConnectorSource, connectorType } from "@castellan/core/connector/Connector"
import * as Failure from "@castellan/core/error/Failure"
import { ModelId, ModelNumber } from "@castellan/core/model/Model"
import { OntologyError } from "@castellan/core/ontology/OntologyEngine"
import { Permission } from "@castellan/core/role/Permission"
import { addUsage, noUsage } from "@castellan/core/run/Run"
import { excerpt } from "@castellan/core/text/Excerpt"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema } from "effect"

const accepts = (schema: Schema.Schema<unknown>, good: ReadonlyArray<unknown>, bad: ReadonlyArray<unknown>): void => {
  for (const value of good) assert.isTrue(Schema.is(schema)(value), `${JSON.stringify(value)} is refused`)
  for (const value of bad) assert.isFalse(Schema.is(schema)(value), `${JSON.stringify(value)} is accepted`)
}

describe("values from outside", () => {
  it("are refused unless they are exactly what they should be", () => {
    assert.isFalse(Schema.is(ConnectorId)(undefined))
    accepts(ConnectorId, [1, 2_147_483_647], [0, -1, 1.5, 2_147_483_648, Number.NaN, "1", null])
    accepts(ModelNumber, [1, 2_147_483_647], [0, -1, 1.5, 2_147_483_648, "1"])
    accepts(
      ConnectorName,
      ["a", "_", "flights_2030", "A".repeat(63)],
      ["", "1a", "a-b", "a b", "a.b", "a\n", "ä", "a'; drop", "A".repeat(64)]
    )
    accepts(ModelId, ["offline/analyst-1", "x", "a".repeat(200)], ["", "a b", "ä", "a\n", "a".repeat(201)])
    accepts(ApiKeyHash, ["0".repeat(64)], ["0".repeat(63), "A".repeat(64), `${"0".repeat(64)}\n`])
    accepts(Permission, ["chat:read", "audit:read"], ["chat:fly", "toString", "__proto__", "", "CHAT:READ"])
  })

  it("a connector's kind has a name on the wire", () => {
    assert.strictEqual(connectorType(ConnectorSource.cases.Files.make({ folder: "/data" })), "files")
  })
})

describe("failures", () => {
  it("each has its code of the specification, and every code has a text", () => {
    const message = "m"
    const failures: ReadonlyArray<Failure.Failure> = [
      new Failure.InvalidRequest({ message }),
      new Failure.Unauthenticated({ message }),
      new Failure.PermissionDenied({ message }),
      new Failure.NotFound({ message }),
      new Failure.Conflict({ message }),
      new Failure.RateLimitExceeded({ message, retryAfterSeconds: 1 }),
      new Failure.TimedOut({ message }),
      new Failure.Cancelled({ message }),
      new Failure.ExecutionFailed({ message }),
      new Failure.NoReport({ message })
    ]
    assert.deepStrictEqual(
      failures.map((failure) => failure.code),
      [
        "invalid_request",
        "unauthenticated",
        "permission_denied",
        "not_found",
        "conflict",
        "rate_limit_exceeded",
        "timeout",
        "cancelled",
        "execution_failed",
        "no_report"
      ]
    )
    for (const failure of failures) {
      assert.strictEqual(failure.message, "m")
      assert.isTrue(Schema.is(Failure.ErrorCode)(failure.code))
    }
    for (const code of Failure.ErrorCode.literals) assert.notStrictEqual(Failure.defaultMessage[code], "")
  })

  it.effect("a decision is data, until it is enforced", () =>
    Effect.gen(function* () {
      yield* enforce(allow("permission", "chat:read is held"))
      const outcome = (reason: Parameters<typeof deny>[0]) => Effect.flip(enforce(deny(reason, "no")))
      assert.strictEqual((yield* outcome("hidden")).code, "not_found")
      for (const reason of DenyReason.literals) {
        if (reason === "hidden") continue
        const failure = yield* outcome(reason)
        assert.deepStrictEqual([failure.code, failure.message], ["permission_denied", "no"])
      }
    })
  )

  it("an ontology's problems are told with their places", () => {
    const problem = (path: string, line: number, message: string) => ({ path, line, column: 3, message })
    const error = new OntologyError({ problems: [problem("a.malloy", 1, "one"), problem("query", 2, "two")] })
    assert.strictEqual(error.message, "a.malloy:1:3: one\nquery:2:3: two")
  })
})

describe("small sums", () => {
  const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }))
  const Usage = Schema.Struct({ inputTokens: Count, outputTokens: Count, toolCalls: Count })
  it.prop("usage adds up, in whatever order", [Usage, Usage, Usage], ([a, b, c]) => {
    assert.deepStrictEqual(addUsage(a, b), addUsage(b, a))
    assert.deepStrictEqual(addUsage(addUsage(a, b), c), addUsage(a, addUsage(b, c)))
    assert.deepStrictEqual(addUsage(a, noUsage), a)
  })

  it("a cell took as long as from its start to its end, and nothing is said while it runs", () => {
    const cell = (status: CellStatus) =>
      new Cell({
        id: CellId.make("00000000-0000-7000-8000-000000000001"),
        content: CellContent.cases.Markdown.make({ role: "assistant", content: "" }),
        status,
        result: {},
        createdAt: DateTime.makeUnsafe(1000)
      })
    assert.isUndefined(duration(cell(CellStatus.cases.Running.make({}))))
    const took = duration(cell(CellStatus.cases.Halted.make({ endedAt: DateTime.makeUnsafe(2234) })))
    assert.strictEqual(took === undefined ? undefined : Duration.toMillis(took), 1234)
  })

  it.prop("an excerpt is the beginning, never longer than asked, and breaks no character", [AnyText], ([text]) => {
    for (const long of [text, `${text}🚀`.repeat(20)]) {
      const short = excerpt(long, 10)
      assert.isAtMost(Array.from(short).length, 10)
      if (Array.from(long).length <= 10) assert.strictEqual(short, long)
      else assert.strictEqual(short, `${Array.from(long).slice(0, 9).join("")}…`)
    }
  })
})
