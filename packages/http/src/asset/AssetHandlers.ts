/**
 * Serves assets to whoever holds a signed address.
 *
 * What an asset holds came from data and from a model, so it is never trusted: it is named by its true media type, which
 * browsers may not guess otherwise, and may do nothing: no script, no frame, no form, nothing loaded.
 *
 * Source: decisions.md §4 ("Signed asset URLs").
 */
import { Api } from "@castellan/api/Api"
import { type AssetFormat, mediaType } from "@castellan/core/asset/Asset"
import { AssetStore } from "@castellan/core/asset/AssetStore"
import { NotFound, PermissionDenied } from "@castellan/core/error/Failure"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as AssetFileName from "./AssetFileName.ts"
import { AssetSignature } from "./AssetSignature.ts"
import * as ContentDisposition from "../request/ContentDisposition.ts"
import * as OperationServices from "../request/OperationServices.ts"

/**
 * Formats that a browser shows; the others it offers to save. A page is saved: shown at this address, it would pass for
 * one of the host's own, whatever it may not do.
 */
const shown: ReadonlySet<AssetFormat> = new Set(["png", "jpeg", "gif", "svg", "txt", "json"])

const refused = new PermissionDenied({ message: "the address of the asset has expired or was altered" })

const headersOf = (name: string, format: AssetFormat, secondsLeft: number) => ({
  "content-disposition": ContentDisposition.make(
    shown.has(format) ? "inline" : "attachment",
    AssetFileName.make(name, format)
  ),
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  // What an address shows never changes, and nobody may show it for longer than the address works.
  "cache-control": `private, max-age=${secondsLeft}, immutable`
})

/** The one operation of assets. */
export const layer = HttpApiBuilder.group(
  Api,
  "assets",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* AssetStore
    const signature = yield* AssetSignature
    return handlers.handle(
      "get",
      Effect.fnUntraced(function* ({ params, query }) {
        const now = yield* Clock.currentTimeMillis
        const signed = signature.verify({ id: params.id, ...query }, now)
        if (Option.isNone(signed)) return yield* refused
        const { expiresAt, format, id, organizationId } = signed.value
        const body = yield* store.open(organizationId, id, format)
        if (Option.isNone(body)) return yield* new NotFound({ message: "asset not found" })
        const { name = id, pieces, size } = body.value
        return HttpServerResponse.stream(pieces, {
          contentType: mediaType[format],
          contentLength: size,
          headers: headersOf(name, format, Math.floor((expiresAt - now) / 1000))
        })
      })
    )
  }, OperationServices.given)
)
