/**
 * Castellan over HTTP: every operation of the contract, bound to the use cases of the core.
 *
 * - `layer` is the application. `NodeServer.layer` serves it on a port.
 * - `toWebHandler` turns it into a `(Request) => Promise<Response>` for any framework.
 * - `mount` puts it under a prefix of a host's own router.
 *
 * The layers of a server:
 *
 * ```ts
 * NodeServer.layer({ port: 8080 }).pipe(
 *   Layer.provide(CastellanHttp.layer({ assetSecret })),
 *   Layer.provide(Castellan.layer()), // the use cases of the core, over a host's stores and ports
 * )
 * ```
 *
 * Source: architecture.md §1; decisions.md §1.
 */
import { Api } from "@castellan/api/Api"
import type { Accesses } from "@castellan/core/access/Accesses"
import type { Agents } from "@castellan/core/agent/Agents"
import type { Apps } from "@castellan/core/app/Apps"
import type { Authentication } from "@castellan/core/access/Authentication"
import type { ApiKeys } from "@castellan/core/apikey/ApiKeys"
import type { AssetStore } from "@castellan/core/asset/AssetStore"
import type { Changes } from "@castellan/core/change/Changes"
import type { Chats } from "@castellan/core/chat/Chats"
import type { Connectors } from "@castellan/core/connector/Connectors"
import type { FolderPolicies } from "@castellan/core/folderpolicy/FolderPolicies"
import type { IdempotencyStore } from "@castellan/core/idempotency/IdempotencyStore"
import type { Models } from "@castellan/core/model/Models"
import type { Administration } from "@castellan/core/organization/Administration"
import type { PlaybookExecution } from "@castellan/core/playbook/PlaybookExecution"
import type { Playbooks } from "@castellan/core/playbook/Playbooks"
import type { RowPolicies } from "@castellan/core/rowpolicy/RowPolicies"
import type { RunLog } from "@castellan/core/run/RunLog"
import type { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import type { Sessions } from "@castellan/core/session/Sessions"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as AccessHandlers from "./access/AccessHandlers.ts"
import * as BearerAuthentication from "./access/BearerAuthentication.ts"
import * as ApiKeyHandlers from "./apikey/ApiKeyHandlers.ts"
import * as AgentHandlers from "./agent/AgentHandlers.ts"
import * as LongOperations from "./answer/LongOperations.ts"
import * as AppHandlers from "./app/AppHandlers.ts"
import * as AssetHandlers from "./asset/AssetHandlers.ts"
import * as AssetSignature from "./asset/AssetSignature.ts"
import * as AuditEventHandlers from "./audit/AuditEventHandlers.ts"
import * as ChangeHandlers from "./change/ChangeHandlers.ts"
import * as ChatHandlers from "./chat/ChatHandlers.ts"
import * as ConnectorHandlers from "./connector/ConnectorHandlers.ts"
import * as FolderPolicyHandlers from "./folderpolicy/FolderPolicyHandlers.ts"
import * as Cors from "./cors/Cors.ts"
import { HttpLimits, longestRequest } from "./HttpLimits.ts"
import * as Idempotency from "./idempotency/Idempotency.ts"
import * as MemberHandlers from "./member/MemberHandlers.ts"
import * as ModelHandlers from "./model/ModelHandlers.ts"
import * as OrganizationHandlers from "./organization/OrganizationHandlers.ts"
import * as PageTokens from "./page/PageTokens.ts"
import * as PlaybookHandlers from "./playbook/PlaybookHandlers.ts"
import * as PublicUrl from "./PublicUrl.ts"
import * as Admission from "./request/Admission.ts"
import * as AdmittedOperations from "./request/AdmittedOperations.ts"
import * as Deadline from "./request/Deadline.ts"
import * as ErrorResponse from "./request/ErrorResponse.ts"
import * as OperationServices from "./request/OperationServices.ts"
import * as RequestBoundary from "./request/RequestBoundary.ts"
import * as RouteTable from "./request/RouteTable.ts"
import * as SchemaRefusals from "./request/SchemaRefusals.ts"
import * as RoleHandlers from "./role/RoleHandlers.ts"
import * as SessionHandlers from "./session/SessionHandlers.ts"
import * as ConnectCall from "./rpc/ConnectCall.ts"
import { challengeOf } from "./rpc/ConnectRoutes.ts"
import * as ConnectSecurity from "./rpc/ConnectSecurity.ts"
import * as RpcHandlers from "./rpc/RpcHandlers.ts"
import * as SandcastleHandlers from "./sandcastle/SandcastleHandlers.ts"
import * as RunBroadcast from "./stream/RunBroadcast.ts"
import * as ReferencePage from "./system/ReferencePage.ts"
import * as SystemHandlers from "./system/SystemHandlers.ts"
import * as UsageHandlers from "./usage/UsageHandlers.ts"

/** How the service presents itself. */
export interface CastellanHttpOptions {
  /**
   * The key of signed asset addresses, of page tokens and of kept answers, at least 32 characters. Every server of a
   * deployment needs the same.
   */
  readonly assetSecret: AssetSignature.AssetSignatureOptions["secret"]
  /**
   * Where the service is reached from outside, with the prefix that it is mounted under, if any:
   * `https://example.com/analytics`, or `/analytics`. It stands in front of the addresses that answers hold. Absent:
   * they begin with `/v2`.
   */
  readonly publicUrl?: string
  /** Which pages of other origins may call the service from a browser. Absent: none. */
  readonly cors?: Cors.CorsOptions
  /**
   * How many proxies stand in front of the service, each of which adds the address of its caller to
   * `X-Forwarded-For`. Default 0: the client is whoever holds the other end of the connection.
   */
  readonly trustedProxies?: number
}

/** The application. */
export class CastellanHttp extends Context.Service<
  CastellanHttp,
  {
    /** Answers one request. What carries it out is uninterruptible around it, as Effect's servers are. */
    readonly app: RequestBoundary.HttpApp
    /**
     * What requests are carried out among, beside what their server has. One that begins them with both, as
     * `Surroundings.joined` makes it, spares each of them a copy.
     */
    readonly surroundings: Context.Context<never>
    /** Ends every stream, so that clients resume elsewhere; for a server that stops. */
    readonly endStreams: Effect.Effect<void>
    /** How many streams there are, and what they take. */
    readonly streams: Effect.Effect<RunBroadcast.BroadcastState>
  }
>()("@castellan/http/CastellanHttp") {}

/** The use cases and ports of the core that the operations need. */
export type Services =
  | Accesses
  | Administration
  | Agents
  | ApiKeys
  | Apps
  | AssetStore
  | Authentication
  | Changes
  | Chats
  | Connectors
  | FolderPolicies
  | IdempotencyStore
  | Models
  | PlaybookExecution
  | Playbooks
  | RowPolicies
  | RunLog
  | Sandcastles
  | Sessions

const routes = (options: CastellanHttpOptions) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(Api).pipe(
      // Two layers, for there are more than one takes; side by side, so that none is made among the others' operations.
      Layer.provide(
        Layer.mergeAll(
          Layer.mergeAll(
            AgentHandlers.layer,
            AppHandlers.layer,
            AssetHandlers.layer,
            ChangeHandlers.layer,
            ChatHandlers.layer,
            ConnectorHandlers.layer,
            FolderPolicyHandlers.layer,
            ModelHandlers.layer,
            PlaybookHandlers.layer,
            RpcHandlers.layer,
            SandcastleHandlers.layer,
            SystemHandlers.layer
          ),
          Layer.mergeAll(
            AccessHandlers.layer,
            ApiKeyHandlers.layer,
            AuditEventHandlers.layer,
            MemberHandlers.layer,
            OrganizationHandlers.layer,
            RoleHandlers.layer,
            SessionHandlers.layer,
            UsageHandlers.layer
          )
        )
      ),
      Layer.provide(
        Layer.mergeAll(BearerAuthentication.layer, ConnectSecurity.layer, SchemaRefusals.layer).pipe(
          Layer.provide(Admission.layer),
          Layer.provide(OperationServices.layer)
        )
      )
    ),
    ReferencePage.layer(options)
  )

