/**
 * Processes that are killed with the embedded database in them. Its folder, and a copy of it, opens clean: what was
 * acknowledged is there, and of what was under way all or nothing.
 */
import { ApiKeyStore } from "@castellan/core/apikey/ApiKeyStore"
import { AuditStore } from "@castellan/core/audit/AuditStore"
import * as Schema from "effect/Schema"
import { OrganizationId } from "@castellan/core/organization/Organization"
import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { inject } from "vitest"
import { connection } from "../../src/embedded/internal/EngineConnection.ts"
import { EngineHandle } from "../../src/embedded/internal/EngineHandle.ts"
import * as Deployments from "./Deployments.ts"
import { applicationRole } from "../../src/database/PostgresDatabase.ts"

const folderFrom = (template: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const made = await mkdtemp(join(tmpdir(), "castellan-killed-"))
      await cp(template, made, { recursive: true })
      return made
    }),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )

/** Starts a process, and hands each line that it says to a listener; answers with all of them once it is dead. */
const killed = (args: ReadonlyArray<string>, listen: (line: string, child: ChildProcess) => void) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "KilledProcess.ts"), ...args], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = once(child, "exit")
    const lines: Array<string> = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      listen(line, child)
    }
    const [, signal] = await ended
    return { lines, signal }
  })

const idsOf = (lines: ReadonlyArray<string>, what: string): ReadonlyArray<string> =>
  lines.flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []))

const organizationIn = (lines: ReadonlyArray<string>) =>
  Schema.decodeUnknownEffect(OrganizationId)(idsOf(lines, "organization")[0])

const engineOf = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new EngineHandle({ folder })),
    (handle) => Effect.promise(() => handle.stop())
  )

/** Holds every index to its table: what an index finds is what is there. */
const sound = Effect.flatMap(
  SqlClient,
  (sql) => sql`
    DO $$ DECLARE name text; scanned int; found int; BEGIN
      PERFORM set_config('enable_bitmapscan', 'off', true);
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'castellan' LOOP
        PERFORM set_config('enable_seqscan', 'on', true);
        EXECUTE format('SELECT count(*) FROM castellan.%I t WHERE t::text IS NOT NULL', name) INTO scanned;
        PERFORM set_config('enable_seqscan', 'off', true);
        EXECUTE format('SELECT count(*) FROM castellan.%I', name) INTO found;
        IF scanned <> found THEN RAISE 'table %: % rows, % by its index', name, scanned, found; END IF;
      END LOOP;
    END $$`
)

/** A generator of numbers from 0 to 1 that is the same in every run. Source: D. H. Lehmer, 1951. */
const random = (seed: number) => () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647

const rounds = 2

describe("a process that is killed with its embedded database", () => {
  it.live(
    "under load: the folder's copy opens clean, with everything that was acknowledged, and each use case whole",
    () =>
      Effect.gen(function* () {
        const next = random(20_261_121)
        for (let round = 0; round < rounds; round++) {
          const folder = yield* folderFrom(inject("embeddedTemplate"))
          const last = 5 + Math.floor(next() * 40)
          let count = 0
          const { lines, signal } = yield* killed([folder, "load"], (_, child) => {
            count += 1
            // Two others are in the middle of theirs, and the one that said it is at its next.
            if (count === last) child.kill("SIGKILL")
          })
          assert.strictEqual(signal, "SIGKILL")
          const organizationId = yield* organizationIn(lines)
          const copy = yield* folderFrom(folder)
          const handle = yield* engineOf(copy)
          yield* Effect.provide(sound, connection(handle))
          yield* Effect.gen(function* () {
            const sql = yield* SqlClient
            const playbooks = yield* sql<{ readonly id: string }>`SELECT id FROM castellan.playbooks`
            const made = new Set(playbooks.map(({ id }) => id))
            for (const id of idsOf(lines, "playbook")) assert.isTrue(made.has(id), `round ${round}: playbook ${id}`)
            const [audit] = yield* sql<{ readonly created: number; readonly minted: number; readonly rotated: number }>`
              SELECT count(*) FILTER (WHERE action = 'create')::int AS created,
                count(*) FILTER (WHERE action = 'mint')::int AS minted,
                count(*) FILTER (WHERE action = 'rotate')::int AS rotated
              FROM castellan.audit_events`
            assert.strictEqual(audit?.created, playbooks.length, "one event for a playbook")
            const keys = yield* sql<{ readonly id: string }>`SELECT id FROM castellan.api_keys`
            const known = new Set(keys.map(({ id }) => id))
            for (const id of idsOf(lines, "key")) assert.isTrue(known.has(id), `round ${round}: key ${id}`)
            // One of the first start, one for a mint, one for a rotation.
            assert.strictEqual(keys.length, 1 + (audit?.minted ?? 0) + (audit?.rotated ?? 0), "no half of a rotation")
          }).pipe(Effect.provide(connection(handle)))
          // And it goes on from there.
          yield* Effect.gen(function* () {
            const { items } = yield* ApiKeyStore.use((store) =>
              store.list(organizationId, { limit: 100, includeRevoked: true })
            )
            assert.isAtLeast(items.length, 1)
          }).pipe(Effect.provide(Deployments.server(connection(handle, applicationRole))))
        }
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error")),
    180_000
  )

  const deaths: ReadonlyArray<readonly [useCase: string, statement: number, when: "before" | "after"]> = [
    ["a key is rotated", 5, "before"],
    ["a key is rotated", 8, "after"],
    ["a member is deleted", 5, "before"],
    ["a member is deleted", 7, "before"]
  ]
  for (const [useCase, statement, when] of deaths) {
    it.live(
      `${when} statement ${statement}: ${useCase}, all or nothing`,
      () =>
        Effect.gen(function* () {
          const folder = yield* folderFrom(inject("embeddedTemplate"))
          const { lines, signal } = yield* killed([folder, useCase, String(statement), when], () => {})
          assert.strictEqual(signal, "SIGKILL", "it died at the statement")
          assert.notInclude(lines, "acknowledged")
          const organizationId = yield* organizationIn(lines)
          yield* Effect.gen(function* () {
            const events = yield* AuditStore.use((store) =>
              store.list(organizationId, { limit: 10, action: useCase.includes("rotated") ? "rotate" : "delete" })
            )
            const keys = yield* ApiKeyStore.use((store) =>
              store.list(organizationId, { limit: 10, includeRevoked: true })
            )
            const isDone = events.items.length === 1
            const revoked = keys.items.filter(({ status }) => status._tag === "Revoked").length
            if (useCase.includes("rotated")) {
              assert.deepStrictEqual([keys.items.length, revoked], isDone ? [3, 1] : [2, 0])
            } else {
              assert.strictEqual(keys.items.length - revoked, isDone ? 1 : 3)
            }
          }).pipe(Effect.provide(Deployments.server(connection(yield* engineOf(folder), applicationRole))))
        }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error")),
      180_000
    )
  }
})
