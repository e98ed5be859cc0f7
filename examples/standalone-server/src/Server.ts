/**
 * The standalone server: settings, what it keeps, the application, and HTTP on a port.
 */
import { CastellanHttp, NodeServer, Pretenuring } from "@castellan/http"
import { Effect, Layer } from "effect"
import { application } from "./Application.ts"
import * as Keep from "./Keep.ts"
import * as Sandbox from "./Sandbox.ts"
import type { Settings } from "./Settings.ts"
import * as Storage from "./Storage.ts"

const announced = Layer.effectDiscard(
  NodeServer.NodeServer.use(({ url }) =>
    Effect.logInfo(`listening on ${url} (reference: ${url}/docs, OpenAPI: ${url}/openapi.json)`)
  )
)

/** The server of some settings. */
export const layer = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const keep = yield* Keep.open(settings.dataDirectory, settings.secret, settings.secretsKey)
      yield* Effect.logInfo(
        keep.isFirstStart
          ? `the first start made an admin key: ${keep.adminKeyPath}`
          : `the admin key is in ${keep.adminKeyPath}`
      )
      const sandbox = Sandbox.layer(settings.sandbox)
      return announced.pipe(
        Layer.provideMerge(NodeServer.layer({ host: settings.host, port: settings.port })),
        Layer.provide(
          CastellanHttp.layer({
            assetSecret: keep.secret,
            trustedProxies: settings.trustedProxies,
            ...(settings.corsOrigins.length === 0 ? {} : { cors: { origins: settings.corsOrigins } })
          })
        ),
        Layer.provide(application(settings, keep, sandbox)),
        // Both take their time to start, and neither waits for the other. It is one sandbox: a layer is built once.
        Layer.provide(Layer.merge(Storage.layer(settings, keep), sandbox)),
        Layer.provide(Pretenuring.layerOff)
      )
    })
  )