const addresses = ({ assetSecret, publicUrl }: CastellanHttpOptions): AssetSignature.AssetSignatureOptions => ({
  secret: assetSecret,
  ...(publicUrl === undefined ? {} : { publicUrl })
})

/** The application, from the use cases of the core. */
export const layer = (options: CastellanHttpOptions): Layer.Layer<CastellanHttp, never, Services> =>
  Layer.effect(
    CastellanHttp,
    Effect.gen(function* () {
      const limits = yield* HttpLimits
      const broadcast = yield* RunBroadcast.RunBroadcast
      const idempotency = yield* Idempotency.Idempotency
      const deadline = yield* Deadline.make(limits.requestTimeout)
      // A client that leaves, or a server that stops, ends what takes long. A router is interruptible in its routes
      // alone, and this is around them.
      const inLongTime = (app: RequestBoundary.HttpApp<unknown>): RequestBoundary.HttpApp<unknown> =>
        Effect.interruptible(
          Effect.timeoutOrElse(app, {
            duration: longestRequest(limits),
            orElse: () => Effect.succeed(ErrorResponse.timeout)
          })
        )

      const operationOf = (route: HttpRouter.Route<unknown, unknown>, app: RequestBoundary.HttpApp<unknown>) => {
        const { method, path } = route
        const once = method === "POST" ? ConnectCall.around(idempotency.around(app)) : app
        const isLong = LongOperations.isFor({ method, url: path })
        return {
          route,
          app: isLong ? inLongTime(once) : deadline.hold(once, ErrorResponse.timeout),
          challenge: challengeOf(path)
        }
      }

      const admitted = AdmittedOperations.make()
      const table = RouteTable.make<RequestBoundary.Operation>()
      const router = yield* HttpRouter.make
      const recording: HttpRouter.HttpRouter = HttpRouter.HttpRouter.of({
        ...router,
        add: (method, path, handler, handling) => recording.addAll([HttpRouter.route(method, path, handler, handling)]),
        addAll: (added) =>
          Effect.sync(() => {
            for (const route of added) {
              const handler = admitted.find(route) ?? route.handler
              const app = route.uninterruptible ? handler : Effect.interruptible(handler)
              table.add(route, operationOf(route, app))
            }
          })
      })
      const surroundings = yield* OperationServices.surroundings(ByteSize.bytes(limits.maxBodyBytes))
      yield* Effect.updateContext(
        Layer.build(
          routes(options).pipe(
            Layer.provide(Layer.succeed(HttpRouter.HttpRouter, recording)),
            Layer.provide(Layer.succeed(AdmittedOperations.AdmittedOperations, admitted)),
            Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limits.maxBodyBytes)))
          )
        ),
        OperationServices.only
      )

      return CastellanHttp.of({
        app: RequestBoundary.make(table, {
          cors: Cors.make(options.cors),
          trustedProxies: options.trustedProxies ?? 0,
          surroundings
        }),
        surroundings,
        endStreams: broadcast.close,
        streams: broadcast.state
      })
    })
  ).pipe(
    Layer.provide(Idempotency.layer({ secret: options.assetSecret })),
    Layer.provide(RunBroadcast.layer),
    Layer.provide(AssetSignature.layer(addresses(options))),
    // One secret does for all: what is sealed names its purpose.
    Layer.provide(PageTokens.layer({ secret: options.assetSecret })),
    Layer.provide(Layer.succeed(PublicUrl.PublicUrl, PublicUrl.normalize(options.publicUrl))),
    Layer.provide(HttpServer.layerServices)
  )

