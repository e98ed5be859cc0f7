/**
 * Which methods each path of the contract takes: what tells an unknown path from a wrong method.
 *
 * Source: decisions.md §1 ("route (404) and method (405, `Allow` header)").
 */
import * as FindMyWay from "effect/http/FindMyWay"
import type * as HttpRouter from "effect/http/HttpRouter"

/** How paths are matched: as they are written, and without a bound that would turn a long id into another answer. */
export const matching = { caseSensitive: true, maxParamLength: 16_384 } as const

/** The methods of each path. */
export interface RouteTable {
  /** Adds a route. */
  readonly add: (method: string, path: HttpRouter.PathInput) => void
  /** The methods that a path takes, as the `Allow` header lists them; nothing when no route has this path. */
  readonly allowed: (url: string) => string | undefined
}

/** An empty table. */
export const make = (): RouteTable => {
  const methods = new Set<string>()
  const router = FindMyWay.make<string>(matching)
  return {
    add: (method, path) => {
      methods.add(method)
      router.on(method, path, method)
    },
    allowed: (url) => {
      const found = [...methods].filter((method) => router.find(method, url) !== undefined)
      if (found.length === 0) return undefined
      if (found.includes("GET")) found.push("HEAD")
      return [...found, "OPTIONS"].toSorted().join(", ")
    }
  }
}
