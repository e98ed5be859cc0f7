/**
 * What the check of a key costs, on every request: without HTTP around it, in processor time.
 */
import * as Authentication from "@castellan/core/access/Authentication"
import { layerMemory } from "@castellan/core/memory/Stores"
import * as HmacSessionTokens from "@castellan/core/session/HmacSessionTokens"
import * as NodeCryptography from "@castellan/http/server/NodeCryptography"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import type { Benchmark, Size } from "../Benchmark.ts"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"
import * as CastellanStores from "../database/CastellanStores.ts"
import * as ManyKeys from "../database/ManyKeys.ts"
import * as PeerPool from "../database/PeerPool.ts"
import * as PostgresServer from "../database/PostgresServer.ts"
import { alternate, type Rounds, slicesOf } from "../measure/Slices.ts"
import { ratio, summarize } from "../measure/Statistics.ts"
import { figure, iqr, range, ratioWithRange } from "../report/Figure.ts"
import { makeKeys } from "../server/Keys.ts"

interface Plan {
  readonly rounds: Rounds
  /** Checks of a slice: in memory, and on the database. */
  readonly inMemory: number
  readonly onDatabase: number
}

const plans: { readonly [Key in Size]: Plan } = {
  full: { rounds: { warming: 6, counted: 31 }, inMemory: 20_000, onDatabase: 2_000 },
  quick: { rounds: { warming: 3, counted: 9 }, inMemory: 5_000, onDatabase: 1_000 },
  smoke: { rounds: { warming: 0, counted: 2 }, inMemory: 20, onDatabase: 20 }
}

/** Checks that are under way at once. */
const concurrency = 50

/** What checks of a key came to, in microseconds each. */
interface Slice {
  /** Of this process. */
  readonly cpu: number
  /** Of PostgreSQL; absent where the system does not tell. */
  readonly database: number | undefined
}

const slice = (
  server: PostgresServer.PostgresServer,
  times: number,
  check: Effect.Effect<boolean>
): Effect.Effect<Slice, BenchmarkFailure> =>
  Effect.gen(function* () {
    const databaseBefore = yield* server.cpuMicros
    const before = process.cpuUsage()
    const one = Effect.flatMap(check, (valid) =>
      valid ? Effect.void : Effect.fail(new BenchmarkFailure({ message: "a valid key was refused" }))
    )
    const several = Effect.forEach(Array.from({ length: times / concurrency }), () => one, { discard: true })
    yield* Effect.forEach(
      Array.from({ length: concurrency }, () => several),
      (line) => line,
      { concurrency, discard: true }
    )
    const { system, user } = process.cpuUsage(before)
    const databaseAfter = yield* server.cpuMicros
    return {
      cpu: (system + user) / times,
      database:
        databaseBefore === undefined || databaseAfter === undefined
          ? undefined
          : (databaseAfter - databaseBefore) / times
    }
  })

const authentication = Authentication.layer.pipe(
  Layer.provide(HmacSessionTokens.layerMemory),
  Layer.provideMerge(NodeCryptography.layer)
)

interface HolderRow {
  readonly revoked_at: Date | null
  readonly expires_at: Date | null
  readonly is_active: boolean
  readonly permissions: ReadonlyArray<string>
}

/** A key by hand, among as many. */
const peerTables = `
  CREATE TABLE members (id uuid PRIMARY KEY, is_active boolean NOT NULL);
  CREATE TABLE roles (id uuid PRIMARY KEY, permissions text[] NOT NULL);
  CREATE TABLE member_roles (member_id uuid NOT NULL, role_id uuid NOT NULL, PRIMARY KEY (member_id, role_id));
  CREATE TABLE api_keys (id uuid PRIMARY KEY, hash text NOT NULL UNIQUE, owner_id uuid NOT NULL,
    revoked_at timestamptz, expires_at timestamptz);
  WITH member AS (INSERT INTO members VALUES (gen_random_uuid(), true) RETURNING id),
    role AS (INSERT INTO roles SELECT gen_random_uuid(), '{chat:read,chat:write,organization:read,role:write}'
      FROM generate_series(1, 2) RETURNING id),
    held AS (INSERT INTO member_roles SELECT member.id, role.id FROM member CROSS JOIN role)
  INSERT INTO api_keys SELECT gen_random_uuid(), encode(sha256(number::text::bytea), 'hex'), member.id
    FROM member CROSS JOIN generate_series(1, 10001) AS number`

const handMade = "by hand, in memory"
const handMadeOnDatabase = "by hand, pg"
const ours = "Castellan, in memory"
const oursOnDatabase = "Castellan, PostgreSQL"

