import { Authentication } from "@castellan/core/access/Authentication"
import { ConnectorName, ConnectorSource } from "@castellan/core/connector/Connector"
import { Connectors } from "@castellan/core/connector/Connectors"
import { ChatSandcastles } from "@castellan/core/sandcastle/ChatSandcastles"
import { Sandcastles } from "@castellan/core/sandcastle/Sandcastles"
import { as } from "@castellan/testing/fixture/Acting"
import * as Conversation from "@castellan/testing/fixture/Conversation"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { calls, says } from "@castellan/testing/scripted/ScriptedModel"
import { salesSource } from "@castellan/testing/scripted/ScriptedOntology"
import { ScriptedSandbox } from "@castellan/testing/scripted/ScriptedSandbox"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"

/** Every text and every file that a value holds, redacted ones revealed. */
const textsIn = (value: unknown, seen: Set<unknown> = new Set()): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Redacted.isRedacted(value)) return textsIn(Redacted.value(value), seen)
  if (value instanceof Uint8Array) return [new TextDecoder().decode(value)]
  if (typeof value !== "object" || value === null || seen.has(value)) return []
  seen.add(value)
  if (value instanceof Map || value instanceof Set) return [...value].flatMap((one) => textsIn(one, seen))
  return Reflect.ownKeys(value).flatMap((key) => [String(key), ...textsIn(Reflect.get(value, key), seen)])
}

const password = "correct horse battery staple"

describe("Sandcastles: secrets", () => {
  it.effect("no password, no key and no address of a source ever reaches a sandbox", () =>
    Effect.gen(function* () {
      const sandcastles = yield* Sandcastles
      const tenant = yield* Fixture.tenant()
      const connector = yield* as(Fixture.adminOf(tenant))(
        Connectors.use((connectors) =>
          connectors.create({
            name: ConnectorName.make("warehouse"),
            source: ConnectorSource.cases.Postgres.make({
              host: "warehouse.example",
              port: 5432,
              database: "sales",
              user: "warehouse_reader",
              tls: true
            }),
            secret: Redacted.make(password)
          })
        )
      )
      // As a request comes in: by a key.
      const member = yield* Authentication.use((authentication) => authentication.authenticate(tenant.adminKey))

      const { id } = yield* as(member)(sandcastles.start())
      const source = "platform_api"
      yield* as(member)(sandcastles.execute(id, { code: "x = 1", source }))
      yield* as(member)(
        sandcastles.exec(id, { command: "echo $NAME", kind: "bash", environment: { NAME: "Ada" }, source })
      )
      for (const text of [
        { _tag: "Statement", query: "select * from sales" },
        { _tag: "View", path: "sales.everything" }
      ] as const) {
        yield* as(member)(sandcastles.query(id, { connectorId: connector.id, text, source }))
      }
      yield* as(member)(sandcastles.upload(id, { name: "a.csv", content: new TextEncoder().encode("uploaded") }))
      yield* as(member)(sandcastles.libraryDiff(id))
      yield* as(member)(sandcastles.start({ id }))

      const files = [{ name: "b.csv", content: new TextEncoder().encode("sent along") }]
      const run = yield* Conversation.ask(member, "How many?", { files })
      const told = yield* Conversation.events(run)
      assert.isTrue(told.some((event) => event._tag === "Cell" && event.cell.content._tag === "Tool"))
      const chat = yield* ChatSandcastles.use((chats) => chats.of(run))
      yield* chat.query({ connectorId: connector.id, text: { _tag: "Statement", query: "select * from sales" } })

      const received = yield* ScriptedSandbox.use((sandbox) => sandbox.received)
      const operations = new Set(received.map(({ operation }) => operation))
      for (const operation of ["open", "exec", "bindDataframe", "upload", "diff"] as const) {
        assert.isTrue(operations.has(operation), operation)
      }
      const texts = textsIn(received)
      for (const known of ["x = 1", "Ada", "north", "uploaded", "sent along", "y = 2"]) {
        assert.isTrue(
          texts.some((text) => text.includes(known)),
          known
        )
      }
      const key = Redacted.value(tenant.adminKey)
      for (const secret of [password, key, key.slice(-20), "warehouse.example", "warehouse_reader"]) {
        assert.deepStrictEqual(
          texts.filter((text) => text.includes(secret)),
          [],
          secret
        )
      }
    }).pipe(
      Effect.provide(
        Deployment.layer({
          sources: [{ ...salesSource, views: [{ name: "everything" }] }],
          script: [
            calls("run_sql", { title: "Sales", connector: "warehouse", sql: "select * from sales" }),
            calls("python", { title: "Figures", code: "y = 2\nprint(len(result_1))" }),
            says("Three.")
          ]
        })
      )
    )
  )
})
