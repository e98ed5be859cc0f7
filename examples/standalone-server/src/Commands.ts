/**
 * The commands of the standalone server, over the same settings and the same database as the server itself.
 */
import { OrganizationId } from "@castellan/core/organization/Organization"
import { count } from "@castellan/core/text/Count"
import * as Exporter from "@castellan/postgres/exchange/Exporter"
import * as Importer from "@castellan/postgres/exchange/Importer"
import * as PostgresSecrets from "@castellan/postgres/secret/PostgresSecrets"
import { Effect, FileSystem, Layer, Option, Schema, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Keep from "./Keep.ts"
import * as Server from "./Server.ts"
import { settings } from "./Settings.ts"
import * as Storage from "./Storage.ts"

/** What a command works with: the database at the schema of this version, and the keys of its secrets. */
const opened = Effect.gen(function* () {
  const read = yield* settings
  const keep = yield* Keep.open(read.dataDirectory, read.secret, read.secretsKey)
  // Nobody waits for an answer here, and an organization may be large.
  const database = Storage.database(read, keep, "1 hour")
  return { keep, storage: Layer.mergeAll(database, Storage.secretKeys(read, keep)) }
})

/** Two flags that cannot both be meant. */
export class ContradictingFlags extends Schema.TaggedError<ContradictingFlags>()("ContradictingFlags", {
  message: Schema.String
}) {}

/** Some secrets are still encrypted with a key that was not given. */
export class UnreadableSecrets extends Schema.TaggedError<UnreadableSecrets>()("UnreadableSecrets", {
  message: Schema.String
}) {}

const told = (rows: Readonly<Record<string, number>>): string => {
  const total = Object.values(rows).reduce((sum, ofTable) => sum + ofTable, 0)
  return `${count(total, "row")} of ${count(Object.keys(rows).length, "table")}`
}

const file = Argument.String("file").pipe(Argument.withDescription("The file, as lines of JSON"))

const exportCommand = Command.make(
  "export",
  {
    file,
    organization: Flag.String("organization").pipe(
      Flag.withSchema(OrganizationId.annotate({ message: "expected the id of an organization" })),
      Flag.withDescription("The id of the organization; that of the first start unless given"),
      Flag.optional
    ),
    withoutSecrets: Flag.Boolean("without-secrets").pipe(
      Flag.withDescription("Leave out the passwords of connectors"),
      Flag.withDefault(false)
    ),
    plainSecrets: Flag.Boolean("plain-secrets").pipe(
      Flag.withDescription(
        "Write the passwords of connectors for everybody to read, for a deployment that has not this one's key"
      ),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (given) {
    const files = yield* FileSystem.FileSystem
    if (given.withoutSecrets && given.plainSecrets) {
      return yield* new ContradictingFlags({ message: "--without-secrets and --plain-secrets contradict each other" })
    }
    const { keep, storage } = yield* opened
    const organizationId = Option.getOrElse(given.organization, () => keep.identity.organizationId)
    const secrets = given.withoutSecrets ? "omitted" : given.plainSecrets ? "plain" : "sealed"
    if (secrets === "plain") {
      yield* Effect.logWarning(`${given.file} will hold the passwords of connectors for everybody to read`)
    }
    // Beside its place, and moved into it when it is whole.
    const draft = `${given.file}.new`
    const { rows } = yield* Effect.scoped(
      Effect.gen(function* () {
        // Made anew: one that lies there may be open to others.
        yield* files.remove(draft, { force: true })
        const out = yield* files.open(draft, { flag: "wx", mode: 0o600 })
        const exported = yield* Exporter.exportTo({ organizationId, secrets }, (text) =>
          out.writeAll(new TextEncoder().encode(text))
        )
        yield* out.sync
        return exported
      })
    ).pipe(
      Effect.provide(storage),
      Effect.onError(() => Effect.ignore(files.remove(draft)))
    )
    yield* files.rename(draft, given.file)
    yield* Effect.logInfo(`the organization ${organizationId} is in ${given.file}: ${told(rows)}`)
  })
).pipe(Command.withDescription("Write everything that an organization has into a file"))

const importCommand = Command.make(
  "import",
  { file },
  Effect.fnUntraced(function* (given) {
    const files = yield* FileSystem.FileSystem
    const { storage } = yield* opened
    const lines = files.stream(given.file).pipe(Stream.decodeText, Stream.splitLines)
    const { organizationId, rows } = yield* Effect.provide(Importer.importFrom(lines), storage)
    yield* Effect.logInfo(`the organization ${organizationId} is here: ${told(rows)}`)
  })
).pipe(Command.withDescription("Take in an organization from a file, whole or not at all"))

const migrateCommand = Command.make(
  "migrate",
  {},
  Effect.fnUntraced(function* () {
    const { storage } = yield* opened
    yield* Effect.provide(Effect.logInfo("the database is at the schema of this version"), storage)
  })
).pipe(Command.withDescription("Bring the database to the schema of this version"))

const reencryptCommand = Command.make(
  "reencrypt-secrets",
  {},
  Effect.fnUntraced(function* () {
    const { storage } = yield* opened
    const { reencrypted, unreadable } = yield* Effect.provide(PostgresSecrets.reencrypt, storage)
    yield* Effect.logInfo(`re-encrypted ${count(reencrypted, "secret")} with the current key`)
    // Whoever takes the old key away once this has succeeded, by hand or by a script, must not lose what needs it.
    if (unreadable > 0) {
      return yield* new UnreadableSecrets({
        message:
          `${count(unreadable, "secret")} cannot be read, and nothing was changed there: take no key away, and give ` +
          "the one that is missing (CASTELLAN_SECRETS_FORMER_KEYS)"
      })
    }
  })
).pipe(Command.withDescription("Encrypt every secret with the current key (CASTELLAN_SECRETS_KEY)"))

/** The server, and what is done to its database beside it. */
export const castellan = Command.make(
  "castellan",
  {},
  Effect.fnUntraced(function* () {
    return yield* Layer.launch(Server.layer(yield* settings))
  })
).pipe(
  Command.withDescription("Castellan on one machine; without a command, it serves"),
  Command.withSubcommands([exportCommand, importCommand, migrateCommand, reencryptCommand])
)
