/**
 * The operations of the contract by method and path: which one a request is for, and which methods each path takes, which
 * is what tells an unknown path from a wrong method.
 *
 * Source: decisions.md §1 ("route (404) and method (405, `Allow` header)").
 */
import * as FindMyWay from "effect/http/FindMyWay"
import type * as HttpRouter from "effect/http/HttpRouter"

/** How paths are matched: as they are written, and without a bound that would turn a long id into another answer. */
export const matching = { caseSensitive: true, maxParamLength: 16_384 } as const

/** What a route is for. */
interface Route {
  readonly method: string
  readonly path: HttpRouter.PathInput
}

/** The routes, each with what carries it out. */
export interface RouteTable<Operation> {
  /** Adds a route. */
  readonly add: (route: Route, operation: Operation) => void
  /** The route of a request, with the parts of its path and its query; that of GET answers HEAD as well. */
  readonly find: (method: string, url: string) => FindMyWay.FindResult<Operation> | undefined
  /** The methods that a path takes, as the `Allow` header lists them; nothing when no route has this path. */
  readonly allowed: (url: string) => string | undefined
}

/** The last part of a route that is a path itself, such as a file's: it takes the rest of the address. */
const innerPath = ":path"

/** A route that ends in a path, as the router takes it. */
const withRest = (path: HttpRouter.PathInput): HttpRouter.PathInput | undefined =>
  path.startsWith("/") && path.endsWith(`/${innerPath}`) ? `/${path.slice(1, -innerPath.length)}*` : undefined

/** A part of a path by its name; the rest of an address is the path that it ends in, and is none where it is empty. */
const named = <Operation>(
  found: FindMyWay.FindResult<Operation> | undefined
): FindMyWay.FindResult<Operation> | undefined => {
  if (found?.params["*"] === undefined) return found
  const { "*": path, ...params } = found.params
  return path === "" ? undefined : { ...found, params: { ...params, path } }
}

/** An empty table. */
export const make = <Operation>(): RouteTable<Operation> => {
  const methods = new Set<string>()
  const router = FindMyWay.make<Operation>(matching)
  const find = (method: string, url: string) => named(router.find(method, url))
  return {
    add: ({ method, path }, operation) => {
      methods.add(method)
      // Slashes of the inner path come as they are or as `%2F`: people write the one, clients of the contract the other.
      router.on(method, withRest(path) ?? path, operation)
    },
    find: (method, url) => find(method, url) ?? (method === "HEAD" ? find("GET", url) : undefined),
    allowed: (url) => {
      const found = [...methods].filter((method) => find(method, url) !== undefined)
      if (found.length === 0) return undefined
      if (found.includes("GET")) found.push("HEAD")
      return [...found, "OPTIONS"].toSorted().join(", ")
    }
  }
}
