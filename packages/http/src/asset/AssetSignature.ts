/**
 * Signed addresses of assets: whoever holds one may fetch that very asset in that very format until it expires. It
 * carries nothing of the caller, and any change to any part of it makes it worthless.
 *
 * The asset is looked up within its organization, as everything is. An address names it, but tells it to nobody: in
 * front of the signature, hidden by a second use of the secret that is different for every address.
 *
 * The signature is HMAC-SHA-256 by Node's own implementation, which answers at once: an address is made for every
 * asset of every message that is shown, and within the encoding of a stream's frames, where nothing can be awaited.
 *
 * Source: decisions.md §4 ("Signed asset URLs").
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { SignAsset } from "@castellan/api/asset/AssetWire"
import { AssetFormat, AssetId } from "@castellan/core/asset/Asset"
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { HttpLimits } from "../HttpLimits.ts"

/** What makes addresses. */
export interface AssetSignatureOptions {
  /**
   * The key of the signatures. Every server of a deployment needs the same; changing it ends every address that is
   * out. At least 32 characters.
   */
  readonly secret: Redacted.Redacted<string>
  /**
   * Where the service is reached from outside, such as `https://example.com/analytics`. Absent: addresses are relative
   * to the host (`/v2/assets/…`).
   */
  readonly publicUrl?: string
}

/** The parts of an address, as they come. */
export interface SignedParts {
  readonly id: string
  readonly format?: string | undefined
  readonly expires?: string | undefined
  readonly signature?: string | undefined
}

/** What an address says openly. */
type NamedParts = Record<"id" | "format" | "expires", string>

/** What a valid address gives access to. */
export interface SignedAsset {
  readonly organizationId: OrganizationId
  readonly id: AssetId
  readonly format: AssetFormat
  /** When it stops working, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Characters that a secret must have at least: shorter ones can be guessed from one address. */
export const minimumSecretLength = 32

/** Makes and checks signed addresses. */
export class AssetSignature extends Context.Service<
  AssetSignature,
  {
    /** Signs as of a moment, in milliseconds since 1970. */
    readonly signer: (now: number) => SignAsset
    /** What an address gives access to at a moment; nothing when it is altered or expired. */
    readonly verify: (parts: SignedParts, now: number) => Option.Option<SignedAsset>
    /** How long an address works, in milliseconds. */
    readonly life: number
  }
>()("@castellan/http/asset/AssetSignature") {}

const isAssetId = Schema.is(AssetId)
const isAssetFormat = Schema.is(AssetFormat)
const isOrganizationId = Schema.is(OrganizationId)

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex")

const uuidOf = (bytes: Buffer): string =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")

/** Bytes of an organization's id. */
const uuidLength = 16

const isSecond = (text: string): boolean => /^[0-9]{1,12}$/.test(text)

/** Makes and checks addresses with a secret. Dies when the secret is too short to be one. */
export const layer = (options: AssetSignatureOptions): Layer.Layer<AssetSignature> =>
  Layer.effect(
    AssetSignature,
    Effect.gen(function* () {
      const secret = Redacted.value(options.secret)
      if (secret.length < minimumSecretLength) {
        return yield* Effect.die(
          new Error(`the secret of signed asset URLs needs at least ${minimumSecretLength} characters`)
        )
      }
      const life = Duration.toMillis((yield* HttpLimits).assetLife)
      const base = `${(options.publicUrl ?? "").replace(/\/+$/, "")}/v2/assets/`

      // The purpose goes in first, so that what the same secret made for anything else is worth nothing here.
      const digest = (purpose: string, { expires, format, id }: NamedParts, more: Buffer): Buffer =>
        createHmac("sha256", secret)
          .update(`castellan/asset/${purpose}/2\n${id}\n${format}\n${expires}\n`)
          .update(more)
          .digest()

      /** Hides an organization in an address, and finds it again. */
      const hide = (organization: Buffer, parts: NamedParts): Buffer => {
        const mask = digest("organization", parts, Buffer.alloc(0))
        return Buffer.from(organization.map((byte, index) => byte ^ (mask[index] ?? 0)))
      }

      const sign = (hidden: Buffer, parts: NamedParts): string =>
        Buffer.concat([hidden, digest("signature", parts, hidden)]).toString("base64url")

      return AssetSignature.of({
        life,
        signer: (now) => {
          const expires = String(Math.floor((now + life) / 1000))
          return (asset, format) => {
            const parts = { id: asset.id, format, expires }
            const signature = sign(hide(bytesOf(asset.organizationId), parts), parts)
            return `${base}${asset.id}?format=${format}&expires=${expires}&signature=${signature}`
          }
        },
        verify: ({ expires = "", format = "", id, signature = "" }, now) => {
          const parts = { id, format, expires }
          const hidden = Buffer.from(signature, "base64url").subarray(0, uuidLength)
          // Compared as text: decoding forgives characters that are no base64, and the address must be the very one
          // that was made.
          const expected = Buffer.from(sign(hidden, parts))
          const given = Buffer.from(signature)
          if (given.length !== expected.length || !timingSafeEqual(given, expected)) return Option.none()
          const organizationId = uuidOf(hide(hidden, parts))
          if (!isOrganizationId(organizationId) || !isSecond(expires) || !isAssetId(id) || !isAssetFormat(format)) {
            return Option.none()
          }
          const expiresAt = Number(expires) * 1000
          return now < expiresAt ? Option.some({ organizationId, id, format, expiresAt }) : Option.none()
        }
      })
    })
  )
