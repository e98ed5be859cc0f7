/**
 * The reference of what is served: for programs (`/openapi.json`) and for people (`/docs`).
 *
 * The page is served whole from here, so it works without a network, and its policy lets it load nothing from anywhere
 * else. It is made on the first visit: the program that shows it has three megabytes, which no server should read at
 * its start.
 */
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"

/** How the reference is shown. */
export interface ReferencePageOptions {
  /** Where the service is reached from outside; absent: where the document came from. */
  readonly publicUrl?: string
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Castellan API reference</title>
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div id="reference"></div>
    <noscript>The reference needs JavaScript. The same in JSON: <a href="openapi.json">openapi.json</a></noscript>
    <script src="docs/reference.js"></script>
  </body>
</html>
`

/**
 * Starts the program with the document that lies beside the page. Its tools for developers would send the document to
 * its makers, which the page's policy forbids.
 */
const start = `
;window.Scalar.createApiReference(document.getElementById("reference"), {
  url: "openapi.json",
  authentication: { preferredSecurityScheme: "bearer" },
  showDeveloperTools: "never",
  withDefaultFonts: false,
  hideClientButton: true,
  telemetry: false
})
`

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** Effect ships the program inside its own page; this reads it from there. */
const readProgram = Effect.promise(async () => {
  const { dispose, handler } = HttpRouter.toWebHandler(HttpApiScalar.layer(HttpApi.make("empty")), {
    disableLogger: true
  })
  const html = await (await handler(new Request("http://localhost/docs"))).text()
  await dispose()
  const begin = html.indexOf("<script>") + "<script>".length
  return html.slice(begin, html.indexOf("</script>", begin)) + start
})

const compress = (text: string) => Effect.promise(() => promisify(gzip)(text))

/** A text that is made once, and sent compressed to whoever takes that. */
const text = Effect.fnUntraced(function* (make: Effect.Effect<string>, contentType: string) {
  const made = yield* Effect.cached(
    Effect.uninterruptible(
      Effect.gen(function* () {
        const plain = yield* make
        return { plain, compressed: new Uint8Array(yield* compress(plain)) }
      })
    )
  )
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { compressed, plain } = yield* made
    const headers = { "cache-control": "no-cache", vary: "accept-encoding" }
    return /\bgzip\b/.test(request.headers["accept-encoding"] ?? "")
      ? HttpServerResponse.uint8Array(compressed, { contentType, headers: { ...headers, "content-encoding": "gzip" } })
      : HttpServerResponse.text(plain, { contentType, headers })
  })
})

/** `/openapi.json`, `/docs` and the program of the latter. */
export const layer = (options: ReferencePageOptions = {}): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const contract = yield* text(
        Effect.map(
          Effect.promise(() => import("@castellan/api/openapi/OpenApiDocument")),
          ({ document }) =>
            JSON.stringify(
              options.publicUrl === undefined ? document : { ...document, servers: [{ url: options.publicUrl }] }
            )
        ),
        "application/json"
      )
      const program = yield* text(readProgram, "text/javascript; charset=utf-8")
      return Layer.mergeAll(
        HttpRouter.add("GET", "/openapi.json", contract),
        HttpRouter.add("GET", "/docs/reference.js", program),
        HttpRouter.add("GET", "/docs", (request) =>
          Effect.succeed(
            request.url.split("?", 1)[0]?.endsWith("/") === true
              ? // What the page refers to is relative to the place without the slash.
                HttpServerResponse.empty({ status: 308, headers: { location: "../docs" } })
              : HttpServerResponse.html(page).pipe(
                  HttpServerResponse.setHeaders({ "content-security-policy": pagePolicy, "cache-control": "no-cache" })
                )
          )
        )
      )
    })
  )