/**
 * Puts the application under a prefix of a host's router, such as `/analytics`; everything beneath it is then
 * Castellan's, unknown paths as well. Set `publicUrl` to match.
 */
export const mount = (prefix: `/${string}`): Layer.Layer<never, never, CastellanHttp | HttpRouter.HttpRouter> =>
  HttpRouter.use((router) =>
    Effect.flatMap(CastellanHttp, ({ app }) => router.prefixed(prefix).add("*", "/*", app, { uninterruptible: true }))
  )

/** An application that is asked for paths beneath a prefix. A path that has lost the prefix already is taken too. */
const beneath = (prefix: string, app: RequestBoundary.HttpApp): RequestBoundary.HttpApp => {
  const base = prefix.replace(/\/+$/, "")
  return Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) => {
    if (!request.url.startsWith(base)) return request
    const rest = request.url.slice(base.length)
    if (rest.startsWith("/")) return request.modify({ url: rest })
    return rest === "" || rest.startsWith("?") ? request.modify({ url: `/${rest}` }) : request
  })
}

/** How a web handler is made. */
export interface WebHandlerOptions extends CastellanHttpOptions {
  /** The prefix that the paths of the requests have, such as `/analytics`. Set `publicUrl` to match. */
  readonly prefix?: `/${string}`
}

/** A handler for any framework that speaks the web's requests and responses. */
export interface WebHandler {
  /** Answers a request. It rejects only when the layer could not be built. */
  readonly handler: (request: Request) => Promise<Response>
  /** Ends the streams and releases what the layer holds. */
  readonly dispose: () => Promise<void>
}

/** The application as a web handler, over a layer with the use cases of the core. */
export const toWebHandler = <E>(services: Layer.Layer<Services, E>, options: WebHandlerOptions): WebHandler => {
  const { dispose, handler } = HttpEffect.toWebHandlerLayerWith(Layer.provide(layer(options), services), {
    toHandler: (context) => {
      const { app } = Context.get(context, CastellanHttp)
      return Effect.succeed(options.prefix === undefined ? app : beneath(options.prefix, app))
    }
  })
  return { dispose, handler: (request) => handler(request) }
}
