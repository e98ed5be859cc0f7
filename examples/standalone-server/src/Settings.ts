/**
 * The settings of the standalone server, all read from the environment, with errors that name the variable.
 */
import * as JwtConfig from "@castellan/http/identity/JwtConfig"
import type { JwtIdentityOptions } from "@castellan/http/identity/JwtIdentity"
import type * as PostgresDatabase from "@castellan/postgres/database/PostgresDatabase"
import * as SecretKeysConfig from "@castellan/postgres/secret/SecretKeysConfig"
import { Config, Effect, Option, type Redacted, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Which sandboxes run programs: the strongest that the machine can keep the promises of, one kind, or none. */
export const SandboxKind = Schema.Literals(["auto", "linux", "embedded", "none"])
export type SandboxKind = typeof SandboxKind.Type

/** The sandboxes of the server. */
export interface SandboxSettings {
  /** `CASTELLAN_SANDBOX` */
  readonly kind: SandboxKind
  /** Linux: a folder that holds a Python, instead of the host's own (`CASTELLAN_SANDBOX_ROOT`). */
  readonly root: Option.Option<string>
  /** Embedded: a folder of Pyodide's wheels (`CASTELLAN_SANDBOX_PACKAGES`). */
  readonly packages: Option.Option<string>
  /** Bytes of memory that a session may use (`CASTELLAN_SANDBOX_MEMORY`, in MiB). */
  readonly memory: Option.Option<number>
  /** Wall-clock time of one program or command, in seconds (`CASTELLAN_SANDBOX_TIMEOUT`). */
  readonly timeout: Option.Option<number>
}

/** The settings of the standalone server. */
export interface Settings {
  /** Address to listen on (`HOST`). */
  readonly host: string
  /** Port to listen on (`PORT`); 0 takes a free one. */
  readonly port: number
  /**
   * Pages of other origins that may call the server from a browser (`CASTELLAN_CORS_ORIGINS`, separated by commas); none
   * unless they are named here.
   */
  readonly corsOrigins: ReadonlyArray<string>
  /**
   * Proxies in front of the server, each of which adds its caller's address to `X-Forwarded-For`
   * (`CASTELLAN_TRUSTED_PROXIES`); none unless they are counted here, so that nobody can write themselves an address.
   */
  readonly trustedProxies: number
  /** Folder of everything that the server keeps (`CASTELLAN_DATA_DIR`). */
  readonly dataDirectory: string
  /**
   * Secret of what the server signs itself: asset URLs, page tokens and sessions (`CASTELLAN_SECRET`). Every server of a
   * deployment needs the same; without one, the first start makes and keeps its own.
   */
  readonly secret: Option.Option<Redacted.Redacted<string>>
  /**
   * The identity provider whose tokens let members in (`CASTELLAN_JWT_SECRET` or `CASTELLAN_JWKS_URL`, with
   * `CASTELLAN_JWT_ISSUER` and `CASTELLAN_JWT_AUDIENCE`); without one, keys and sessions alone do.
   */
  readonly identityProvider: Option.Option<JwtIdentityOptions>
  /**
   * The PostgreSQL server that keeps everything (`CASTELLAN_DATABASE_URL`), with `CASTELLAN_DATABASE_OWNER_URL` and
   * `CASTELLAN_DATABASE_ALLOW_OWNER`; without one, everything is in the data folder.
   */
  readonly database: Option.Option<PostgresDatabase.PostgresDatabaseOptions>
  /** What secrets are encrypted with (`CASTELLAN_SECRETS_KEY`); without it, the first start makes and keeps a key. */
  readonly secretsKey: Option.Option<Redacted.Redacted<string>>
  /** What secrets may still be encrypted with (`CASTELLAN_SECRETS_FORMER_KEYS`). */
  readonly formerSecretsKeys: ReadonlyArray<Redacted.Redacted<string>>
  /** Folder to serve instead of the sample data (`CASTELLAN_FILES`). */
  readonly files: Option.Option<string>
  /** What runs programs. */
  readonly sandbox: SandboxSettings
  /** Name of the organization of the first start (`CASTELLAN_ORGANIZATION`). */
  readonly organization: string
  /** E-mail address of the administrator of the first start (`CASTELLAN_ADMIN_EMAIL`). */
  readonly adminEmail: string
}

const text = (name: string, preset: string) =>
  Config.schema(Schema.NonEmptyString, name).pipe(Config.withDefault(preset))

const port = Config.schema(
  Schema.FiniteFromString.check(
    Schema.isInt({ message: "expected a port, a whole number from 0 to 65535" }),
    Schema.isBetween({ minimum: 0, maximum: 65_535 }, { message: "expected a port, a whole number from 0 to 65535" })
  ),
  "PORT"
)

const origin = Schema.String.check(
  Schema.makeFilter((given: string) => URL.parse(given)?.origin === given && given !== "null", {
    message: "expected origins as browsers write them, such as https://app.example.com, separated by commas"
  })
)

const corsOrigins = Config.schema(
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.Array(origin),
      SchemaTransformation.transform({
        decode: (given): ReadonlyArray<string> => given.split(",").map((one) => one.trim()),
        encode: (origins) => origins.join(",")
      })
    )
  ),
  "CASTELLAN_CORS_ORIGINS"
).pipe(Config.withDefault<ReadonlyArray<string>>([]))

