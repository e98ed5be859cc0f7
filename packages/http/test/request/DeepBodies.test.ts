/**
 * Bodies that are nested deeper than anybody means them: refused by the field that they are in, before anything goes
 * through them by recursion. Every operation of the contract that takes JSON is walked, so that a new one, and a field
 * of a new kind, cannot be forgotten.
 */
import { maximumDepth } from "@castellan/http/request/JsonDepth"
import { maxDepth as maximumPredicate } from "@castellan/core/rowpolicy/RowRuleReview"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Operation, operations } from "../matrix/Operations.ts"
import { json } from "../support/JsonCall.ts"
import * as Site from "../support/Site.ts"

interface Fields {
  readonly [name: string]: unknown
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Every operation that takes JSON, with the contract's own example. */
const taking = operations.flatMap((operation) =>
  operation.bodies
    .filter(({ mediaType }) => mediaType === "application/json")
    .map(({ example }) => ({ operation, example: isFields(example) ? example : {} }))
)

/** Ways in which something is nested: what stands around it, and the levels that this takes. */
const nestings = [
  { before: "[", after: "]", levels: 1 },
  { before: '{"a":', after: "}", levels: 1 },
  { before: '{"type":"not","predicate":', after: "}", levels: 1 },
  { before: '{"type":"all","predicates":[', after: "]}", levels: 2 }
] as const
type Nesting = (typeof nestings)[number]

/** A predicate, of one level. */
const innermost = '{"type":"is_null","column":"region"}'

/** Something that is nested so many levels deep; in twos, one more where the number asks for it. */
const nested = ({ after, before, levels }: Nesting, depth: number): string => {
  const times = Math.floor((depth - 1) / levels)
  const core = (depth - 1) % levels === 0 ? innermost : `[${innermost}]`
  return before.repeat(times) + core + after.repeat(times)
}

/** The text of a body, one field of which is what it is said to be. */
const bodyWith = (example: Fields, field: string, value: string): string => {
  const others = Object.entries(example).filter(([name]) => name !== field)
  const written = others.map(([name, other]) => `${JSON.stringify(name)}:${JSON.stringify(other)}`)
  return `{${[...written, `${JSON.stringify(field)}:${value}`].join(",")}}`
}

const anId = "0197c0de-0000-7000-8000-000000000000"

const send = Effect.fnUntraced(function* ({ credential, method, path }: Operation, body: string) {
  const { key } = yield* Site.Site
  return yield* Site.call(path.replaceAll(/:\w+/g, path.startsWith("/v2/connectors/") ? "1" : anId), {
    method,
    body,
    key: credential === "bearer" ? key : "",
    headers: { "content-type": "application/json", ...(credential === "bearer" ? {} : { svc_api_key: key }) }
  })
})

/** The message of a refusal, in either protocol; nothing of what is none. */
const refusalOf = ({ isConnect }: Operation, { status, text }: Site.Reply): string | undefined => {
  if (status !== 400) return undefined
  const body = JSON.parse(text)
  const { code, message } = isConnect ? body : body.error
  return code === (isConnect ? "invalid_argument" : "invalid_request") ? message : undefined
}

const tooDeep = (field: string) => `${field}: must not be nested more than ${maximumDepth} deep`

layer(Site.layer({ limits: { maxBodyBytes: 4 * 1024 * 1024 } }), { timeout: "180 seconds", excludeTestServices: true })(
  "deep bodies over HTTP",
  (it) => {
    for (const { example, operation } of taking) {
      it.effect(`${operation.name} refuses what is nested too deep, by its field`, () =>
        Effect.gen(function* () {
          for (const field of [...Object.keys(example), "not_of_the_contract"]) {
            for (const nesting of nestings) {
              for (const depth of [100, maximumDepth, maximumDepth + 1]) {
                const answer = yield* send(operation, bodyWith(example, field, nested(nesting, depth)))
                const what = `${field}, ${depth} deep in ${nesting.before}: ${answer.status} ${answer.text}`
                assert.isBelow(answer.status, 500, what)
                const isRefusedForIt = refusalOf(operation, answer) === tooDeep(field)
                assert.strictEqual(isRefusedForIt, depth > maximumDepth, what)
              }
            }
          }
          const [first = "not_of_the_contract"] = Object.keys(example)
          for (const nesting of nestings) {
            const answer = yield* send(operation, bodyWith(example, first, nested(nesting, 100_000)))
            assert.strictEqual(refusalOf(operation, answer), tooDeep(first))
          }
          for (const body of ["[".repeat(100_000) + "]".repeat(100_000), "[".repeat(100_000)]) {
            assert.strictEqual(refusalOf(operation, yield* send(operation, body)), tooDeep("body"))
          }
        })
      )
    }

    it.effect("who has shown no credential is told that, however deep the body is", () =>
      Effect.gen(function* () {
        for (const { operation } of taking) {
          if (operation.failures.includes(401)) {
            const answer = yield* Site.call(operation.path, {
              method: operation.method,
              key: "",
              headers: { "content-type": "application/json" },
              body: "[".repeat(100_000)
            })
            assert.strictEqual(answer.status, 401, operation.name)
          }
        }
      })
    )

    it.effect("brackets within strings are not counted, and a name is repeated as it was sent, up to a length", () =>
      Effect.gen(function* () {
        const within = JSON.stringify({ question: `\\"${"[{".repeat(1_000)}\\`, deep: "]".repeat(1_000), chat_id: "1" })
        const unknown = yield* Site.call("/v2/chats", {
          method: "POST",
          body: within,
          headers: { "content-type": "application/json; charset=utf-8" }
        })
        assert.match(JSON.parse(unknown.text).error.message, /^chat_id: must be a UUID/)
        const deep = "[".repeat(1_000) + "]".repeat(1_000)
        for (const [sent, told] of [
          ['{"a":"[","b\\"c":', 'b\\"c'],
          ['{"":', ""],
          [`{"${"x".repeat(1_000)}":`, `${"x".repeat(60)}…`],
          ['{"shallow":[[]],"d":', "d"],
          ['{"\\\\":1,"e":', "e"]
        ]) {
          const answer = yield* Site.post("/v2/chats", `${sent}${deep}}`)
          assert.strictEqual(JSON.parse(answer.text).error.message, tooDeep(told ?? ""))
        }
      })
    )

    it.effect("a predicate is as deep as predicates may be, and not deeper", () =>
      Effect.gen(function* () {
        const path = `/v2/connectors/${yield* ownConnector}/row-policies`
        const put = (depth: number) => {
          const predicate: unknown = JSON.parse(nested(nestings[2], depth))
          return json("PUT", path, { row_policies: [{ table: "sales", predicate }] })
        }
        const refused = `predicate: must not be nested more than ${maximumPredicate} deep`
        assert.strictEqual((yield* put(maximumPredicate)).status, 200)
        for (const depth of [maximumPredicate + 1, 100, 500]) {
          const { body, status } = yield* put(depth)
          assert.deepStrictEqual([status, body.error?.message], [400, refused])
        }
        const { body, status } = yield* put(3_000)
        assert.deepStrictEqual([status, body.error?.message], [400, tooDeep("row_policies")])
        assert.lengthOf((yield* json("GET", path)).body.row_policies, 1)
      })
    )
  }
)

const ownConnector = Effect.map(
  json("POST", "/v2/connectors", {
    name: "policed",
    description: "Its rows are not for everybody",
    type: "postgres",
    config: { host: "db.example", database: "shop", user: "reader" },
    secret: "correct horse"
  }),
  ({ body }) => body.id
)
