/**
 * The use cases of connectors.
 *
 * Source: api-v2.md "Connectors and models"; decisions.md §4 and §5.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import type { AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Conflict, InvalidRequest, NotFound, PermissionDenied } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { OrganizationId } from "../organization/Organization.ts"
import { RowPolicyStore } from "../rowpolicy/RowPolicyStore.ts"
import { SecretId, Secrets } from "../secret/Secrets.ts"
import {
  Connector,
  type ConnectorId,
  type ConnectorName,
  type ConnectorSource,
  ConnectorType,
  connectorType,
  secretOf
} from "./Connector.ts"
import { ConnectorDriver } from "./ConnectorDriver.ts"
import * as ConnectorPolicy from "./ConnectorPolicy.ts"
import { ConnectorStore, type StoredConnector } from "./ConnectorStore.ts"
import { HostFolders, isAllowed } from "./HostFolders.ts"

/** A connector to make. */
export interface NewConnector {
  readonly name: ConnectorName
  readonly description?: string
  readonly source: ConnectorSource
  readonly secret?: Redacted.Redacted<string>
}

/** What to change of a connector; what is absent stays. */
export interface ConnectorPatch {
  readonly name?: ConnectorName
  /** An empty one clears it. */
  readonly description?: string
  /** Of the same kind; where it differs from the present one, a kind that has a secret asks for it again. */
  readonly source?: ConnectorSource
  readonly secret?: Redacted.Redacted<string>
}

/** What to test: a connector that is there, or one that is not made yet. */
export type ConnectorTrial =
  | { readonly _tag: "Existing"; readonly id: ConnectorId }
  | { readonly _tag: "Draft"; readonly source: ConnectorSource; readonly secret?: Redacted.Redacted<string> }

/** What came of a test. A source that does not answer is a result, not a failure. */
export interface TrialOutcome {
  readonly success: boolean
  readonly error?: string
}

type Failure = Conflict | InvalidRequest | NotFound | PermissionDenied

/** The use cases of connectors. */
export class Connectors extends Context.Service<
  Connectors,
  {
    /** The kinds of connectors that this deployment serves. */
    readonly types: Effect.Effect<ReadonlyArray<ConnectorType>, Failure, CurrentPrincipal>
    /** The connectors that the caller may use. */
    readonly list: Effect.Effect<ReadonlyArray<Connector>, PermissionDenied | NotFound, CurrentPrincipal>
    /** A connector that the caller may change, with where its data are. */
    readonly get: (id: ConnectorId) => Effect.Effect<Connector, Failure, CurrentPrincipal>
    /** Makes a connector; nobody but its maker reaches it until it is shared. */
    readonly create: (made: NewConnector) => Effect.Effect<Connector, Failure, CurrentPrincipal>
    readonly update: (id: ConnectorId, patch: ConnectorPatch) => Effect.Effect<Connector, Failure, CurrentPrincipal>
    /** Removes a connector with its secret and its row policies. */
    readonly delete: (id: ConnectorId) => Effect.Effect<void, Failure, CurrentPrincipal>
    /** Tries to reach a source. */
    readonly test: (trial: ConnectorTrial) => Effect.Effect<TrialOutcome, Failure, CurrentPrincipal>
    /** The connectors that a principal may query now; only those of `ids` where they are given, and all of them. */
    readonly usableBy: (
      principal: Principal,
      ids: ReadonlyArray<ConnectorId> | undefined
    ) => Effect.Effect<ReadonlyArray<Connector>, PermissionDenied>
  }
>()("@castellan/core/connector/Connectors") {}

/** An unknown connector and a forbidden one read the same, so that nothing is disclosed. */
const notPermitted = (id: ConnectorId) =>
  new PermissionDenied({ message: `permission denied: connector ${id} is not available to you` })

const notFound = new NotFound({ message: "connector not found" })

const target = (id: ConnectorId): AuditTarget => ({ type: "connector", id: String(id) })

/** What the audit log says of a connector: never where its secret is, nor what it is. */
const facts = (connector: Connector) => ({
  name: connector.name,
  type: connectorType(connector.source),
  has_secret: connector.secretId !== undefined,
  ...(connector.description === undefined ? {} : { description: connector.description })
})

/** The use cases over a store of connectors. */
export const layer: Layer.Layer<
  Connectors,
  never,
  ConnectorDriver | ConnectorStore | RowPolicyStore | Secrets | SecureRandom.SecureRandom | UseCase