/** The benchmark. */
export const keyCheck: Benchmark = {
  name: "key-check",
  title: "The check of a key",
  about:
    "From a bearer value to a principal, fifty at once, among 10,001 keys: form and checksum, SHA-256, key, owner, roles and permissions as they are now, their versions asked for each time and their texts where a version is another. By hand in memory: SHA-256 and a `Map`. By hand on PostgreSQL 18: SHA-256 and one named statement over `pg`, a pool of 10, not revoked, not expired, owner active, a set of permissions.",
  run: Effect.fnUntraced(function* ({ size }) {
    const plan = plans[size]
    const server = yield* PostgresServer.start({ durable: false })
    yield* server.create("castellan")
    yield* server.create("peer")
    const urls = { service: server.serviceUrl("castellan"), owner: server.ownerUrl("castellan") }
    const pool = yield* PeerPool.open(server.ownerUrl("peer"), 10)
    yield* Effect.promise(() => pool.query(peerTables))

    const keys = makeKeys()
    const memory = yield* Layer.build(Layer.provideMerge(authentication, layerMemory))
    const kept = yield* Layer.build(Layer.provideMerge(authentication, CastellanStores.layer(urls)))
    const inMemory = yield* Effect.provide(
      Effect.gen(function* () {
        const tenant = yield* Fixture.tenant()
        const owner = { id: tenant.adminId, organizationId: tenant.organizationId, roles: [tenant.memberRole.id] }
        yield* Effect.forEach(Array.from({ length: 10_000 }), () => Fixture.key(owner), { discard: true })
        return tenant
      }),
      memory
    )
    const onDatabase = yield* Effect.provide(ManyKeys.establish, kept)
    for (const name of ["castellan", "peer"]) {
      yield* server.asOwner(
        name,
        SqlClient.SqlClient.use((sql) => sql.unsafe("VACUUM ANALYZE"))
      )
    }

    const oursBy = (
      context: Context.Context<Authentication.Authentication>,
      { adminKey, adminId }: Fixture.Tenant
    ): Effect.Effect<boolean> =>
      Context.get(context, Authentication.Authentication)
        .authenticate(adminKey)
        .pipe(
          Effect.map((principal) => principal.memberId === adminId && principal.holds("organization:read")),
          Effect.orDie
        )
    const authorization = `Bearer ${keys.bearer}`
    const byPg = async (bearer: string): Promise<boolean> => {
      const { rows } = await pool.query<HolderRow>({
        name: "key",
        text: `SELECT key.revoked_at, key.expires_at, member.is_active, role.permissions
          FROM api_keys key JOIN members member ON member.id = key.owner_id
            JOIN member_roles held ON held.member_id = member.id JOIN roles role ON role.id = held.role_id
          WHERE key.hash = $1`,
        values: [hash("sha256", bearer)]
      })
      const [key] = rows
      if (key === undefined || key.revoked_at !== null || !key.is_active) return false
      if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) return false
      return new Set(rows.flatMap((row) => row.permissions)).has("organization:read")
    }

    const variant = (name: string, times: number, check: Effect.Effect<boolean>) => ({
      name,
      slice: slice(server, Math.max(concurrency, times), check),
      tell: ({ cpu }: Slice) => `${figure(cpu)} µs`
    })
    const measured = yield* alternate(
      [
        variant(
          handMade,
          plan.inMemory,
          Effect.sync(() => keys.holderOf(authorization) !== undefined)
        ),
        variant(ours, plan.inMemory, oursBy(memory, inMemory)),
        // The value of the peer's key is any of those that its table was filled by.
        variant(
          handMadeOnDatabase,
          plan.onDatabase,
          Effect.promise(() => byPg("5000"))
        ),
        variant(oursOnDatabase, plan.onDatabase, oursBy(kept, onDatabase))
      ],
      plan.rounds
    )
    const over = (name: string, peer: string) =>
      ratioWithRange(
        ratio(
          slicesOf(measured, name).map(({ cpu }) => cpu),
          slicesOf(measured, peer).map(({ cpu }) => cpu)
        )
      )
    return {
      sections: [
        {
          caption: "One check",
          table: {
            columns: ["check", "CPU µs", "min–max", "IQR", "of PostgreSQL", "÷ by hand"],
            rows: measured.map(({ name, slices }) => {
              const cpu = summarize(slices.map((one) => one.cpu))
              const ofDatabase = slices.flatMap(({ database }) => database ?? [])
              return [
                name,
                figure(cpu.median),
                range(cpu),
                iqr(cpu),
                ofDatabase.length === 0 ? "unknown" : figure(summarize(ofDatabase).median),
                name === ours
                  ? over(ours, handMade)
                  : name === oursOnDatabase
                    ? over(oursOnDatabase, handMadeOnDatabase)
                    : "1"
              ]
            })
          }
        }
      ],
      goals: [],
      measured: `${plan.rounds.counted} rounds of ${plan.inMemory} checks in memory and ${plan.onDatabase} on PostgreSQL; every one was of a valid key, and came to the right answer.`
    }
  })
}
