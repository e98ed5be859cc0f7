/**
 * What a request is carried out in. A host's layers hold close to a hundred services; an operation has taken those that
 * it needs when it was made, and by its type asks for no other. What it still looks up while it is carried out are
 * references, which no type tells of: clock, tracer, loggers, limits. So the library's own services stay behind, and
 * those of cryptography, where every request would otherwise copy all of them, more than once.
 *
 * Whatever else there is stays: nobody here knows what it is for.
 *
 * Source: issue 4, "Measures".
 */
import { HostFolders } from "@castellan/core/connector/HostFolders"
import { PlaybookLimits } from "@castellan/core/playbook/PlaybookLimits"
import { RunLimits } from "@castellan/core/run/RunLimits"
import { SandcastleLimits } from "@castellan/core/sandcastle/SandcastleLimits"
import { IdentityTokens } from "@castellan/core/session/IdentityTokens"
import { SessionLimits } from "@castellan/core/session/SessionLimits"
import { ModelPrices } from "@castellan/core/usage/ModelPrices"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { HttpLimits } from "../HttpLimits.ts"
import { PublicUrl } from "../PublicUrl.ts"
import { Readiness } from "../system/Readiness.ts"

/** The references that a host sets: the library's, all of them as a test holds, and that of Effect's cryptography. */
const references = new Set(
  [
    HostFolders,
    HttpLimits,
    IdentityTokens,
    ModelPrices,
    PlaybookLimits,
    PublicUrl,
    Readiness,
    RunLimits,
    SandcastleLimits,
    SessionLimits,
    WebCrypto
  ].map(({ key }) => key)
)

/** Whether something of this key is a service that operations have taken when they were made. */
const isTaken = (key: string): boolean =>
  /^(?:@castellan\/(?:core|http|postgres)|effect\/crypto)\//.test(key) && !references.has(key)

/**
 * Services that a request adds to its surroundings before they are copied: more than any does, since a copy costs more
 * than a look through those that were added.
 */
const maxDepth = 32

/** The surroundings of requests, out of the context that the application is made or served in. */
export const of = (context: Context.Context<never>): Context.Context<never> =>
  Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !isTaken(key))), { maxDepth })

/** What an application has, where requests begin with it. */
class Joined extends Context.Service<Joined, Context.Context<never>>()("@castellan/http/request/Surroundings/Joined") {}

/** The surroundings of a server and of the application that it serves: where both have something, the application's. */
export const joined = (server: Context.Context<never>, application: Context.Context<never>): Context.Context<never> =>
  server.pipe(Context.merge(application), Context.merge(Context.make(Joined, application)))

/** The context of a request with what the application has, which it may have begun with. */
export const within = <R>(context: Context.Context<R>, application: Context.Context<never>): Context.Context<R> =>
  Context.getOrUndefined(context, Joined) === application ? context : Context.merge(context, application)
