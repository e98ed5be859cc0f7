/**
 * The read on Fastify with `pg`, as a careful user of both writes it: a pool of ten connections, named statements, a
 * response schema, and every check by hand. Its tables are plain ones, with an index for each of the two questions.
 */
import Fastify from "fastify"
import { createHash, hash, randomBytes, randomUUID } from "node:crypto"
import { setFlagsFromString } from "node:v8"
import { Pool } from "pg"
import { keyCount } from "../server/Keys.ts"
import { serving } from "../server/Serving.ts"
import { bearersCommand, idsCommand, roleOf, usedKeyCount, type WireRole, withId } from "./Payload.ts"

interface KeyRow {
  readonly organization_id: string
  readonly revoked_at: Date | null
  readonly expires_at: Date | null
  readonly is_active: boolean
  readonly permissions: ReadonlyArray<string>
}

interface RoleRow extends Omit<WireRole, "created_at" | "updated_at"> {
  readonly created_at: Date
  readonly updated_at: Date
}

const [url = "", json = "", ids = ""] = process.argv.slice(2)
const pool = new Pool({ connectionString: url, max: 10 })

/** Two roles of one member with as many keys as ours has, and as many roles, with the same ids. */
const establish = async (): Promise<ReadonlyArray<string>> => {
  await pool.query(`
    CREATE TABLE members (id uuid PRIMARY KEY, organization_id uuid NOT NULL, is_active boolean NOT NULL);
    CREATE TABLE roles (id uuid PRIMARY KEY, organization_id uuid NOT NULL, name text NOT NULL,
      description text NOT NULL, is_system boolean NOT NULL, is_scim_managed boolean NOT NULL,
      allow_model_choice boolean NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
      permissions text[] NOT NULL);
    CREATE TABLE member_roles (member_id uuid NOT NULL, role_id uuid NOT NULL, PRIMARY KEY (member_id, role_id));
    CREATE TABLE api_keys (id uuid PRIMARY KEY, organization_id uuid NOT NULL, hash text NOT NULL UNIQUE,
      owner_id uuid NOT NULL, revoked_at timestamptz, expires_at timestamptz)`)
  const [organization, member] = [randomUUID(), randomUUID()]
  const permissions = ["chat:read", "chat:write", "organization:read", "connector:read", "role:write", "member:write"]
  const role = roleOf(json)
  await pool.query("INSERT INTO members VALUES ($1, $2, true)", [member, organization])
  await Promise.all(
    ids.split("\n").map((id) =>
      pool.query(
        `INSERT INTO roles
         SELECT id, $2, name, description, is_system, is_scim_managed, allow_model_choice, created_at, updated_at, $3
         FROM json_populate_record(NULL::roles, $1)`,
        [JSON.stringify(withId(role, id)), organization, permissions]
      )
    )
  )
  await pool.query("INSERT INTO member_roles SELECT $1, id FROM roles ORDER BY id LIMIT 2", [member])
  const bearers = Array.from({ length: usedKeyCount }, () => randomBytes(36).toString("base64"))
  await Promise.all(
    bearers.map((bearer) =>
      pool.query("INSERT INTO api_keys VALUES ($1, $2, $3, $4)", [
        randomUUID(),
        organization,
        createHash("sha256").update(bearer).digest("hex"),
        member
      ])
    )
  )
  await pool.query(
    `INSERT INTO api_keys SELECT gen_random_uuid(), $1, encode(sha256(number::text::bytea), 'hex'), $2
     FROM generate_series(2, $3::int) AS number`,
    [organization, member, keyCount]
  )
  return bearers
}

const refused = { error: { code: "unauthenticated", message: "Authentication required" } } as const
const denied = { error: { code: "permission_denied", message: "permission denied" } } as const
const notFound = { error: { code: "not_found", message: "role not found" } } as const

/** Whose key it is, and what they may do: one statement. Nothing is cached. */
const holderOf = async (authorization: string | undefined) => {
  if (authorization?.startsWith("Bearer ") !== true) return undefined
  const { rows } = await pool.query<KeyRow>({
    name: "key",
    text: `SELECT key.organization_id, key.revoked_at, key.expires_at, member.is_active, role.permissions
      FROM api_keys key
        JOIN members member ON member.id = key.owner_id AND member.organization_id = key.organization_id
        JOIN member_roles held ON held.member_id = member.id
        JOIN roles role ON role.id = held.role_id AND role.organization_id = key.organization_id
      WHERE key.hash = $1`,
    values: [hash("sha256", authorization.slice("Bearer ".length))]
  })
  const [key] = rows
  if (key === undefined || key.revoked_at !== null || !key.is_active) return undefined
  if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) return undefined
  return { organizationId: key.organization_id, permissions: new Set(rows.flatMap((row) => row.permissions)) }
}

// As ours has it, so that both have the same.
setFlagsFromString("--no-allocation-site-pretenuring")

const server = Fastify()

const text = { type: "string" } as const
const flag = { type: "boolean" } as const
const schema = {
  params: { type: "object", properties: { id: { type: "string", format: "uuid" } }, required: ["id"] },
  response: {
    200: {
      type: "object",
      properties: {
        id: text,
        name: text,
        description: text,
        is_system: flag,
        is_scim_managed: flag,
        allow_model_choice: flag,
        created_at: text,
        updated_at: text
      },
      required: ["id", "name", "description", "is_system", "is_scim_managed", "allow_model_choice", "created_at"]
    }
  }
} as const

server.get<{ Params: { readonly id: string } }>("/v2/roles/:id", { schema }, async (request, reply) => {
  const holder = await holderOf(request.headers.authorization)
  if (holder === undefined) return reply.code(401).send(refused)
  const { rows } = await pool.query<RoleRow>({
    name: "role",
    text: `SELECT id, name, description, is_system, is_scim_managed, allow_model_choice, created_at, updated_at
      FROM roles WHERE organization_id = $1 AND id = $2`,
    values: [holder.organizationId, request.params.id]
  })
  const [role] = rows
  if (role === undefined) return reply.code(404).send(notFound)
  if (!holder.permissions.has("organization:read")) return reply.code(403).send(denied)
  return { ...role, created_at: role.created_at.toISOString(), updated_at: role.updated_at.toISOString() }
})

const bearers = await establish()
const address = new URL(await server.listen({ host: "127.0.0.1", port: 0 }))
serving(Number(address.port), bearers[0] ?? "", {
  [bearersCommand]: () => bearers.join("\n"),
  [idsCommand]: () => ids
})
