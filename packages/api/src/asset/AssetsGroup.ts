/**
 * The one operation of assets: fetching one by a signed address, without a credential.
 *
 * Source: decisions.md §4 ("Signed asset URLs live 15 minutes, carry no credential of the caller's, are bound to one
 * asset, and answer 403 once expired or altered").
 */
import { AssetFormat, AssetId, mediaType } from "@castellan/core/asset/Asset"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { NotFoundError, PermissionDeniedError } from "../error/ErrorEnvelope.ts"
import { SchemaErrors } from "../error/SchemaErrors.ts"
import { text, uuid } from "../wire/WireValue.ts"

/**
 * The query of a signed address as it comes. Every part may be missing or nonsense: an address that was altered in
 * any way is answered alike, with 403, and it is the signature that tells.
 */
export const SignedAssetQuery = Schema.Struct({
  format: Schema.optionalKey(Schema.String),
  expires: Schema.optionalKey(Schema.String),
  signature: Schema.optionalKey(Schema.String)
})
export type SignedAssetQuery = typeof SignedAssetQuery.Type

/** The query of an address as it was signed. */
export const SignedAsset = Schema.Struct({
  format: AssetFormat.annotate({ description: "The format to fetch" }),
  expires: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_999_999_999 })).annotate({
    description: "Until when the address works, in seconds since 1970"
  }),
  signature: text("The server's signature over the asset's id, the format and the expiry")
})
export type SignedAsset = typeof SignedAsset.Type

const get = HttpApiEndpoint.get("get", "/:id", {
  params: { id: uuid(AssetId, "The asset's id") },
  query: SignedAssetQuery,
  success: HttpApiSchema.StreamUint8Array({ contentType: Object.values(mediaType) }),
  error: [PermissionDeniedError, NotFoundError]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "getAsset",
    summary: "Fetch an asset",
    description:
      "The bytes of an asset in one of its formats. The address is signed: take it whole from an asset's `url` or `formats`. It works for 15 minutes and needs no credential; expired or altered, it is refused with 403."
  })
)

/** The operations of assets. */
export class AssetsGroup extends HttpApiGroup.make("assets")
  .add(get)
  .middleware(SchemaErrors)
  .prefix("/v2/assets")
  .annotateMerge(
    OpenApi.annotations({ title: "Assets", description: "Charts, tables, images and texts that answers come with" })
  ) {}
