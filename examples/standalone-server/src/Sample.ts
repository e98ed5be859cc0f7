/**
 * The sample data: real public files of `vega-datasets`, copied into the data folder on the first start, because a
 * connector follows no link and serves a whole folder.
 */
import { Effect, FileSystem, Path, Schema } from "effect"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))

/** The folder of the models that are written for the sample. */
export const ontologyFolder = join(here, "..", "sample", "ontology")

/** What the sample is, for the model and for the list of connectors. */
export const description = "Public sample data: flights, stocks, weather, movies and others"

/** One file of the sample. */
const SampleFile = Schema.Struct({
  /** The file in `vega-datasets`. */
  file: Schema.NonEmptyString,
  /** What it shows. */
  why: Schema.String
})

const decodeFiles = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(SampleFile)))

/** Copies what is missing of the sample into the data folder and answers with the folder that holds it. */
export const place = Effect.fn("Sample.place")(function* (dataDirectory: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // The package closes its data folder to imports; it lies beside the folder of its entry point.
  const source = path.join(dirname(createRequire(import.meta.url).resolve("vega-datasets")), "..", "data")
  const target = path.resolve(dataDirectory, "sample")
  yield* files.makeDirectory(target, { recursive: true })
  const list = yield* Effect.flatMap(files.readFileString(join(here, "..", "sample", "files.json")), decodeFiles)
  yield* Effect.forEach(list, ({ file }) =>
    Effect.gen(function* () {
      const to = path.join(target, file)
      const from = path.join(source, file)
      const size = (yield* files.stat(from)).size
      if ((yield* files.exists(to)) && (yield* files.stat(to)).size === size) return
      // Copied beside its place and moved into it, so that a start that is cut off leaves no half file.
      yield* files.copyFile(from, `${to}.new`)
      yield* files.rename(`${to}.new`, to)
    })
  )
  return yield* files.realPath(target)
})
