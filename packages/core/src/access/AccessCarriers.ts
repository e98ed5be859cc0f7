/**
 * The objects that carry access, each behind the same few words: what it is shared by, and how that is replaced.
 *
 * Source: decisions.md §3 ("Objects that carry access: chats, playbooks, agents, connectors, apps").
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Agent, AgentId } from "../agent/Agent.ts"
import { AgentStore } from "../agent/AgentStore.ts"
import { App, AppId } from "../app/App.ts"
import { AppStore } from "../app/AppStore.ts"
import { Chat, ChatId } from "../chat/Chat.ts"
import { ChatStore } from "../chat/ChatStore.ts"
import { ConnectorId } from "../connector/Connector.ts"
import { Connectors } from "../connector/Connectors.ts"
import { ConnectorStore } from "../connector/ConnectorStore.ts"
import { Playbook, PlaybookId } from "../playbook/Playbook.ts"
import { PlaybookStore } from "../playbook/PlaybookStore.ts"
import type { Permission } from "../role/Permission.ts"
import { shownTo } from "../rowpolicy/RowVisibility.ts"
import type { Access } from "./Access.ts"
import type { Principal } from "./Principal.ts"

/** The kinds of object that carry access. */
export const CarrierType = Schema.Literals(["chat", "playbook", "agent", "connector", "app"])
export type CarrierType = typeof CarrierType.Type

/** One object's access, and how another takes its place. */
export interface CarriedAccess {
  readonly access: Access
  /** Keeps the object with another access, and all else of it as it was when it was loaded. */
  readonly replace: (access: Access) => Effect.Effect<void>
}

/** One kind of object that carries access. */
export interface AccessCarrier {
  /** What reading and replacing an access needs. */
  readonly permissions: { readonly read: Permission; readonly write: Permission }
  /**
   * An object's access; none where the principal's organization has no such object, or where something beside its
   * access hides it from the principal. A malformed id is one that no object has.
   */
  readonly load: (principal: Principal, id: string) => Effect.Effect<Option.Option<CarriedAccess>>
}

/** Every kind of object that carries access. */
export class AccessCarriers extends Context.Service<
  AccessCarriers,
  { readonly [Type in CarrierType]: AccessCarrier }
>()("@castellan/core/access/AccessCarriers") {}

/** A carrier whose objects are found by an id of this form. */
const carrier = <Id>(
  permissions: AccessCarrier["permissions"],
  idOf: (text: string) => Option.Option<Id>,
  load: (principal: Principal, id: Id) => Effect.Effect<Option.Option<CarriedAccess>>
): AccessCarrier => ({
  permissions,
  load: (principal, text) =>
    Option.match(idOf(text), { onNone: () => Effect.succeedNone, onSome: (id) => load(principal, id) })
})

const connectorId = Schema.decodeUnknownOption(Schema.NumberFromString.pipe(Schema.decodeTo(ConnectorId)))

/** A number in its one plain form: neither "01" nor "1.0" nor "1e0" names a connector. */
const plainConnectorId = (text: string): Option.Option<ConnectorId> =>
  Option.filter(connectorId(text), (id) => String(id) === text)

/** The carriers over the stores of each kind. */
export const layer: Layer.Layer<
  AccessCarriers,
  never,
  AgentStore | AppStore | ChatStore | Connectors | ConnectorStore | PlaybookStore
> = Layer.effect(
  AccessCarriers,
  Effect.gen(function* () {
    const agents = yield* AgentStore
    const apps = yield* AppStore
    const chats = yield* ChatStore
    const connectors = yield* ConnectorStore
    const playbooks = yield* PlaybookStore
    const { usableBy } = yield* Connectors
    return AccessCarriers.of({
      chat: carrier(
        { read: "chat:read", write: "chat:write" },
        Schema.decodeUnknownOption(ChatId),
        Effect.fnUntraced(function* (principal, id) {
          const chat = yield* chats.get(principal.organizationId, id)
          if (Option.isNone(chat) || !shownTo(principal, chat.value.access.creator)) return Option.none()
          return Option.some({
            access: chat.value.access,
            replace: (access) => chats.save(new Chat({ ...chat.value, access }))
          })
        })
      ),
      playbook: carrier(
        { read: "playbook:read", write: "playbook:write" },
        Schema.decodeUnknownOption(PlaybookId),
        Effect.fnUntraced(function* (principal, id) {
          const playbook = yield* playbooks.get(principal.organizationId, id)
          if (Option.isNone(playbook) || playbook.value.status._tag === "Deleted") return Option.none()
          return Option.some({
            access: playbook.value.access,
            replace: (access) => playbooks.save(new Playbook({ ...playbook.value, access }))
          })
        })
      ),
      agent: carrier(
        { read: "agent:read", write: "agent:write" },
        Schema.decodeUnknownOption(AgentId),
        Effect.fnUntraced(function* (principal, id) {
          const agent = yield* agents.get(principal.organizationId, id)
          if (Option.isNone(agent)) return Option.none()
          const usable = new Set((yield* Effect.orDie(usableBy(principal, undefined))).map((connector) => connector.id))
          if (!agent.value.connectorIds.every((connector) => usable.has(connector))) return Option.none()
          return Option.some({
            access: agent.value.access,
            replace: (access) => agents.save(new Agent({ ...agent.value, access }))
          })
        })
      ),
      connector: carrier(
        { read: "connector:read", write: "connector:write" },
        plainConnectorId,
        Effect.fnUntraced(function* (principal, id) {
          const stored = yield* connectors.get(principal.organizationId, id)
          return Option.map(stored, ({ access, connector }) => ({
            access,
            replace: (next) => connectors.save({ connector, access: next })
          }))
        })
      ),
      app: carrier(
        { read: "app:read", write: "app:write" },
        Schema.decodeUnknownOption(AppId),
        Effect.fnUntraced(function* (principal, id) {
          const app = yield* apps.get(principal.organizationId, id)
          if (Option.isNone(app) || !shownTo(principal, app.value.chatCreator)) return Option.none()
          return Option.some({
            access: app.value.access,
            replace: (access) => apps.save(new App({ ...app.value, access }))
          })
        })
      )
    })
  })
)
