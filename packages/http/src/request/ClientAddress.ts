/**
 * The address of the client of a request: for the audit log, and for limits that go by it.
 *
 * Behind proxies, the socket's other end is a proxy. Each proxy adds the address that it was called from to the end of
 * `X-Forwarded-For`; whatever was there before, anybody may have written. So only a host that says how many proxies it
 * has is believed: with one, the last address counts, with two the one before, and so on.
 *
 * Source: decisions.md §3 ("Audit log": IP; "A separate limit per client address").
 */
import { isIP } from "node:net"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"

/** An address without its port and brackets, and an IPv4 one as such; nothing for what is no address. */
const plain = (written: string): string | undefined => {
  const text = written.trim()
  // As most of them are, they are not taken apart.
  if (isIP(text) === 4) return text
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const address = bare.replace(/^::ffff:(?=[\d.]+$)/i, "")
  return isIP(address) === 0 ? undefined : address
}

/** The client's address, behind so many proxies; nothing where it cannot be told. */
export const of = (
  request: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">,
  trustedProxies: number
): string | undefined => {
  const socket = Option.getOrUndefined(request.remoteAddress)
  // What a socket tells is an address as such, but for an IPv4 one that is written as one of IPv6.
  const own = socket === undefined || !socket.includes(":") ? socket : (plain(socket) ?? socket)
  if (trustedProxies < 1) return own
  const forwarded = (request.headers["x-forwarded-for"] ?? "").split(",").at(-trustedProxies)
  // Fewer addresses than proxies: the request has come another way, and what it says of itself is not believed.
  return (forwarded === undefined ? undefined : plain(forwarded)) ?? own
}

/** The 16-bit groups of an IPv6 address, as far as the first four are concerned. */
const network = (address: string): string => {
  const [head = "", tail] = address.toLowerCase().split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array.from({ length: missing }, () => "0"), ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")
}

/** Whom a limit by address is about: an IPv4 address, or the /64 network that one IPv6 host has all addresses of. */
export const holder = (address: string): string => (isIP(address) === 6 ? `${network(address)}::/64` : address)
