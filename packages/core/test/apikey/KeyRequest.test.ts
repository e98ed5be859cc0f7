import * as ClientMetadata from "@castellan/core/access/ClientMetadata"
import * as KeyRequest from "@castellan/core/apikey/KeyRequest"
import { RoleId } from "@castellan/core/role/Role"
import { AnyText } from "@castellan/testing/fixture/AnyText"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Equal, Result, Schema } from "effect"

const [a, b] = [
  RoleId.make("00000000-0000-7000-8000-00000000000a"),
  RoleId.make("00000000-0000-7000-8000-00000000000b")
]

const outcome = (request: KeyRequest.KeyRequest) => {
  const parsed = KeyRequest.parse(request)
  return Result.isFailure(parsed) ? parsed.failure.message : "accepted"
}

describe("KeyRequest", () => {
  const inherit = { inheritAllRoles: true }
  const range = "expirySeconds: must be an integer from 60 to 31536000"
  const rows: ReadonlyArray<readonly [string, KeyRequest.KeyRequest, string]> = [
    ["K8: neither roles nor inheritance", {}, "assumedRoles: must name a role, unless inheritAllRoles is true"],
    [
      "K8: no roles, and inheritance switched off",
      { assumedRoles: [], inheritAllRoles: false },
      "assumedRoles: must name a role, unless inheritAllRoles is true"
    ],
    ["no roles, and inheritance", { assumedRoles: [], inheritAllRoles: true }, "accepted"],
    ["roles, and inheritance switched off", { assumedRoles: [a], inheritAllRoles: false }, "accepted"],
    [
      "K10: roles together with inheritance",
      { assumedRoles: [a], inheritAllRoles: true },
      "inheritAllRoles: must not be true together with assumedRoles"
    ],
    ["K25: 0 seconds", { ...inherit, expirySeconds: 0 }, range],
    ["K25: 59 seconds", { ...inherit, expirySeconds: 59 }, range],
    ["60 seconds", { ...inherit, expirySeconds: 60 }, "accepted"],
    ["a year", { ...inherit, expirySeconds: 31_536_000 }, "accepted"],
    ["K25: a second more than a year", { ...inherit, expirySeconds: 31_536_001 }, range],
    ["K25: -1 second", { ...inherit, expirySeconds: -1 }, range],
    ["K25: one and a half", { ...inherit, expirySeconds: 90.5 }, range],
    ["K25: no number", { ...inherit, expirySeconds: Number.NaN }, range],
    ["K25: 1e20", { ...inherit, expirySeconds: 1e20 }, range],
    ["K25: without end", { ...inherit, expirySeconds: Number.POSITIVE_INFINITY }, range],
    ["an empty name", { ...inherit, name: "" }, "name: must be 1 to 200 characters, not all of them spaces"],
    ["a blank name", { ...inherit, name: "  " }, "name: must be 1 to 200 characters, not all of them spaces"],
    ["a name of 200 characters", { ...inherit, name: "x".repeat(200) }, "accepted"],
    ["a name with a NUL", { ...inherit, name: "a\0b" }, "name: must be whole Unicode text without NUL"],
    ["a name with half a character", { ...inherit, name: "a\ud800" }, "name: must be whole Unicode text without NUL"],
    [
      "a name of 201",
      { ...inherit, name: "x".repeat(201) },
      "name: must be 1 to 200 characters, not all of them spaces"
    ],
    ["R4: clientId that is no JSON", { ...inherit, clientId: "tenant-a" }, "clientId: must be a JSON object as text"]
  ]
  for (const [name, request, expected] of rows) {
    it(name, () => assert.strictEqual(outcome(request), expected))
  }

  it("says what a key is to be", () => {
    const terms = Result.getOrThrow(
      KeyRequest.parse({
        assumedRoles: [a, b, a],
        expirySeconds: 60,
        name: "reporting",
        clientId: '{"tenant":"a"}',
        fullMemberAccess: true
      })
    )
    assert.deepStrictEqual(terms, {
      roles: { _tag: "Chosen", roles: [a, b] },
      lifetime: Duration.seconds(60),
      name: "reporting",
      clientMetadata: { text: '{"tenant":"a"}', attributes: { tenant: "a" } },
      fullMemberAccess: true
    })
    assert.deepStrictEqual(Result.getOrThrow(KeyRequest.parse({ inheritAllRoles: true })), {
      roles: { _tag: "Inherited" },
      fullMemberAccess: false
    })
  })

  it("metadata that says nothing of anybody is as none", () => {
    assert.notProperty(Result.getOrThrow(KeyRequest.parse({ ...inherit, clientId: " { } " })), "clientMetadata")
  })
})

