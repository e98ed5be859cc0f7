import type { Access, Grantee } from "@castellan/core/access/Access"
import { creatorOf } from "@castellan/core/access/Access"
import type { CarrierType } from "@castellan/core/access/AccessCarriers"
import type { WantedAccess, WantedGrant } from "@castellan/core/access/AccessChange"
import { Accesses } from "@castellan/core/access/Accesses"
import { Principal } from "@castellan/core/access/Principal"
import { Agent, AgentId } from "@castellan/core/agent/Agent"
import { AgentStore } from "@castellan/core/agent/AgentStore"
import { App, AppId } from "@castellan/core/app/App"
import { AppStore } from "@castellan/core/app/AppStore"
import { Chat } from "@castellan/core/chat/Chat"
import { ChatStore } from "@castellan/core/chat/ChatStore"
import { ConnectorStore } from "@castellan/core/connector/ConnectorStore"
import * as Uuid from "@castellan/core/identifier/Uuid"
import { emptyConfiguration, Playbook, PlaybookId, PlaybookStatus } from "@castellan/core/playbook/Playbook"
import { PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import * as Permission from "@castellan/core/role/Permission"
import type { Role } from "@castellan/core/role/Role"
import { as, audited, failure, trail } from "@castellan/testing/fixture/Acting"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as Sample from "@castellan/testing/fixture/Sample"
import { assertSame } from "@castellan/testing/suite/Same"
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"

const get = (type: CarrierType, id: string) => Accesses.use((accesses) => accesses.get(type, id))
const replace = (type: CarrierType, id: string, wanted: WantedAccess) =>
  Accesses.use((accesses) => accesses.replace(type, id, wanted))

const toMember = (of: { readonly memberId: Principal["memberId"] }, given: Partial<WantedGrant> = {}): WantedGrant => ({
  grantee: { _tag: "Member", id: of.memberId },
  accessType: "viewer",
  ...given
})
const toRole = (role: Role, given: Partial<WantedGrant> = {}): WantedGrant => ({
  grantee: { _tag: "Role", id: role.id },
  accessType: "viewer",
  ...given
})

const shared = (...grants: ReadonlyArray<WantedGrant>): WantedAccess => ({ isPublic: false, grants })
const nothing = shared()

/** Four people of one organization who may read and change everything that they reach, and an administrator. */
const scene = Effect.gen(function* () {
  const tenant = yield* Fixture.tenant()
  const { organizationId } = tenant
  const user = yield* Fixture.role(organizationId, {
    name: "user",
    permissions: Permission.all.filter((permission) => /:(read|write|query)$/u.test(permission))
  })
  const team = yield* Fixture.role(organizationId, { name: "team" })
  const someone = (...roles: ReadonlyArray<Role>) =>
    Fixture.someone(tenant, { roles: [user, ...roles], fullMemberAccess: true })
  const [maker, other, stranger] = [yield* someone(), yield* someone(), yield* someone()]
  return { tenant, organizationId, user, team, someone, maker, other, stranger, admin: Fixture.adminOf(tenant) }
})

/** An object of each kind with an access, and what its store then says of it. */
const objects = Effect.fnUntraced(function* (maker: Principal, access: Access) {
  const { memberId: createdBy, organizationId } = maker
  const [chats, playbooks] = [yield* ChatStore, yield* PlaybookStore]
  const [agents, apps, connectors] = [yield* AgentStore, yield* AppStore, yield* ConnectorStore]
  const now = yield* DateTime.now
  const common = { organizationId, access, createdBy, createdAt: now, updatedAt: now }
  const chat = yield* Sample.chat(maker, { access })
  yield* chats.open(chat, yield* Sample.run(maker, chat))
  const playbook = new Playbook({
    ...common,
    id: PlaybookId.make(yield* Uuid.next),
    configuration: emptyConfiguration,
    status: PlaybookStatus.cases.Draft.make({})
  })
  yield* playbooks.save(playbook)
  const agent = new Agent({ ...common, id: AgentId.make(yield* Uuid.next), name: "a", prompt: "p", connectorIds: [] })
  yield* agents.save(agent)
  const app = new App({
    ...common,
    id: AppId.make(yield* Uuid.next),
    name: "a",
    description: "",
    chatId: chat.id,
    assets: []
  })
  yield* apps.save(app)
  const connector = yield* Fixture.connector(organizationId, { id: 7, access })
  const id: { readonly [Type in CarrierType]: string } = {
    chat: chat.id,
    playbook: playbook.id,
    agent: agent.id,
    app: app.id,
    connector: "7"
  }
  const kept: { readonly [Type in CarrierType]: Effect.Effect<Access> } = {
    chat: Effect.map(chats.get(organizationId, chat.id), (found) => Option.getOrThrow(found).access),
    playbook: Effect.map(playbooks.get(organizationId, playbook.id), (found) => Option.getOrThrow(found).access),
    agent: Effect.map(agents.get(organizationId, agent.id), (found) => Option.getOrThrow(found).access),
    app: Effect.map(apps.get(organizationId, app.id), (found) => Option.getOrThrow(found).access),
    connector: Effect.map(connectors.get(organizationId, connector.id), (found) => Option.getOrThrow(found).access)
  }
  return { id, kept, chat, playbook, agent, app }
})

const types = ["chat", "playbook", "agent", "connector", "app"] as const

const madeBy = (maker: Principal): Access => ({ isPublic: false, grants: [], creator: creatorOf(maker) })

layer(Deployment.layer())("Accesses", (it) => {
  for (const type of types) {
    describe(`of a ${type}`, () => {
      it.effect("is read and replaced as a whole, by its owner", () =>
        Effect.gen(function* () {
          const { maker, other, organizationId, stranger, team } = yield* scene
          const { id, kept } = yield* objects(maker, madeBy(maker))
          const expiresAt = DateTime.add(yield* DateTime.now, { hours: 1 })
          const wanted = {
            isPublic: true,
            grants: [toMember(other, { accessType: "editor", expiresAt }), toRole(team)]
          }
          const answer = yield* as(maker)(replace(type, id[type], wanted))
          const expected: Access = {
            ...madeBy(maker),
            isPublic: true,
            grants: wanted.grants.map((grant) => ({ ...grant, grantedBy: maker.memberId }))
          }
          assertSame(answer, expected)
          assertSame(yield* kept[type], expected)
          assertSame(yield* as(maker)(get(type, id[type])), expected)
          assertSame(yield* as(stranger)(get(type, id[type])), expected)
          yield* as(maker)(replace(type, id[type], nothing))
          assertSame(yield* kept[type], madeBy(maker))
          assert.deepStrictEqual(yield* trail(organizationId), [`grant ${type}`, `grant ${type}`])
          const [first] = yield* audited(organizationId)
          assert.deepInclude(first?.before, { isPublic: false, grants: [] })
          assert.deepInclude(first?.after, { isPublic: true })
          assert.strictEqual(first?.target.id, id[type])
        })
      )

      it.effect("hidden is 404 for every verb; visible, and not one's own, is 403", () =>
        Effect.gen(function* () {
          const { admin, maker, organizationId, other, stranger } = yield* scene
          const editor = toMember(other, { accessType: "editor" })
          const { id, kept } = yield* objects(maker, { ...madeBy(maker), grants: [editor] })
          const hidden = `NotFound: ${type} not found`
          const denied = `PermissionDenied: permission denied: owner access to this ${type} is required`
          assert.strictEqual(yield* failure(as(stranger)(get(type, id[type]))), hidden)
          assert.strictEqual(yield* failure(as(stranger)(replace(type, id[type], nothing))), hidden)
          assert.strictEqual(yield* failure(as(other)(get(type, id[type]))), "succeeds")
          assert.strictEqual(yield* failure(as(other)(replace(type, id[type], nothing))), denied)
          // An administrator sees that it is there, and roles do not stand in for ownership (K22).
          assert.strictEqual(yield* failure(as(admin)(replace(type, id[type], nothing))), denied)
          assert.match(yield* failure(as(admin)(get(type, id[type]))), /^PermissionDenied: /u)
          assertSame(yield* kept[type], { ...madeBy(maker), grants: [editor] })
          const foreign = yield* scene
          assert.strictEqual(yield* failure(as(foreign.maker)(get(type, id[type]))), hidden)
          for (const wrong of ["", "x", "07", "7.0", "00000000-0000-7000-8000-000000000000"]) {
            assert.strictEqual(yield* failure(as(maker)(get(type, wrong))), hidden, wrong)
          }
          assert.deepStrictEqual(yield* trail(organizationId), [
            `grant ${type} refused`,
            `grant ${type} refused`,
            `read ${type} refused`
          ])
        })
      )

      it.effect("needs the permission to read it, and the one to change it", () =>
        Effect.gen(function* () {
          const { maker, organizationId, tenant } = yield* scene
          const { id } = yield* objects(maker, { ...madeBy(maker), isPublic: true })
          const bare = yield* Fixture.someone(tenant, { roles: [] })
          assert.strictEqual(
            yield* failure(as(bare)(get(type, id[type]))),
            `PermissionDenied: permission denied: ${type}:read is required`
          )
          const reading = yield* Fixture.role(organizationId, { permissions: [`${type}:read`, "connector:query"] })
          const reader = new Principal({ ...maker, roles: [reading] })
          assert.strictEqual(yield* failure(as(reader)(get(type, id[type]))), "succeeds")
          assert.strictEqual(
            yield* failure(as(reader)(replace(type, id[type], nothing))),
            `PermissionDenied: permission denied: ${type}:write is required`
          )
        })
      )

      it.effect("one's own grant as owner stays, whatever is asked for", () =>
        Effect.gen(function* () {
          const { maker, other, someone, team } = yield* scene
          const own = { ...toMember(other, { accessType: "owner" }), grantedBy: maker.memberId }
          const { id, kept } = yield* objects(maker, { ...madeBy(maker), grants: [own] })
          yield* as(other)(replace(type, id[type], nothing))
          assertSame((yield* kept[type]).grants, [own])
          yield* as(other)(replace(type, id[type], shared(toMember(other, { accessType: "viewer" }), toRole(team))))
          assertSame((yield* kept[type]).grants, [own, { ...toRole(team), grantedBy: other.memberId }])
          // Nobody's but one's own: the other way round it goes.
          yield* as(maker)(replace(type, id[type], nothing))
          assertSame((yield* kept[type]).grants, [])
          // Who owns it by a role alone keeps that.
          const ofTeam = { ...toRole(team, { accessType: "owner" }), grantedBy: maker.memberId }
          yield* as(maker)(replace(type, id[type], shared(ofTeam)))
          const mate = yield* someone(team)
          yield* as(mate)(replace(type, id[type], shared(toMember(other))))
          assertSame((yield* kept[type]).grants, [ofTeam, { ...toMember(other), grantedBy: mate.memberId }])
          // With a grant of their own they need the role's no longer.
          yield* as(mate)(replace(type, id[type], shared(toMember(mate, { accessType: "owner" }))))
          assertSame((yield* kept[type]).grants, [
            { ...toMember(mate, { accessType: "owner" }), grantedBy: mate.memberId }
          ])
        })
      )
    })
  }

  it.effect("who shared something stays on the record as long as the share does", () =>
    Effect.gen(function* () {
      const { maker, other, stranger } = yield* scene
      const { id, kept } = yield* objects(maker, madeBy(maker))
      yield* as(maker)(replace("chat", id.chat, shared(toMember(other, { accessType: "owner" }), toMember(stranger))))
      yield* as(other)(replace("chat", id.chat, shared(toMember(stranger))))
      assert.deepStrictEqual(
        (yield* kept.chat).grants.map((grant) => grant.grantedBy),
        [maker.memberId, maker.memberId]
      )
      yield* as(other)(replace("chat", id.chat, shared(toMember(stranger, { accessType: "editor" }))))
      assert.deepStrictEqual(
        (yield* kept.chat).grants.map((grant) => grant.grantedBy),
        [maker.memberId, other.memberId]
      )
    })
  )

  it.effect("an access that cannot be is 400, and names the field", () =>
    Effect.gen(function* () {
      const { maker, other, organizationId, team } = yield* scene
      const foreign = yield* scene
      const { id, kept } = yield* objects(maker, madeBy(maker))
      const now = yield* DateTime.now
      const unknownMember: Grantee = { _tag: "Member", id: foreign.maker.memberId }
      const unknownRole: Grantee = { _tag: "Role", id: foreign.team.id }
      const rows: ReadonlyArray<readonly [WantedAccess, string]> = [
        [shared(toMember(other), toMember(other, { accessType: "editor" })), "grants[1]: must name each member once"],
        [shared(toRole(team), toMember(other), toRole(team)), "grants[2]: must name each role once"],
        [shared(toMember(other, { expiresAt: now })), "grants[0].expires_at: must be in the future"],
        [shared(toMember(other, { grantee: unknownMember })), "grants[0].member_id: there is no such member"],
        [shared(toRole(team), toRole(team, { grantee: unknownRole })), "grants[1].role_id: there is no such role"],
        [shared(...Array.from({ length: 1001 }, () => toMember(other))), "grants: must be at most 1000"]
      ]
      for (const [wanted, message] of rows) {
        assert.strictEqual(yield* failure(as(maker)(replace("chat", id.chat, wanted))), `InvalidRequest: ${message}`)
      }
      assertSame(yield* kept.chat, madeBy(maker))
      assert.deepStrictEqual(yield* trail(organizationId), [])
      // What is there already may be sent back, ended or not.
      const soon = DateTime.add(now, { seconds: 1 })
      const grant = toMember(other, { expiresAt: soon })
      yield* as(maker)(replace("chat", id.chat, shared(grant)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* failure(as(maker)(replace("chat", id.chat, shared(grant, toRole(team))))), "succeeds")
    })
  )

  it.effect("an owner whose ownership ends shares for no longer than that", () =>
    Effect.gen(function* () {
      const { maker, other, stranger, team } = yield* scene
      const now = yield* DateTime.now
      const [until, after] = [DateTime.add(now, { hours: 1 }), DateTime.add(now, { hours: 1, milliseconds: 1 })]
      const { id } = yield* objects(maker, madeBy(maker))
      const present = [toMember(other, { accessType: "owner", expiresAt: until }), toRole(team)]
      yield* as(maker)(replace("chat", id.chat, shared(...present)))
      const attempt = (wanted: WantedAccess) => failure(as(other)(replace("chat", id.chat, wanted)))
      const denied = "PermissionDenied: permission denied: you cannot share this for longer than you own it"
      assert.strictEqual(yield* attempt(shared(toMember(stranger))), denied)
      assert.strictEqual(yield* attempt(shared(toMember(stranger, { expiresAt: after }))), denied)
      assert.strictEqual(yield* attempt({ isPublic: true, grants: [] }), denied)
      assert.strictEqual(yield* attempt(shared(...present)), "succeeds", "what is there stays")
      assert.strictEqual(yield* attempt(shared(toMember(stranger, { expiresAt: until }))), "succeeds")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* attempt(nothing), "NotFound: chat not found")
    })
  )

  it.effect("what nobody owns is shared by administrators, and by nobody else", () =>
    Effect.gen(function* () {
      const { admin, maker, other } = yield* scene
      const { id, kept } = yield* objects(maker, { isPublic: true, grants: [] })
      const wanted = shared(toMember(other, { accessType: "owner" }))
      assert.match(yield* failure(as(maker)(replace("connector", id.connector, wanted))), /^PermissionDenied: /u)
      yield* as(admin)(replace("connector", id.connector, wanted))
      assertSame((yield* kept.connector).grants, [
        { ...toMember(other, { accessType: "owner" }), grantedBy: admin.memberId }
      ])
      assert.match(yield* failure(as(admin)(replace("connector", id.connector, nothing))), /^PermissionDenied: /u)
    })
  )

  it.effect("what something beside its access hides has no access to read", () =>
    Effect.gen(function* () {
      const { maker, other } = yield* scene
      const client = { text: '{"tenant":"a"}', attributes: { tenant: "a" } }
      const access: Access = { isPublic: true, grants: [], creator: creatorOf(maker) }
      const { agent, app, chat, id, playbook } = yield* objects(maker, access)
      const creator = { ...creatorOf(maker), clientMetadata: client }
      yield* (yield* ChatStore).save(new Chat({ ...chat, access: { ...access, creator } }))
      const deletedAt = yield* DateTime.now
      const status = PlaybookStatus.cases.Deleted.make({ deletedAt })
      yield* (yield* PlaybookStore).save(new Playbook({ ...playbook, status }))
      yield* (yield* AppStore).save(new App({ ...app, chatCreator: creator }))
      const secret = yield* Fixture.connector(maker.organizationId, { id: 8, name: "secret", access: madeBy(maker) })
      yield* (yield* AgentStore).save(new Agent({ ...agent, connectorIds: [secret.id] }))
      for (const type of ["chat", "playbook", "agent", "app"] as const) {
        const hidden = `NotFound: ${type} not found`
        assert.strictEqual(yield* failure(as(other)(get(type, id[type]))), hidden)
        assert.strictEqual(yield* failure(as(other)(replace(type, id[type], nothing))), hidden)
      }
      const sameClient = new Principal({ ...maker, clientMetadata: client })
      assert.strictEqual(yield* failure(as(sameClient)(get("chat", id.chat))), "succeeds")
      assert.strictEqual(yield* failure(as(sameClient)(get("app", id.app))), "succeeds")
      assert.strictEqual(yield* failure(as(maker)(get("agent", id.agent))), "succeeds")
    })
  )
})
