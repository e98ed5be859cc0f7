/**
 * Folders of files for tests, and the connectors over them.
 */
import { Connector, ConnectorId, ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { ConnectorDriver, type ConnectorError, type QueryLimits } from "@castellan/core/connector/ConnectorDriver"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { columns, rows } from "@castellan/testing/connector/ConnectorDriverContract"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** The table that the connector contract asks for, as CSV. */
export const cities: string = [columns.map((column) => column.name), ...rows]
  .map((row) => `${row.map((cell) => cell ?? "").join(",")}\n`)
  .join("")

/** The files of a folder: paths with what they hold. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** Writes files into a folder. */
export const write = (folder: string, files: Files): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** A new folder with files. The caller removes it. */
export const create = (files: Files): string => {
  const folder = mkdtempSync(join(tmpdir(), "connectors-test-"))
  write(folder, files)
  return folder
}

/** A new folder with files, which is gone when the scope closes. */
export const scoped = (files: Files): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => create(files)),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** A connector over a folder. */
export const connector = (folder: string): Connector =>
  new Connector({
    id: ConnectorId.make(1),
    organizationId: OrganizationId.make("0190a000-0000-7000-8000-000000000001"),
    name: ConnectorName.make("files"),
    source: ConnectorSource.cases.Files.make({ folder }),
    createdAt: DateTime.makeUnsafe(0)
  })

/** Bounds that no test statement is meant to reach. */
export const limits: QueryLimits = { timeout: Duration.seconds(60), maxRows: 10_000, maxBytes: 10_000_000 }

/** Runs a statement over a folder. */
export const query = (folder: string, statement: string, bounds: Partial<QueryLimits> = {}) =>
  ConnectorDriver.use((driver) => driver.query(connector(folder), statement, { ...limits, ...bounds }))

/** The tables of a folder. */
export const tables = (folder: string) => ConnectorDriver.use((driver) => driver.tables(connector(folder)))

/** Why an effect failed. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, ConnectorError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)
