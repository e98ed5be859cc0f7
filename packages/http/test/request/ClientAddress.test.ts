import * as ClientAddress from "@castellan/http/request/ClientAddress"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { Headers } from "effect/http"

const request = (forwarded: string | undefined, socket: string | undefined = "10.0.0.1") => ({
  headers: Headers.fromInput(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }),
  remoteAddress: Option.fromUndefinedOr(socket)
})

describe("the address of a client", () => {
  const rows: ReadonlyArray<
    readonly [what: string, proxies: number, forwarded: string | undefined, address: string | undefined]
  > = [
    ["no proxy: nobody's word is taken", 0, "192.0.2.1", "10.0.0.1"],
    ["one proxy: the last counts", 1, "6.6.6.6, 192.0.2.1", "192.0.2.1"],
    ["two proxies: the one before the last", 2, "6.6.6.6, 192.0.2.1, 10.1.1.1", "192.0.2.1"],
    ["fewer addresses than proxies", 2, "192.0.2.1", "10.0.0.1"],
    ["no header", 1, undefined, "10.0.0.1"],
    ["no address", 1, "unknown", "10.0.0.1"],
    ["an address with a port", 1, "192.0.2.1:4711", "192.0.2.1"],
    ["IPv6", 1, "2001:db8::1", "2001:db8::1"],
    ["IPv6 with a port", 1, "[2001:db8::1]:4711", "2001:db8::1"],
    ["IPv4 as IPv6", 1, "::ffff:192.0.2.1", "192.0.2.1"],
    ["blanks", 1, "6.6.6.6 ,\t192.0.2.1 ", "192.0.2.1"],
    ["an empty end", 1, "192.0.2.1,", "10.0.0.1"]
  ]
  for (const [what, proxies, forwarded, address] of rows) {
    it(what, () => assert.strictEqual(ClientAddress.of(request(forwarded), proxies), address))
  }

  it("may be unknown", () => {
    assert.isUndefined(ClientAddress.of({ ...request(undefined), remoteAddress: Option.none() }, 1))
    assert.strictEqual(ClientAddress.of(request(undefined, "::ffff:192.0.2.1"), 0), "192.0.2.1")
  })
})

describe("whom a limit by address is about", () => {
  for (const [address, holder] of [
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0000:0000:1:2:3:4", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::", "2001:db8:0:1::/64"],
    ["::1", "0:0:0:0::/64"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4::/64"],
    ["1::8", "1:0:0:0::/64"],
    ["fe80::1:2:3:4:5", "fe80:0:0:1::/64"]
  ] as const) {
    it(address, () => assert.strictEqual(ClientAddress.holder(address), holder))
  }
})
