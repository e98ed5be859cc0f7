/**
 * The keys that secrets are kept encrypted with, as the environment names them:
 *
 * | variable                        | what it is                                                             |
 * | ------------------------------- | ---------------------------------------------------------------------- |
 * | `CASTELLAN_SECRETS_KEY`         | the current key: its id, a colon, and 32 bytes in base64               |
 * | `CASTELLAN_SECRETS_FORMER_KEYS` | keys that secrets may still be encrypted with, alike, parted by commas |
 *
 * A new key: `echo "2031-02:$(openssl rand -base64 32)"`.
 */
import type { SecretKeyTexts } from "@castellan/core/secret/SecretKeys"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

const current = Config.Redacted("CASTELLAN_SECRETS_KEY")

const former = Config.Redacted("CASTELLAN_SECRETS_FORMER_KEYS").pipe(
  Config.option,
  Config.map((texts) =>
    Option.match(texts, {
      onNone: () => [],
      onSome: (all) =>
        Redacted.value(all)
          .split(",")
          .filter((text) => text.trim() !== "")
          .map((text) => Redacted.make(text))
    })
  )
)

/** The keys of the environment, as texts; it is an error to name none as the current one. */
export const texts: Config.Config<SecretKeyTexts> = Config.all({ current, former })

/** The former keys of the environment alone, for who has a current key from elsewhere. */
export const formerTexts: Config.Config<ReadonlyArray<Redacted.Redacted<string>>> = former

/** The keys of the environment. */
export const layer: Layer.Layer<SecretKeys.SecretKeys, Config.ConfigError | SecretKeys.SecretKeysRefusal> =
  Layer.unwrap(Effect.map(texts, SecretKeys.layer))