describe("ClientMetadata", () => {
  const rows: ReadonlyArray<readonly [string, string, ClientMetadata.ClientMetadataFault]> = [
    ["R4: no JSON", "{tenant: 1}", "not_json"],
    ["R4: nothing", "", "not_json"],
    ["R4: two objects", "{}{}", "not_json"],
    ["R4: a comma too many", '{"a":1,}', "not_json"],
    ["R4: an array", "[1]", "not_an_object"],
    ["R4: a string", '"tenant-a"', "not_an_object"],
    ["R4: an object as a string", String.raw`"{\"tenant\":\"a\"}"`, "not_an_object"],
    ["R4: a number", "1", "not_an_object"],
    ["R4: null", "null", "not_an_object"],
    ["R4: true", "true", "not_an_object"],
    ["R4: a field twice", '{"tenant":"a","tenant":"b"}', "duplicate_field"],
    ["R4: a field twice with the same value", '{"tenant":"a", "tenant" : "a"}', "duplicate_field"],
    ["R4: a field twice, once escaped", String.raw`{"tenant":"a","\u0074enant":"b"}`, "duplicate_field"],
    ["R4: __proto__", '{"__proto__":"a"}', "forbidden_field"],
    ["R4: __proto__, escaped", String.raw`{"\u005f_proto__":{"admin":true}}`, "forbidden_field"],
    ["R4: __proto__ twice", '{"__proto__":1,"__proto__":2}', "forbidden_field"],
    ["R4: an object within", '{"tenant":{"id":1}}', "not_a_scalar"],
    ["R4: an array within", '{"tenants":["a"]}', "not_a_scalar"],
    ["R4: a number that no double is", '{"account":12345678901234567890}', "inexact_number"],
    ["R4: a number without end", '{"account":1e999}', "not_a_scalar"],
    ["R4: half a character", String.raw`{"tenant":"\ud800"}`, "ill_formed_text"],
    ["R4: a NUL", String.raw`{"tenant":"a\u0000"}`, "ill_formed_text"],
    ["R4: too long", `{"tenant":"${"x".repeat(ClientMetadata.textLength)}"}`, "too_long"]
  ]
  for (const [name, text, fault] of rows) {
    it(name, () => assert.strictEqual(Result.getOrThrow(Result.flip(ClientMetadata.parse(text))).fault, fault))
  }

  it("a text as long as may be, and the first of several numbers that no double holds", () => {
    const longest = `{"tenant":"${"x".repeat(ClientMetadata.textLength - 13)}"}`
    assert.strictEqual(longest.length, ClientMetadata.textLength)
    assert.isTrue(Result.isSuccess(ClientMetadata.parse(longest)))
    const numbers = '{"a":9007199254740991,"b":9007199254740993,"c":-9007199254740999}'
    const refusal = Result.getOrThrow(Result.flip(ClientMetadata.parse(numbers)))
    assert.strictEqual(refusal.message, "the number 9007199254740993 must be sent as a string")
    assert.strictEqual(
      Result.getOrThrow(Result.flip(ClientMetadata.parse('{"a":1,"b":2,"b":3,"a":4}'))).message,
      'field "b" must be there only once'
    )
  })

  it("what looks like a second field, and is none", () => {
    const texts = [
      String.raw`{"a":"\"a\":1","b":"a"}`,
      String.raw`{"a":"\\","b":"\":"}`,
      '{"tenant":"tenant","x":"tenant:"}',
      '{"a":":","b":"{\\"a\\":12345678901234567890}"}',
      '{"constructor":1,"toString":"x","":null}'
    ]
    for (const text of texts) {
      const parsed = Result.getOrThrow(ClientMetadata.parse(text))
      assert.strictEqual(parsed.text, text)
      assert.deepStrictEqual(JSON.stringify(parsed.attributes), JSON.stringify(JSON.parse(text)))
    }
  })

  it("a name of one escaped character, also after another name that is written with the same first one", () => {
    const names = (text: string) => Object.keys(Result.getOrThrow(ClientMetadata.parse(text)).attributes)
    assert.deepStrictEqual(names(String.raw`{"a":0,"\\":1}`), ["a", "\\"])
    assert.deepStrictEqual(names(String.raw`{"a":0,"\t":1}`), ["a", "\t"])
    assert.deepStrictEqual(names(String.raw`{"a":0,"\u0062":1}`), ["a", "b"])
    assert.strictEqual(
      Result.getOrThrow(Result.flip(ClientMetadata.parse(String.raw`{"a":0,"\u0061":1}`))).fault,
      "duplicate_field"
    )
  })

  const Scalar = Schema.Union([AnyText, Schema.Int, Schema.Boolean, Schema.Null])

  it.prop(
    "whatever JSON writes of an object of scalars is read as it was, and as refused once a field of it is repeated",
    { fields: Schema.Record(AnyText, Scalar), spaced: Schema.Boolean },
    ({ fields, spaced }) => {
      const text = JSON.stringify(fields, undefined, spaced ? 2 : 0)
      const parsed = ClientMetadata.parse(text)
      const names = Object.keys(fields)
      const isPlain = !names.includes("__proto__") && text.isWellFormed() && !text.includes(String.raw`\u0000`)
      if (!isPlain || /\\ud[89a-f]/iu.test(text)) return
      assert.isTrue(Equal.equals(Result.getOrThrow(parsed).attributes, { ...fields }))
      const first = names[0]
      if (first === undefined) return
      const repeated = `${text.trimEnd().slice(0, -1)},${JSON.stringify(first)}:0}`
      assert.strictEqual(Result.getOrThrow(Result.flip(ClientMetadata.parse(repeated))).fault, "duplicate_field")
    },
    { arbitrary: { runs: 300 } }
  )
})
