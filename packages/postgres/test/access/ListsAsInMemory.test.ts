/**
 * What PostgreSQL decides in the condition of a statement is what the pure policies decide: lists of random objects,
 * shared with random principals, are the same as those of the stores in memory.
 */
import type { Access, Creator, Grant } from "@castellan/core/access/Access"
import type { ClientMetadata } from "@castellan/core/access/ClientMetadata"
import { Credential, Principal } from "@castellan/core/access/Principal"
import * as AgentStore from "@castellan/core/agent/AgentStore"
import { ApiKeyId } from "@castellan/core/apikey/ApiKey"
import type { Asset } from "@castellan/core/asset/Asset"
import { App } from "@castellan/core/app/App"
import * as AppStore from "@castellan/core/app/AppStore"
import { ConnectorId } from "@castellan/core/connector/Connector"
import { MemberId } from "@castellan/core/member/Member"
import type { OrganizationId } from "@castellan/core/organization/Organization"
import type { Counted } from "@castellan/core/page/Page"
import { PlaybookStatus } from "@castellan/core/playbook/Playbook"
import * as PlaybookStore from "@castellan/core/playbook/PlaybookStore"
import { Role, RoleId, RoleOrigin } from "@castellan/core/role/Role"
import { Sandcastle, SandcastleStatus } from "@castellan/core/sandcastle/Sandcastle"
import * as SandcastleStore from "@castellan/core/sandcastle/SandcastleStore"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import { layerCrypto } from "@castellan/testing/fixture/Deployment"
import * as Sample from "@castellan/testing/fixture/Sample"
import * as SandcastleSample from "@castellan/testing/fixture/SandcastleSample"
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import * as PostgresAgentStore from "../../src/agent/PostgresAgentStore.ts"
import * as PostgresAppStore from "../../src/app/PostgresAppStore.ts"
import * as PostgresPlaybookStore from "../../src/playbook/PostgresPlaybookStore.ts"
import * as PostgresSandcastleStore from "../../src/sandcastle/PostgresSandcastleStore.ts"
import { databases } from "../support/Databases.ts"

const now = DateTime.makeUnsafe("2030-06-01T00:00:00.000Z")
const moments = [-1, 0, 1].map((milliseconds) => DateTime.add(now, { milliseconds }))

const ids = (kind: number) => [1, 2, 3].map((n) => `00000000-0000-4000-8000-0000000000${kind}${n}`)
const members = ids(1).map((id) => MemberId.make(id))
const keys = ids(2).map((id) => ApiKeyId.make(id))
const roles = ids(3).map((id) => RoleId.make(id))

/** Two are the same end user, in two ways of writing; one is nobody. */
const clients: ReadonlyArray<ClientMetadata> = [
  { text: '{"a":"x","b":1}', attributes: { a: "x", b: 1 } },
  { text: '{"b":1,"a":"x"}', attributes: { b: 1, a: "x" } },
  { text: '{"a":"x"}', attributes: { a: "x" } },
  { text: '{"a":"x","b":"1"}', attributes: { a: "x", b: "1" } },
  { text: "{}", attributes: {} }
]

/** One of these. */
const among = <const A extends ReadonlyArray<string | number | boolean>>(...values: A) => Schema.Literals(values)

/** A few of something. */
const few = <S extends Schema.Top>(of: S, least: number, most: number) =>
  Schema.Array(of).check(Schema.isMinLength(least), Schema.isMaxLength(most))

/** One of three members, keys, roles or moments; or none, as often as any of them. */
const one = among(0, 1, 2)
const none = -1
const oneOrNone = among(none, 0, 1, 2)
const client = among(none, 0, 1, 2, 3, 4)

const Made = Schema.Struct({ member: one, key: oneOrNone, client })

const Shared = Schema.Struct({
  to: among("Member", "Role"),
  whom: one,
  type: among("viewer", "editor", "owner"),
  ends: oneOrNone
})

const Sign = among("a", "A", "é", "É", "ß", "İ", "%", "_", "\\", '"', "'", "n", "\n", "\0", "🚀", " ")

/** Texts that a database might take for something else. */
const Text = few(Sign, 2, 6)

