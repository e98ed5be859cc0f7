/**
 * The methods of the promise client: their types from the contract, themselves from the table of routes.
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type { Api } from "../Api.ts"
import { routes } from "./Routes.ts"
import * as Transport from "./Transport.ts"

type Routes = typeof routes

type Groups = (typeof Api)["groups"]
type Endpoints<Group> = Group extends keyof Groups ? Groups[Group]["endpoints"] : never
type EndpointOf<Group extends string, Name extends string> =
  Endpoints<Group> extends { readonly [N in Name]: infer Endpoint } ? Endpoint : never

/** What a schema of the contract is on the wire. */
type WireOf<S> = S extends { readonly schema: { readonly Encoded: infer Wire } } ? Wire : never

/** What an operation answers, as JSON. */
export type Output<Group extends string, Name extends string> = WireOf<HttpApiEndpoint.Success<EndpointOf<Group, Name>>>
/** The body that an operation takes, as JSON. */
export type Body<Group extends string, Name extends string> = Exclude<
  WireOf<HttpApiEndpoint.Payload<EndpointOf<Group, Name>>>,
  undefined
>
/** The query that an operation takes. */
export type Query<Group extends string, Name extends string> = WireOf<HttpApiEndpoint.Query<EndpointOf<Group, Name>>>

/** An id in a path: a text, or a connector's number. */
export type PathId = string | number

type PathArguments<Route extends string> = Route extends `${string}{${string}{${string}`
  ? [id: PathId, item: string]
  : Route extends `${string}{${string}`
    ? [id: PathId]
    : []

type InputArguments<Route extends string, Group extends string, Name extends string> = Route extends `${string} !?`
  ? [body?: Body<Group, Name>]
  : Route extends `${string} !`
    ? [body: Body<Group, Name>]
    : Route extends `${string} ?`
      ? [query?: Query<Group, Name>]
      : []

/** A method of the client. It rejects with a `CastellanError`, or with the reason of its signal. */
export type Method<Route extends string, Group extends string, Name extends string> = (
  ...input: [...PathArguments<Route>, ...InputArguments<Route, Group, Name>, options?: Transport.RequestOptions]
) => Promise<Output<Group, Name>>

/** The methods that are made from the table. */
export type Methods = {
  readonly [Group in keyof Routes]: {
    readonly [Name in keyof Routes[Group]]: Routes[Group][Name] extends string
      ? Method<Routes[Group][Name], Group & string, Name & string>
      : never
  }
}

/** A value of a query: absent ones are left out, and a list is repeated. */
type QueryValue = string | number | boolean | ReadonlyArray<string> | undefined

/** A query as the end of an address. */
export const queryOf = (query: Readonly<Record<string, QueryValue>>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of typeof value === "object" ? value : [value]) search.append(name, String(one))
  }
  const text = search.toString()
  return text === "" ? "" : `?${text}`
}

/** A path with its ids in their places. */
export const pathOf = (template: string, ids: ReadonlyArray<unknown>): string => {
  let next = 0
  return template.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(ids[next++])))
}

const isQuery = (input: unknown): input is Readonly<Record<string, QueryValue>> =>
  typeof input === "object" && input !== null

const isOptions = (input: unknown): input is Transport.RequestOptions => typeof input === "object" && input !== null

/** The operations of the Connect protocol need its version, and those of the RPC surface the key in another header. */
const protocolOf = (path: string): Pick<Transport.ServiceRequest, "headers" | "credential"> => {
  if (path.startsWith("/v2/")) return {}
  if (path.endsWith("z")) return { credential: "none" }
  const headers = { "connect-protocol-version": "1" }
  return path.includes("/svc.rpc.") ? { headers, credential: "svc_api_key" } : { headers }
}

const methodOf = (transport: Transport.Transport, route: string) => {
  const [method = "", template = "", kind = ""] = route.split(" ")
  const ids = template.split("{").length - 1
  return async (...input: ReadonlyArray<unknown>): Promise<unknown> => {
    const argument = kind === "" ? undefined : input[ids]
    const options = input[kind === "" ? ids : ids + 1]
    const query = kind === "?" && isQuery(argument) ? queryOf(argument) : ""
    const response = await transport.send({
      method,
      path: pathOf(template, input) + query,
      ...(kind.startsWith("!") && argument !== undefined ? { body: argument } : {}),
      ...protocolOf(template),
      ...(isOptions(options) ? options : {})
    })
    return Transport.readJson<unknown>(response, isOptions(options) ? options.signal : undefined)
  }
}

/** An object from its entries. What it has is for its type to say: the table of routes is the one for both. */
const fromEntries = (entries: Iterable<ReadonlyArray<unknown>>) => Object.fromEntries(entries)

/** The methods of the table over a transport. */
export const make = (transport: Transport.Transport): Methods =>
  fromEntries(
    Object.entries(routes).map(([group, operations]) => [
      group,
      fromEntries(Object.entries(operations).map(([name, route]) => [name, methodOf(transport, route)]))
    ])
  )