> = Layer.effect(
  Connectors,
  Effect.gen(function* () {
    const driver = yield* ConnectorDriver
    const store = yield* ConnectorStore
    const policies = yield* RowPolicyStore
    const secrets = yield* Secrets
    const useCase = yield* UseCase
    const folders = yield* HostFolders
    const random = yield* SecureRandom.SecureRandom
    const nextSecretId = Effect.map(Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random), (id) =>
      SecretId.make(id)
    )

    const readableBy = Effect.fnUntraced(function* (principal: Principal) {
      const now = yield* DateTime.now
      const stored = yield* store.list(principal.organizationId)
      return stored.filter((one) => ConnectorPolicy.listed(principal, one, now)).map(({ connector }) => connector)
    })

    const load = Effect.fnUntraced(function* (
      id: ConnectorId,
      principal: Principal,
      action: ConnectorPolicy.ConnectorAction
    ) {
      const stored = yield* store.get(principal.organizationId, id)
      if (Option.isNone(stored)) return yield* notFound
      yield* enforce(ConnectorPolicy.decide(principal, stored.value, action, yield* DateTime.now))
      return stored.value
    })

    /** Whether the deployment serves a source at all. */
    const servable = (source: ConnectorSource): Effect.Effect<void, InvalidRequest> => {
      const type = connectorType(source)
      if (!driver.types.includes(type)) {
        return Effect.fail(new InvalidRequest({ message: `type: ${type} is not served by this deployment` }))
      }
      return source._tag === "Files" && !isAllowed(source.folder, folders)
        ? Effect.fail(new InvalidRequest({ message: "folder: must be one that the host allows" }))
        : Effect.void
    }

    /** Whether a source comes with the secret that it needs, and with none that it does not know. */
    const equipped = (
      source: ConnectorSource,
      secret: Redacted.Redacted<string> | undefined
    ): Effect.Effect<void, InvalidRequest> => {
      const type = connectorType(source)
      const rule = secretOf[type]
      if (secret !== undefined && rule === "none") {
        return Effect.fail(new InvalidRequest({ message: `secret: a connector of the type ${type} has none` }))
      }
      return secret === undefined && rule === "required"
        ? Effect.fail(new InvalidRequest({ message: `secret: a connector of the type ${type} needs one` }))
        : Effect.void
    }

    /** Ontology files know a connector by its name: two in one organization would be one. */
    const unusedName = Effect.fnUntraced(function* (
      organizationId: OrganizationId,
      name: ConnectorName,
      but?: ConnectorId
    ) {
      const all = yield* store.list(organizationId)
      const folded = name.toLowerCase()
      if (all.some(({ connector }) => connector.id !== but && connector.name.toLowerCase() === folded)) {
        return yield* new Conflict({ message: `a connector of the name ${name} exists` })
      }
    })

    /** The fields of a patched connector, checked against what it is now. */
    const patched = Effect.fnUntraced(function* ({ connector }: StoredConnector, patch: ConnectorPatch) {
      const source = patch.source ?? connector.source
      if (source._tag !== connector.source._tag) {
        return yield* new InvalidRequest({ message: "type: cannot be changed; make another connector" })
      }
      const moved = !Equal.equals(source, connector.source)
      if (moved) yield* servable(source)
      // Whoever points a connector elsewhere must know its secret: else it would be sent there.
      if (moved && connector.secretId !== undefined && patch.secret === undefined) {
        return yield* new InvalidRequest({ message: "secret: must be given again when the source changes" })
      }
      if (patch.secret !== undefined) yield* equipped(source, patch.secret)
      if (patch.name !== undefined) yield* unusedName(connector.organizationId, patch.name, connector.id)
      const description = patch.description ?? connector.description
      const secretId = patch.secret === undefined ? connector.secretId : (connector.secretId ?? (yield* nextSecretId))
      return new Connector({
        id: connector.id,
        organizationId: connector.organizationId,
        name: patch.name ?? connector.name,
        ...(description === undefined || description === "" ? {} : { description }),
        source,
        ...(secretId === undefined ? {} : { secretId }),
        createdAt: connector.createdAt
      })
    })

    const outcomeOf = Effect.match({
      onSuccess: (): TrialOutcome => ({ success: true }),
      onFailure: (error: { readonly message: string }): TrialOutcome => ({ success: false, error: error.message })
    })

    return Connectors.of({
      types: useCase
        .read({ action: "list", target: { type: "connector" } }, (principal) =>
          Effect.as(
            enforce(requires(principal, "connector:read")),
            ConnectorType.literals.filter((type) => driver.types.includes(type))
          )
        )
        .pipe(Effect.withSpan("Connectors.types")),

      list: useCase
        .read({ action: "list", target: { type: "connector" } }, (principal) =>
          Effect.andThen(enforce(requires(principal, "connector:read")), readableBy(principal))
        )
        .pipe(Effect.withSpan("Connectors.list")),

      get: Effect.fn("Connectors.get")(function* (id) {
        return yield* useCase.read({ action: "read", target: target(id) }, (principal) =>
          Effect.map(load(id, principal, "update"), ({ connector }) => connector)
        )
      }),

      create: Effect.fn("Connectors.create")(function* (made) {
        yield* equipped(made.source, made.secret)
        return yield* useCase.run({ action: "create", target: { type: "connector" } }, (principal) =>
          Effect.gen(function* () {
            yield* enforce(ConnectorPolicy.create(principal))
            yield* servable(made.source)
            yield* unusedName(principal.organizationId, made.name)
            const secretId = made.secret === undefined ? undefined : yield* nextSecretId
            const connector = new Connector({
              id: yield* store.nextId(principal.organizationId),
              organizationId: principal.organizationId,
              name: made.name,
              ...(made.description === undefined || made.description === "" ? {} : { description: made.description }),
              source: made.source,
              ...(secretId === undefined ? {} : { secretId }),
              createdAt: yield* DateTime.now
            })
            if (secretId !== undefined && made.secret !== undefined) {
              yield* secrets.store(principal.organizationId, secretId, made.secret)
            }
            yield* store.save({ connector, access: { isPublic: false, grants: [], creator: creatorOf(principal) } })
            const entry: AuditEntry = { action: "create", target: target(connector.id), after: facts(connector) }
            return { answer: connector, entries: [entry] }
          })
        )
      }),

      update: Effect.fn("Connectors.update")(function* (id, patch) {
        return yield* useCase.run({ action: "update", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const stored = yield* load(id, principal, "update")
            const connector = yield* patched(stored, patch)
            if (patch.secret !== undefined && connector.secretId !== undefined) {
              yield* secrets.store(connector.organizationId, connector.secretId, patch.secret)
            }
            yield* store.save({ connector, access: stored.access })
            const entry: AuditEntry = {
              action: "update",
              target: target(id),
              before: facts(stored.connector),
              after: { ...facts(connector), secret_replaced: patch.secret !== undefined }
            }
            return { answer: connector, entries: [entry] }
          })
        )
      }),

      delete: Effect.fn("Connectors.delete")(function* (id) {
        yield* useCase.run({ action: "delete", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const { connector } = yield* load(id, principal, "delete")
            const { organizationId } = connector
            for (const policy of yield* policies.list(organizationId, id))
              yield* policies.remove(organizationId, policy.id)
            if (connector.secretId !== undefined) yield* secrets.remove(organizationId, connector.secretId)
            yield* store.remove(organizationId, id)
            const entry: AuditEntry = { action: "delete", target: target(id), before: facts(connector) }
            return { answer: undefined, entries: [entry] }
          })
        )
      }),

      test: Effect.fn("Connectors.test")(function* (trial) {
        if (trial._tag === "Existing") {
          const attempt = { action: "test", target: target(trial.id) } as const
          // Decided and recorded first; the source is reached outside of the transaction.
          const connector = yield* useCase.run(attempt, (principal) =>
            Effect.map(load(trial.id, principal, "update"), (stored) => ({
              answer: stored.connector,
              entries: [attempt]
            }))
          )
          return yield* outcomeOf(driver.tables(connector))
        }
        yield* equipped(trial.source, trial.secret)
        const attempt = { action: "test", target: { type: "connector" } } as const
        yield* useCase.run(attempt, (principal) =>
          Effect.gen(function* () {
            yield* enforce(ConnectorPolicy.create(principal))
            yield* servable(trial.source)
            return { answer: undefined, entries: [{ ...attempt, after: { type: connectorType(trial.source) } }] }
          })
        )
        return yield* outcomeOf(driver.probe(trial.source, trial.secret))
      }),

      usableBy: Effect.fn("Connectors.usableBy")(function* (principal, ids) {
        const usable = principal.holds("connector:query") ? yield* readableBy(principal) : []
        if (ids === undefined) return usable
        const byId = new Map(usable.map((connector) => [connector.id, connector]))
        const chosen: Array<Connector> = []
        for (const id of new Set(ids)) {
          const connector = byId.get(id)
          if (connector === undefined) return yield* notPermitted(id)
          chosen.push(connector)
        }
        return chosen
      })
    })
  })
)