const Row = Schema.Struct({
  isPublic: among(false, false, false, true),
  grants: few(Shared, 0, 3),
  isMade: among(true, true, false),
  maker: Made,
  chatMaker: Made,
  name: Text,
  prompt: Text,
  status: among("Draft", "Deployed", "Deleted"),
  connectors: few(among(1, 2, 3), 0, 2),
  isStopped: Schema.Boolean,
  moment: one
})
type Row = typeof Row.Type

const Question = Schema.Struct({
  member: one,
  roles: few(one, 0, 2),
  restricted: Schema.Boolean,
  client,
  lineage: few(one, 0, 2),
  searchTerm: few(Sign, 0, 2),
  status: among("any", "any", "Draft", "Deployed"),
  sandcastles: among("running", "stopped", "all"),
  sortBy: among("name", "created_at", "updated_at"),
  sortDirection: among("asc", "desc"),
  lacking: few(among(1, 2, 3), 0, 2),
  limit: among(1, 2, 5),
  offset: among(0, 1, 4)
})
type Question = typeof Question.Type

const at = <A>(values: ReadonlyArray<A>, index: number): A => {
  const found = values[index]
  assert.isDefined(found)
  return found
}

const clientOf = (given: { readonly client: number }) =>
  given.client === none ? {} : { clientMetadata: at(clients, given.client) }

const creatorOf = (made: typeof Made.Type): Creator => ({
  memberId: at(members, made.member),
  ...(made.key === none ? {} : { apiKeyId: at(keys, made.key) }),
  ...clientOf(made)
})

const grantOf = ({ ends, to, type, whom }: typeof Shared.Type): Grant => ({
  grantee: to === "Role" ? { _tag: to, id: at(roles, whom) } : { _tag: to, id: at(members, whom) },
  accessType: type,
  ...(ends === none ? {} : { expiresAt: at(moments, ends) })
})

const accessOf = ({ grants, isMade, isPublic, maker }: Row): Access => ({
  isPublic,
  grants: grants.map(grantOf),
  ...(isMade ? { creator: creatorOf(maker) } : {})
})

const roleOf = (organizationId: OrganizationId, id: RoleId): Role =>
  new Role({
    id,
    organizationId,
    name: id,
    description: "",
    origin: RoleOrigin.cases.Custom.make({}),
    permissions: [],
    models: { allowModelChoice: true },
    createdAt: now,
    updatedAt: now
  })

const readerOf = (organizationId: OrganizationId, asked: Question): Principal => {
  const [key, ...rotatedFrom] = asked.lineage.map((index) => at(keys, index))
  return new Principal({
    organizationId,
    memberId: at(members, asked.member),
    roles: asked.roles.map((index) => roleOf(organizationId, at(roles, index))),
    ...clientOf(asked),
    restricted: asked.restricted,
    credential:
      key === undefined ? Credential.cases.Token.make({}) : Credential.cases.ApiKey.make({ id: key, rotatedFrom })
  })
}

const statusOf = (status: Row["status"]): PlaybookStatus => {
  const { Deleted, Deployed, Draft } = PlaybookStatus.cases
  if (status === "Draft") return Draft.make({})
  return status === "Deployed" ? Deployed.make({ deployedAt: now }) : Deleted.make({ deletedAt: now })
}

const memory = Layer.mergeAll(
  AgentStore.layerMemory,
  AppStore.layerMemory,
  PlaybookStore.layerMemory,
  SandcastleStore.layerMemory
)

const postgres = Layer.mergeAll(
  PostgresAgentStore.layer,
  PostgresAppStore.layer,
  PostgresPlaybookStore.layer,
  PostgresSandcastleStore.layer
)

type Kept = AgentStore.AgentStore | AppStore.AppStore | PlaybookStore.PlaybookStore | SandcastleStore.SandcastleStore

/** The stores of both kinds. */
class Both extends Context.Service<
  Both,
  { readonly expected: Context.Context<Kept>; readonly actual: Context.Context<Kept> }
>()("test/access/Both") {}

const both = <A>(ask: Effect.Effect<A, never, Kept>): Effect.Effect<readonly [expected: A, actual: A], never, Both> =>
  Effect.flatMap(Both, ({ actual, expected }) =>
    Effect.all([Effect.provideContext(ask, expected), Effect.provideContext(ask, actual)])
  )

