/**
 * The connector contract over a folder, once for a format that is converted and once for one that is read in place.
 */
import * as Contract from "@castellan/testing/connector/ConnectorDriverContract"
import { DuckDBInstance } from "@duckdb/node-api"
import { afterAll } from "vitest"
import { rmSync } from "node:fs"
import { join } from "node:path"
import * as FilesDriver from "../src/files/FilesDriver.ts"
import * as Folder from "./support/Folder.ts"

const csv = Folder.create({ "cities.csv": Folder.cities })
const parquet = Folder.create({})
const instance = await DuckDBInstance.create(":memory:")
const connection = await instance.connect()
await connection.run(`COPY (FROM '${join(csv, "cities.csv")}') TO '${join(parquet, "cities.parquet")}'`)
connection.closeSync()
instance.closeSync()

const folders = { csv, parquet }

afterAll(() => {
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true })
})

for (const [name, folder] of Object.entries(folders)) {
  Contract.suite(`files: ${name}`, FilesDriver.layer(), Folder.connector(folder))
}
