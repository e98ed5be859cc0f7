/** The connections of a server that may die, to a real PostgreSQL. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Redacted } from "effect"
import { connect } from "node:net"
import { applicationRole } from "../../src/database/PostgresDatabase.ts"
import type { Life } from "./Dying.ts"

/** Connections of a life, which the database knows by the name of an application. */
export const layer = (url: Redacted.Redacted<string>, life: Life, applicationName: string) => {
  const { hostname, port } = new URL(Redacted.value(url))
  return PgClient.layer({
    url,
    stream: () =>
      life.stream(() => connect({ host: hostname, port: Number(port === "" ? 5432 : port), noDelay: true })),
    applicationName,
    multiplex: true,
    startupParameters: { role: applicationRole }
  })
}