const secret = Config.schema(
  Schema.RedactedFromValue(
    Schema.String.check(Schema.isMinLength(32, { message: "expected a secret of at least 32 characters" }))
  ),
  "CASTELLAN_SECRET"
)

/** It holds a password, so that what is wrong with it is not told in its words. */
const databaseUrl = (name: string) =>
  Config.schema(
    Schema.RedactedFromValue(
      Schema.String.check(
        Schema.makeFilter((given: string) => /^postgres(ql)?:$/.test(URL.parse(given)?.protocol ?? ""), {
          message: "expected postgres://user:password@host:5432/database, special characters as in a URL (%40 for @)"
        })
      )
    ),
    name
  )

/** A setting that another one needs. */
const missing = (name: string): Config.ConfigError => {
  const issue = new SchemaIssue.InvalidValue({ message: "must be set as well" }, undefined)
  return new Config.ConfigError(new Schema.SchemaError(new SchemaIssue.Pointer([name], issue)))
}

const database = Config.all({
  url: Config.option(databaseUrl("CASTELLAN_DATABASE_URL")),
  ownerUrl: Config.option(databaseUrl("CASTELLAN_DATABASE_OWNER_URL")),
  allowOwner: Config.Boolean("CASTELLAN_DATABASE_ALLOW_OWNER").pipe(Config.withDefault(false))
}).pipe(
  Config.mapEffect(({ allowOwner, ownerUrl, url }) => {
    // The data folder would be served, or migrated, by who means a server.
    if (Option.isNone(url) && Option.isSome(ownerUrl)) return Effect.fail(missing("CASTELLAN_DATABASE_URL"))
    return Effect.succeed(
      Option.map(url, (given): PostgresDatabase.PostgresDatabaseOptions => ({
        url: given,
        allowOwner,
        ...(Option.isSome(ownerUrl) ? { ownerUrl: ownerUrl.value } : {})
      }))
    )
  })
)

/** A whole number. */
const count = (name: string, least: number, most: number, message: string) =>
  Config.schema(
    Schema.FiniteFromString.check(
      Schema.isInt({ message }),
      Schema.isBetween({ minimum: least, maximum: most }, { message })
    ),
    name
  )

const sandbox = Config.all({
  kind: Config.schema(SandboxKind, "CASTELLAN_SANDBOX").pipe(Config.withDefault("auto" as const)),
  root: Config.option(Config.schema(Schema.NonEmptyString, "CASTELLAN_SANDBOX_ROOT")),
  packages: Config.option(Config.schema(Schema.NonEmptyString, "CASTELLAN_SANDBOX_PACKAGES")),
  memory: Config.option(
    count("CASTELLAN_SANDBOX_MEMORY", 128, 1_000_000, "expected MiB of memory, a whole number of at least 128").pipe(
      Config.map((mebibytes) => mebibytes * 1024 * 1024)
    )
  ),
  timeout: Config.option(
    count("CASTELLAN_SANDBOX_TIMEOUT", 1, 1_000_000, "expected seconds, a whole number of at least 1")
  )
})

/** Reads the settings. */
export const settings: Config.Config<Settings> = Config.all({
  host: text("HOST", "127.0.0.1"),
  port: port.pipe(Config.withDefault(3000)),
  corsOrigins,
  trustedProxies: count("CASTELLAN_TRUSTED_PROXIES", 0, 20, "expected how many proxies there are, from 0 to 20").pipe(
    Config.withDefault(0)
  ),
  dataDirectory: text("CASTELLAN_DATA_DIR", ".castellan"),
  secret: Config.option(secret),
  identityProvider: JwtConfig.jwtIdentity,
  database,
  secretsKey: Config.option(Config.Redacted("CASTELLAN_SECRETS_KEY")),
  formerSecretsKeys: SecretKeysConfig.formerTexts,
  files: Config.option(Config.schema(Schema.NonEmptyString, "CASTELLAN_FILES")),
  sandbox,
  organization: text("CASTELLAN_ORGANIZATION", "Castellan"),
  adminEmail: text("CASTELLAN_ADMIN_EMAIL", "admin@localhost")
})