/** Keeps an object of each kind in both. */
const keep = Effect.fnUntraced(function* (maker: Principal, asset: Asset, row: Row) {
  const access = accessOf(row)
  const name = row.name.join("")
  const createdAt = at(moments, row.moment)
  const playbook = yield* AutomationSample.playbook(maker, {
    configuration: { name, prompt: row.prompt.join("") },
    status: statusOf(row.status),
    access,
    createdAt,
    updatedAt: now
  })
  const agent = yield* AutomationSample.agent(maker, { name, connectorIds: row.connectors, access })
  const { chatCreator: _, ...app } = yield* AutomationSample.app(maker, [asset], { name, access })
  const castle = yield* SandcastleSample.sandcastle(maker, {
    createdAt,
    status: row.isStopped
      ? SandcastleStatus.cases.Stopped.make({ startedAt: now, releasedAt: now, cause: "asked" })
      : SandcastleStatus.cases.Running.make({ startedAt: now, lastUsedAt: now })
  })
  yield* both(
    Effect.gen(function* () {
      yield* PlaybookStore.PlaybookStore.use((store) => store.save(playbook))
      yield* AgentStore.AgentStore.use((store) => store.save(agent))
      yield* AppStore.AppStore.use((store) =>
        store.save(new App({ ...app, ...(row.isMade ? { chatCreator: creatorOf(row.chatMaker) } : {}) }))
      )
      yield* SandcastleStore.SandcastleStore.use((store) =>
        store.save(new Sandcastle({ ...castle, creator: creatorOf(row.maker) }))
      )
    })
  )
})

const idsOf = (items: ReadonlyArray<{ readonly id: string }>) => items.map(({ id }) => id)

const counted = ({ items, totalCount }: Counted<{ readonly id: string }>) => ({ totalCount, ids: idsOf(items) })

/** What one reader finds. */
const lists = Effect.fnUntraced(function* (organizationId: OrganizationId, question: Question) {
  const { limit, offset, searchTerm, sortBy, sortDirection, status } = question
  const page = { reader: readerOf(organizationId, question), now, limit, offset }
  const castles = yield* SandcastleStore.SandcastleStore
  const mine = { reader: page.reader, status: question.sandcastles, limit }
  const first = yield* castles.list(mine)
  const second = first.next === undefined ? first : yield* castles.list({ ...mine, after: first.next })
  return {
    playbooks: counted(
      yield* PlaybookStore.PlaybookStore.use((store) =>
        store.list({
          ...page,
          sortBy,
          sortDirection,
          ...(searchTerm.length === 0 ? {} : { searchTerm: searchTerm.join("") }),
          ...(status === "any" ? {} : { status })
        })
      )
    ),
    agents: counted(
      yield* AgentStore.AgentStore.use((store) =>
        store.list({ ...page, lacking: question.lacking.map((id) => ConnectorId.make(id)) })
      )
    ),
    apps: counted(yield* AppStore.AppStore.use((store) => store.list(page))),
    sandcastles: [idsOf(first.items), idsOf(second.items), first.next?.id, second.next?.id]
  }
})

for (const { layer, name } of databases()) {
  const built = Layer.effect(
    Both,
    Effect.gen(function* () {
      return Both.of({
        expected: yield* Layer.build(memory),
        actual: yield* Layer.build(Layer.provide(postgres, layer))
      })
    })
  )
  it.layer(Layer.mergeAll(built, layerCrypto), { timeout: "180 seconds" })(`Lists (${name})`, (it) => {
    let found = 0

    it.effect.prop(
      "hold what those in memory hold, in their order, and count the same",
      [few(Row, 5, 12), few(Question, 5, 10)],
      ([rows, questions]) =>
        Effect.gen(function* () {
          const organizationId = yield* Sample.organizationId
          const maker = yield* Sample.principal(organizationId)
          const run = yield* Sample.run(maker, yield* Sample.chat(maker))
          const asset = yield* Sample.asset(run)
          yield* Effect.forEach(rows, (row) => keep(maker, asset, row))
          for (const question of questions) {
            const [expected, actual] = yield* both(lists(organizationId, question))
            assert.deepStrictEqual(actual, expected)
            const { agents, apps, playbooks, sandcastles } = expected
            found += agents.totalCount + apps.totalCount + playbooks.totalCount + sandcastles.flat().length
          }
        }),
      { arbitrary: { runs: 30 }, timeout: 300_000 }
    )

    it("were not all empty", () => {
      assert.isAbove(found, 200)
    })
  })
}
