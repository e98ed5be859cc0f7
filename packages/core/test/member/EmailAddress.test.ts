import { EmailAddress } from "@castellan/core/member/EmailAddress"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const is = Schema.is(EmailAddress)

describe("EmailAddress", () => {
  for (const address of [
    "ada@acme.example",
    "Ada.Lovelace+reports@mail.acme-corp.example",
    "o'brien_1@x.co",
    "a@1.example",
    `${"a".repeat(64)}@acme.example`,
    `a@${"a".repeat(63)}.example`
  ]) {
    it(`takes ${address}`, () => assert.isTrue(is(address)))
  }
  for (const address of [
    "",
    "ada",
    "@acme.example",
    "ada@",
    "ada@acme",
    "ada@@acme.example",
    "ada@acme..example",
    ".ada@acme.example",
    "ada.@acme.example",
    "a..da@acme.example",
    "ada@-acme.example",
    "ada@acme-.example",
    "ada @acme.example",
    " ada@acme.example",
    "ada@acme.example\n",
    "ada@acme.example,bob@acme.example",
    "Ada <ada@acme.example>",
    `"ada"@acme.example`,
    "ada@[127.0.0.1]",
    "ada\u0000@acme.example",
    `${"a".repeat(65)}@acme.example`,
    `a@${"a".repeat(64)}.example`,
    `a@${"a.".repeat(125)}example`
  ]) {
    it(`refuses ${JSON.stringify(address)}`, () => assert.isFalse(is(address)))
  }
})
