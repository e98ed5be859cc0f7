/**
 * What the server keeps in its data folder: who it is, and its secrets, each in a file that only its user can read.
 */
import { FirstStart } from "@castellan/core"
import { generate, isWellFormed } from "@castellan/core/apikey/ApiKeySecret"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { createHmac } from "node:crypto"
import { SecureRandom } from "effect/crypto"
import { Effect, FileSystem, Option, Path, type PlatformError, Redacted, Schema } from "effect"

/** The data folder cannot be used. */
export class KeepUnusable extends Schema.TaggedError<KeepUnusable>()("KeepUnusable", {
  message: Schema.String
}) {}

/** What the server keeps. */
export interface Keep {
  readonly identity: FirstStart.FirstIdentity
  /** The administrator's key. It is in `admin.key` and nowhere else; it is never logged. */
  readonly adminKey: Redacted.Redacted<string>
  readonly adminKeyPath: string
  /** Signs asset URLs and page tokens. */
  readonly secret: Redacted.Redacted<string>
  /** Signs sessions, so that a restart ends none of them. */
  readonly sessionSecret: Redacted.Redacted<Uint8Array>
  /**
   * Encrypts secrets: an id, a colon, and 32 bytes in base64. It is made where the settings name no key, and stays, so
   * that what it has encrypted can be read when they do later.
   */
  readonly secretsKey: Option.Option<Redacted.Redacted<string>>
  /** The folder of the database, unless the settings name a server. */
  readonly databaseFolder: string
  /** Notes a text under a name for later starts, and answers what was noted before. */
  readonly note: (name: string, text: string) => Effect.Effect<void, KeepUnusable>
  readonly noted: (name: string) => Effect.Effect<Option.Option<string>, KeepUnusable>
  /** Whether this start made them. */
  readonly isFirstStart: boolean
}

const Identity = Schema.fromJsonString(FirstStart.FirstIdentity)
const decodeIdentity = Schema.decodeUnknownEffect(Identity)
const encodeIdentity = Schema.encodeEffect(Identity)

/** A secret that follows from another, and tells nothing of it. */
const derived = (secret: Redacted.Redacted<string>, purpose: string): Redacted.Redacted<Uint8Array> =>
  Redacted.make(createHmac("sha256", Redacted.value(secret)).update(purpose).digest())

/**
 * A key for secrets, as the settings would name it. Its id is its own, so that a deployment can have it beside that of
 * another, from which an organization came.
 */
const newSecretsKey = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const id = SecretKeys.SecretKeyId.make(Buffer.from(yield* random.randomBytes(6)).toString("hex"))
  return `${Redacted.value(yield* SecretKeys.generate(id))}\n`
})

/** Opens the data folder, making on the first start what is not there yet. */
export const open = Effect.fn("Keep.open")(function* (
  directory: string,
  configuredSecret: Option.Option<Redacted.Redacted<string>>,
  configuredSecretsKey: Option.Option<Redacted.Redacted<string>> = Option.none()
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.resolve(directory)
  const unusable = (what: string) => (error: { readonly message: string }) =>
    new KeepUnusable({
      message: `the data folder ${folder} cannot be used (CASTELLAN_DATA_DIR): ${what}: ${error.message}`
    })

  yield* Effect.mapError(files.makeDirectory(folder, { recursive: true, mode: 0o700 }), unusable("making it"))

  const random = yield* SecureRandom.SecureRandom

  /**
   * Has a text on the disk beside its place, under a name that nobody else uses, until it was put in its place: a start
   * that is cut off leaves the whole file there or none.
   */
  const drafted = Effect.fnUntraced(function* <E>(
    place: string,
    content: string,
    put: (draft: string) => Effect.Effect<void, E>
  ) {
    const draft = `${place}.${Buffer.from(yield* random.randomBytes(6)).toString("hex")}.new`
    yield* Effect.gen(function* () {
      const out = yield* files.open(draft, { flag: "wx", mode: 0o600 })
      yield* out.writeAll(new TextEncoder().encode(content))
      yield* out.sync
    }).pipe(
      Effect.scoped,
      Effect.andThen(put(draft)),
      Effect.ensuring(Effect.ignore(files.remove(draft, { force: true })))
    )
  })
  const write = (name: string, content: string) => {
    const place = path.join(folder, name)
    return drafted(place, content, (draft) => files.rename(draft, place))
  }
  const isThere = (error: PlatformError.PlatformError): boolean => error.reason._tag === "AlreadyExists"
  /** In its place unless something is there: a link takes nothing's place. Where files cannot be linked, it is moved. */
  const putFirst = (draft: string, place: string) =>
    files.link(draft, place).pipe(
      Effect.catchIf(
        (error) => !isThere(error),
        () => files.rename(draft, place)
      )
    )
  /** Of several who start at once, the first has made it, and the others find it. */
  const readOr = Effect.fnUntraced(function* <E, R>(name: string, make: Effect.Effect<string, E, R>) {
    const place = path.join(folder, name)
    if (yield* files.exists(place)) return { content: yield* files.readFileString(place), isNew: false }
    const content = yield* make
    const isNew = yield* drafted(place, content, (draft) => putFirst(draft, place)).pipe(
      Effect.as(true),
      Effect.catchIf(isThere, () => Effect.succeed(false))
    )
    return { content: isNew ? content : yield* files.readFileString(place), isNew }
  })

  const identity = yield* readOr("identity.json", Effect.flatMap(FirstStart.newIdentity, encodeIdentity)).pipe(
    Effect.mapError(unusable("identity.json"))
  )
  const key = yield* readOr(
    "admin.key",
    Effect.map(generate, (value) => `${Redacted.value(value)}\n`)
  ).pipe(Effect.mapError(unusable("admin.key")))
  const secretIn = (name: string) =>
    readOr(
      name,
      Effect.map(generate, (value) => `${Redacted.value(value)}\n`)
    ).pipe(
      Effect.map(({ content }) => Redacted.make(content.trim())),
      Effect.mapError(unusable(name))
    )
  const secret = Option.isSome(configuredSecret) ? configuredSecret.value : yield* secretIn("secret")
  const sessionSource = Option.isSome(configuredSecret) ? configuredSecret.value : yield* secretIn("session.secret")
  const noted = (name: string) =>
    Effect.gen(function* () {
      const place = path.join(folder, name)
      return (yield* files.exists(place)) ? Option.some(yield* files.readFileString(place)) : Option.none()
    }).pipe(Effect.mapError(unusable(name)))
  const secretsKey = Option.isSome(configuredSecretsKey)
    ? yield* noted("secrets.key")
    : yield* readOr("secrets.key", newSecretsKey).pipe(
        Effect.map(({ content }) => Option.some(content)),
        Effect.mapError(unusable("secrets.key"))
      )
  if (!isWellFormed(key.content.trim())) {
    return yield* new KeepUnusable({
      message: `${path.join(folder, "admin.key")} does not hold an API key; remove it to have a new one made`
    })
  }
  const keep: Keep = {
    identity: yield* Effect.mapError(decodeIdentity(identity.content), unusable("identity.json")),
    adminKey: Redacted.make(key.content.trim()),
    adminKeyPath: path.join(folder, "admin.key"),
    secret,
    sessionSecret: derived(sessionSource, "castellan/session/1"),
    secretsKey: Option.map(secretsKey, (text) => Redacted.make(text.trim())),
    databaseFolder: path.join(folder, "database"),
    note: (name, text) => Effect.mapError(write(name, text), unusable(name)),
    noted,
    isFirstStart: key.isNew
  }
  return keep
})
