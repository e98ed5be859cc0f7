/**
 * Signed addresses of assets: whoever holds one may fetch that very asset in that very format until it expires. It
 * carries nothing of the caller, and any change to any part of it makes it worthless.
 *
 * The signature is HMAC-SHA-256 by Node's own implementation, which answers at once: an address is made for every
 * asset of every message that is shown, and within the encoding of a stream's frames, where nothing can be awaited.
 *
 * Source: decisions.md §4 ("Signed asset URLs").
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { SignAsset } from "@castellan/api/asset/AssetWire"
import { AssetFormat, AssetId } from "@castellan/core/asset/Asset"
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

/** What a valid address gives access to. */
export interface SignedAsset {
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

      // The purpose goes in first, so that a signature that the same secret made for anything else is none here.
      const tag = (id: string, format: string, expires: string): Buffer =>
        createHmac("sha256", secret).update(`castellan/asset/1\n${id}\n${format}\n${expires}`).digest()

      return AssetSignature.of({
        life,
        signer: (now) => {
          const expires = String(Math.floor((now + life) / 1000))
          return (asset, format) =>
            `${base}${asset.id}?format=${format}&expires=${expires}&signature=${tag(asset.id, format, expires).toString("base64url")}`
        },
        verify: ({ expires = "", format = "", id, signature = "" }, now) => {
          const expected = tag(id, format, expires)
          const given = Buffer.from(signature, "base64url")
          // Decoding forgives characters that are no base64; the address must be the very one that was made.
          const genuine =
            given.length === expected.length &&
            timingSafeEqual(given, expected) &&
            signature === expected.toString("base64url")
          if (!genuine || !isSecond(expires) || !isAssetId(id) || !isAssetFormat(format)) return Option.none()
          const expiresAt = Number(expires) * 1000
          return now < expiresAt ? Option.some({ id, format, expiresAt }) : Option.none()
        }
      })
    })
  )
