/**
 * The identity provider as the environment names it:
 *
 * | variable                 | what it is                                                     |
 * | ------------------------ | -------------------------------------------------------------- |
 * | `CASTELLAN_JWT_SECRET`   | a secret that tokens are signed with, of at least 32 characters |
 * | `CASTELLAN_JWKS_URL`     | where the keys are published that tokens are signed with        |
 * | `CASTELLAN_JWT_ISSUER`   | the claim `iss`; `castellan` unless set                         |
 * | `CASTELLAN_JWT_AUDIENCE` | the claim `aud`; `castellan` unless set                         |
 *
 * Source: decisions.md §3 ("Bearer values").
 */
import * as Config from "effect/Config"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type JwtIdentityOptions, minimumSecretLength } from "./JwtIdentity.ts"

const secretRule = `expected a secret of at least ${minimumSecretLength} characters`

const sharedSecret = Config.schema(
  Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(minimumSecretLength, { message: secretRule }))),
  "CASTELLAN_JWT_SECRET"
)

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

const urlRule = "expected an https URL (http on this machine alone): whoever answers there decides who is let in"

const keySetUrl = Config.schema(
  Schema.URLFromString.annotate({ message: urlRule }).check(
    Schema.makeFilter(
      ({ hostname, protocol }: URL) => protocol === "https:" || (protocol === "http:" && loopback.has(hostname)),
      { message: urlRule }
    )
  ),
  "CASTELLAN_JWKS_URL"
)

const optional = (name: string) => Config.option(Config.schema(Schema.NonEmptyString, name))

/** The identity provider of the environment; none where it names neither a secret nor keys. */
export const jwtIdentity: Config.Config<Option.Option<JwtIdentityOptions>> = Config.all({
  secret: Config.option(sharedSecret),
  url: Config.option(keySetUrl),
  issuer: optional("CASTELLAN_JWT_ISSUER"),
  audience: optional("CASTELLAN_JWT_AUDIENCE")
}).pipe(
  Config.map(({ audience, issuer, secret, url }) => {
    const claims = {
      ...(Option.isSome(issuer) ? { issuer: issuer.value } : {}),
      ...(Option.isSome(audience) ? { audience: audience.value } : {})
    }
    const keySet = Option.map(url, (found) => ({ url: found }))
    if (Option.isSome(secret)) {
      return Option.some({
        ...claims,
        secret: secret.value,
        ...(Option.isSome(keySet) ? { keySet: keySet.value } : {})
      })
    }
    return Option.map(keySet, (found) => ({ ...claims, keySet: found }))
  })
)
