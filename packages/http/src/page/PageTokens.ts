/**
 * Page tokens and cursors: the position of a row, sealed so that only its maker can have written it. A token names the
 * list that it is of; it carries nothing of the caller, who could tell all of it from the row that it stands for.
 *
 * The seal is HMAC-SHA-256 by Node's own implementation, which answers at once, within the encoding of an answer. It is
 * of a secret of the deployment, so that a page may come from one server and the next from another.
 *
 * Source: decisions.md §1 ("Cursors are opaque and tamper-evident (a bad one is 400)").
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { type SealPosition, tokenRule } from "@castellan/api/wire/PageWire"
import { InvalidRequest } from "@castellan/core/error/Failure"
import type { Position, PositionPage } from "@castellan/core/page/Page"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** The lists that are read page by page. A token of one is none of another. */
export type PagedList = "api-keys" | "audit-events" | "changes" | "executions" | "sandcastles"

/** The tokens of one list. */
export interface ListTokens {
  /** Writes the position of a row as a token. */
  readonly seal: SealPosition
  /** The page that `page_size` and `page_token` of a query ask for; 50 rows unless they say otherwise. */
  readonly page: (query: {
    readonly page_size?: number
    readonly page_token?: string
  }) => Effect.Effect<PositionPage, InvalidRequest>
  /** The page that `limit` and `cursor` of a query ask for; 50 rows unless they say otherwise. */
  readonly cursorPage: (query: {
    readonly limit?: number
    readonly cursor?: string
  }) => Effect.Effect<PositionPage, InvalidRequest>
}

/** Makes and reads the tokens of lists. */
export class PageTokens extends Context.Service<
  PageTokens,
  {
    /** The tokens of a list. */
    readonly of: (list: PagedList) => ListTokens
  }
>()("@castellan/http/page/PageTokens") {}

/** What tokens are sealed with. */
export interface PageTokensOptions {
  /** Every server of a deployment needs the same. At least 32 characters. */
  readonly secret: Redacted.Redacted<string>
}

/** Characters that a secret must have at least: shorter ones can be guessed from one token. */
export const minimumSecretLength = 32

/** Rows of a page whose query does not say how many. Source: decisions.md §1 ("default 50"). */
const defaultSize = 50

/** Bytes of the seal: half of the hash, which nobody finds by trying (RFC 2104 §5). */
const sealLength = 16

/** Bytes of the moment, in milliseconds since 1970. */
const momentLength = 8

const ofPosition = ({ at, id }: Position): Buffer => {
  const moment = Buffer.alloc(momentLength)
  moment.writeDoubleBE(DateTime.toEpochMillis(at))
  return Buffer.concat([moment, Buffer.from(id, "utf8")])
}

/** The position in a text that was sealed here, and is therefore well-formed. */
const toPosition = (bytes: Buffer): Position => ({
  at: DateTime.makeUnsafe(bytes.readDoubleBE(0)),
  id: bytes.toString("utf8", momentLength)
})

const tokensOf = (secret: string, list: PagedList): ListTokens => {
  // The purpose goes in first, so that what the same secret sealed for anything else is no token here.
  const sealOf = (position: Buffer): Buffer =>
    createHmac("sha256", secret).update(`castellan/page/1\n${list}\n`).update(position).digest().subarray(0, sealLength)

  const open = (token: string): Option.Option<Position> => {
    const bytes = Buffer.from(token, "base64url")
    const position = bytes.subarray(sealLength)
    // Decoding forgives characters that are no base64; the token must be the very one that was made.
    const genuine =
      position.length > momentLength &&
      bytes.toString("base64url") === token &&
      timingSafeEqual(bytes.subarray(0, sealLength), sealOf(position))
    return genuine ? Option.some(toPosition(position)) : Option.none()
  }

  const pageOf = (field: string, limit = defaultSize, token?: string): Effect.Effect<PositionPage, InvalidRequest> => {
    if (token === undefined) return Effect.succeed({ limit })
    const after = open(token)
    return Option.isSome(after)
      ? Effect.succeed({ limit, after: after.value })
      : Effect.fail(new InvalidRequest({ message: `${field}: ${tokenRule}` }))
  }

  return {
    seal: (at) => {
      const position = ofPosition(at)
      return Buffer.concat([sealOf(position), position]).toString("base64url")
    },
    page: (query) => pageOf("page_token", query.page_size, query.page_token),
    cursorPage: (query) => pageOf("cursor", query.limit, query.cursor)
  }
}

/** Seals with a secret. Dies when the secret is too short to be one. */
export const layer = (options: PageTokensOptions): Layer.Layer<PageTokens> =>
  Layer.effect(
    PageTokens,
    Effect.suspend(() => {
      const secret = Redacted.value(options.secret)
      return secret.length < minimumSecretLength
        ? Effect.die(new Error(`the secret of page tokens needs at least ${minimumSecretLength} characters`))
        : Effect.succeed(PageTokens.of({ of: (list) => tokensOf(secret, list) }))
    })
  )
