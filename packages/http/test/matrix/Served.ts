/** A deployment behind a web handler in this process, and calls of it. */
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import type * as Deployment from "@castellan/testing/fixture/Deployment"
import { Context, Effect, Layer } from "effect"
import * as Site from "../support/Site.ts"

/** Everything that a test may want of a deployment. */
export type Parts = Layer.Success<ReturnType<typeof Deployment.layer>>

/** The handler. */
export class Served extends Context.Service<Served, CastellanHttp.WebHandler["handler"]>()(
  "@castellan/http/test/matrix/Served"
) {}

/** The handler over the deployment of the context. */
export const layer: Layer.Layer<Served, never, CastellanHttp.Services> = Layer.effect(
  Served,
  Effect.gen(function* () {
    const context = yield* Effect.context<CastellanHttp.Services>()
    const { handler } = yield* Effect.acquireRelease(
      Effect.sync(() => CastellanHttp.toWebHandler(Layer.succeedContext(context), { assetSecret: Site.assetSecret })),
      ({ dispose }) => Effect.promise(dispose)
    )
    return handler
  })
)

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends a request, and reads the answer to its end. */
export const send = (request: Request): Effect.Effect<Answer, never, Served> =>
  Effect.flatMap(Served, (handler) =>
    Effect.promise(async () => {
      const response = await handler(request)
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  )

/** Sends JSON and has it served; answers with the fields of the answer. */
export const json = Effect.fnUntraced(function* (method: string, path: string, key: string, body?: unknown) {
  const { status, text } = yield* send(
    new Request(`http://castellan.example${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  )
  if (status >= 300) return yield* Effect.die(new Error(`${method} ${path}: ${status} ${text}`))
  const parsed: unknown = JSON.parse(text)
  const fields: { readonly [name: string]: unknown } =
    typeof parsed === "object" && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {}
  return fields
})
