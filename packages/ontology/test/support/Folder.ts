/**
 * Folders of files for tests, gone when their scope closes, and connectors over them.
 */
import { Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { ConnectorDriver, type QueryLimits } from "@castellan/core/connector/ConnectorDriver"
import { OntologyEngine, type OntologyInput } from "@castellan/core/ontology/OntologyEngine"
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** A folder that holds these files, by their paths. */
export const make = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), "ontology-")))
      for (const [path, content] of Object.entries(files)) {
        // oxlint-disable-next-line no-await-in-loop -- a handful of files, in the order given
        await mkdir(dirname(join(folder, path)), { recursive: true })
        // oxlint-disable-next-line no-await-in-loop -- as above
        await writeFile(join(folder, path), content)
      }
      return folder
    }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )

/** A connector over a folder. */
export const connector = (folder: string, name = "files") =>
  new Connector({
    id: ConnectorId.make(1),
    organizationId: OrganizationId.make("0190a000-0000-7000-8000-000000000001"),
    name: ConnectorName.make(name),
    source: ConnectorSource.cases.Files.make({ folder }),
    createdAt: DateTime.makeUnsafe(0)
  })

const limits: QueryLimits = { timeout: Duration.seconds(60), maxRows: 1000, maxBytes: 10_000_000 }

/** The rows that a query of the model answers. */
export const rowsOf = Effect.fnUntraced(function* (input: OntologyInput, query: string) {
  const engine = yield* OntologyEngine
  const driver = yield* ConnectorDriver
  const prepared = yield* engine.prepare(input, query)
  return (yield* driver.query(prepared.connector, prepared.sql, limits)).rows
})

/** The names in a folder. */
export const listing = (folder: string) => Effect.promise(async () => (await readdir(folder)).toSorted())
