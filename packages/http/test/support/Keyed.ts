/** Requests with idempotency keys, and further servers of a site. */
import { CurrentPrincipal } from "@castellan/core/access/Principal"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import type * as CastellanHttp from "@castellan/http/CastellanHttp"
import * as NodeServer from "@castellan/http/server/NodeServer"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Site from "./Site.ts"

let drawn = 0

/** A key that no other test has used. */
export const newKey = (): string => `key-${(drawn += 1)}`

/** A call with a key. */
export const keyed = (key: string, headers: Site.Call["headers"] = {}): Site.Call => ({
  headers: { ...headers, "idempotency-key": key }
})

/** Asks for a new playbook: an operation without a body, whose effect can be counted. */
export const create = (key: string, what: Site.Call = {}) =>
  Site.call("/v2/playbooks", { method: "POST", ...what, headers: { "idempotency-key": key, ...what.headers } })

/** The id of what was made. */
export const idOf = (reply: Site.Reply): string => JSON.parse(reply.text).id

/** How many playbooks there are. */
export const playbooks = Effect.gen(function* () {
  const { admin } = yield* Site.Site
  const page = yield* Playbooks.use((all) =>
    all.list({ limit: 1, offset: 0, sortBy: "created_at", sortDirection: "desc" })
  ).pipe(Effect.provideService(CurrentPrincipal, admin), Effect.orDie)
  return page.totalCount
})

/** Whether a reply was given before. */
export const isReplay = (reply: Site.Reply): boolean => reply.headers["idempotent-replayed"] === "true"

/** Holds a reply to be a conflict about its key. */
export const conflict = (reply: Site.Reply, words: RegExp) => {
  assert.strictEqual(reply.status, 409, reply.text.slice(0, 300))
  const { code, message } = Site.envelopeOf(reply)
  assert.strictEqual(code, "conflict")
  assert.match(message, /^idempotency-key: /)
  assert.match(message, words)
}

/** A further server of the same deployment, with services of its own where they are given. */
export const server = (
  own: Context.Context<never> = Context.empty(),
  options: Omit<Site.SiteOptions, "deployment"> = {}
) =>
  Effect.gen(function* () {
    const site = yield* Site.Site
    const context = yield* Effect.context<CastellanHttp.Services>()
    const built = yield* Layer.build(
      NodeServer.layer(options.server).pipe(
        Layer.provide(Site.layerHttp(options)),
        Layer.provide(Layer.succeedContext(Context.merge(context, own)))
      )
    )
    return Site.Site.of({ ...site, port: Context.get(built, NodeServer.NodeServer).port })
  })
