/**
 * A server that asks a folder a statement without an end, until it is killed.
 */
import { endless } from "@castellan/testing/connector/ConnectorDriverContract"
import * as Effect from "effect/Effect"
import * as FilesDriver from "../../src/files/FilesDriver.ts"
import { connector, limits } from "./Folder.ts"

const [, , folder = ""] = process.argv

const program = Effect.gen(function* () {
  const driver = yield* FilesDriver.make()
  yield* driver.query(connector(folder), "select count(*) from cities", limits)
  process.stdout.write("ready\n")
  yield* driver.query(connector(folder), endless, limits)
})

await Effect.runPromise(Effect.scoped(program))
