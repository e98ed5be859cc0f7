/**
 * The data that the server answers over: the user's own folder, or the sample.
 */
import type { Access } from "@castellan/core"
import { Connector, type Ontology } from "@castellan/core"
import { OntologyDraft } from "@castellan/ontology"
import { DateTime, Effect, FileSystem, Option, Path, Schema } from "effect"
import * as Sample from "./Sample.ts"

/** The folder of `CASTELLAN_FILES` cannot be served. */
export class DataUnusable extends Schema.TaggedError<DataUnusable>()("DataUnusable", {
  message: Schema.String
}) {}

/** A data source with the models over it. */
export interface Data {
  readonly connector: Connector.Connector
  readonly access: Access.Access
  readonly ontology: ReadonlyArray<Ontology.OntologyFile>
  /** Where the models come from, in words. */
  readonly origin: string
}

/** Everybody in the organization may use it. */
const everybody: Access.Access = { isPublic: true, grants: [] }

/** Every model file below a folder, with its path relative to the folder. */
const modelFiles = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* files.exists(folder))) return []
  const names = (yield* files.readDirectory(folder, { recursive: true })).filter((name) => name.endsWith(".malloy"))
  return yield* Effect.forEach(names.toSorted(), (name) =>
    Effect.map(files.readFileString(path.join(folder, name)), (content): Ontology.OntologyFile => ({
      path: name.split(path.sep).join("/"),
      content
    }))
  )
})

const connectorOf = (
  organizationId: Connector.Connector["organizationId"],
  name: string,
  description: string,
  folder: string,
  createdAt: DateTime.Utc
) =>
  new Connector.Connector({
    id: Connector.ConnectorId.make(1),
    organizationId,
    name: Connector.ConnectorName.make(name),
    description,
    source: Connector.ConnectorSource.cases.Files.make({ folder }),
    createdAt
  })

/** The user's own folder, with its models, or with drafted ones where it has none. Nothing is written into it. */
const ofFolder = Effect.fnUntraced(function* (organizationId: Connector.Connector["organizationId"], given: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.resolve(given)
  const isFolder = yield* files.stat(folder).pipe(
    Effect.map((info) => info.type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  if (!isFolder) return yield* new DataUnusable({ message: `CASTELLAN_FILES: ${folder} is not a folder` })
  const connector = connectorOf(
    organizationId,
    "files",
    `Files of ${path.basename(folder)}`,
    yield* files.realPath(folder),
    yield* DateTime.now
  )
  const own = yield* modelFiles(path.join(folder, "ontology"))
  const data: Data =
    own.length > 0
      ? { connector, access: everybody, ontology: own, origin: `${own.length} of the folder's own models` }
      : {
          connector,
          access: everybody,
          ontology: yield* OntologyDraft.draft(connector),
          origin: "models drafted from the files"
        }
  return data
})

/** The sample: real public data, with models written for it. */
const ofSample = Effect.fnUntraced(function* (
  organizationId: Connector.Connector["organizationId"],
  dataDirectory: string
) {
  const folder = yield* Sample.place(dataDirectory)
  const connector = connectorOf(organizationId, "sample", Sample.description, folder, yield* DateTime.now)
  const data: Data = {
    connector,
    access: everybody,
    ontology: yield* modelFiles(Sample.ontologyFolder),
    origin: "models written for the sample"
  }
  return data
})

/** Finds the data. */
export const open = Effect.fn("Data.open")(function* (
  organizationId: Connector.Connector["organizationId"],
  folder: Option.Option<string>,
  dataDirectory: string
) {
  return Option.isSome(folder)
    ? yield* ofFolder(organizationId, folder.value)
    : yield* ofSample(organizationId, dataDirectory)
})
