/**
 * The use cases of playbooks.
 *
 * Source: api-v2.md "Playbooks"; decisions.md §6.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { creatorOf } from "../access/Access.ts"
import { enforce } from "../access/Decision.ts"
import { requires } from "../access/PermissionPolicy.ts"
import type { CurrentPrincipal, Principal } from "../access/Principal.ts"
import { AssetStore } from "../asset/AssetStore.ts"
import type { AuditAction, AuditEntry, AuditTarget } from "../audit/AuditEvent.ts"
import { UseCase } from "../audit/UseCase.ts"
import { Connectors } from "../connector/Connectors.ts"
import { Conflict, type Failure, NotFound } from "../error/Failure.ts"
import * as Uuid from "../identifier/Uuid.ts"
import type { Counted, OffsetPage } from "../page/Page.ts"
import * as ReportPictures from "../report/ReportPictures.ts"
import { ReportStore } from "../report/ReportStore.ts"
import type { ReportView } from "../report/ReportView.ts"
import { ScheduleStore } from "../schedule/ScheduleStore.ts"
import { emptyConfiguration, Playbook, PlaybookId, PlaybookStatus } from "./Playbook.ts"
import * as PlaybookPatch from "./PlaybookPatch.ts"
import * as PlaybookPolicy from "./PlaybookPolicy.ts"
import { scheduleOf } from "./PlaybookSchedule.ts"
import { type PlaybookEvent, transition } from "./PlaybookState.ts"
import { type PlaybookQuery, PlaybookStore } from "./PlaybookStore.ts"

/** A playbook with a page of its reports, newest first. */
export interface PlaybookView {
  readonly playbook: Playbook
  readonly reports: Counted<ReportView>
}

/** The use cases of playbooks; those of their runs are in `PlaybookExecution`. */
export class Playbooks extends Context.Service<
  Playbooks,
  {
    /** Makes an empty draft. */
    readonly create: Effect.Effect<Playbook, Failure, CurrentPrincipal>
    /** The playbooks that the caller may read. */
    readonly list: (
      query: Omit<PlaybookQuery, "reader" | "now">
    ) => Effect.Effect<Counted<Playbook>, Failure, CurrentPrincipal>
    /** A playbook, with the reports that the caller may be shown. */
    readonly get: (id: PlaybookId, page: OffsetPage) => Effect.Effect<PlaybookView, Failure, CurrentPrincipal>
    /** Changes the configuration: what is omitted stays, an empty text or list clears. */
    readonly update: (
      id: PlaybookId,
      patch: PlaybookPatch.PlaybookPatch
    ) => Effect.Effect<Playbook, Failure, CurrentPrincipal>
    /** Puts the playbook's schedule in force; also again, for a playbook that is deployed already. */
    readonly deploy: (
      id: PlaybookId
    ) => Effect.Effect<
      { readonly playbookId: PlaybookId; readonly deployedAt: DateTime.Utc },
      Failure,
      CurrentPrincipal
    >
    /** Makes a deployed playbook a draft again. */
    readonly undeploy: (
      id: PlaybookId
    ) => Effect.Effect<
      { readonly playbookId: PlaybookId; readonly undeployedAt: DateTime.Utc },
      Failure,
      CurrentPrincipal
    >
    /** Removes the playbook, its schedule, and the reports that are still on their way. */
    readonly delete: (
      id: PlaybookId
    ) => Effect.Effect<{ readonly playbookId: PlaybookId; readonly deletedAt: DateTime.Utc }, Failure, CurrentPrincipal>
  }
>()("@castellan/core/playbook/Playbooks") {}

const target = (id: PlaybookId): AuditTarget => ({ type: "playbook", id })

/** Finds the playbook of an id for somebody who wants to do something to it; nothing is told of what they may not see. */
export const finder = Effect.map(PlaybookStore, (store) =>
  Effect.fnUntraced(function* (principal: Principal, id: PlaybookId, action: PlaybookPolicy.PlaybookAction) {
    const found = yield* store.get(principal.organizationId, id)
    if (Option.isNone(found)) return yield* new NotFound({ message: "playbook not found" })
    yield* enforce(PlaybookPolicy.may(principal, action, found.value, yield* DateTime.now))
    return found.value
  })
)

/** The use cases over the stores. */
export const layer: Layer.Layer<
  Playbooks,
  never,
  AssetStore | Connectors | PlaybookStore | ReportStore | ScheduleStore | SecureRandom.SecureRandom | UseCase
> = Layer.effect(
  Playbooks,
  Effect.gen(function* () {
    const assets = yield* AssetStore
    const connectors = yield* Connectors
    const find = yield* finder
    const random = yield* SecureRandom.SecureRandom
    const reports = yield* ReportStore
    const schedules = yield* ScheduleStore
    const store = yield* PlaybookStore
    const useCase = yield* UseCase

    const previewOf = (view: ReportView["report"]): Effect.Effect<ReportView> =>
      Effect.map(Effect.provideService(ReportPictures.preview(view), AssetStore, assets), (htmlPreview) => ({
        report: view,
        htmlPreview
      }))

    /** Keeps a playbook with the schedule that it has now. */
    const save = Effect.fnUntraced(function* (playbook: Playbook, principal: Principal, now: DateTime.Utc) {
      yield* store.save(playbook)
      const before = yield* schedules.get(playbook.organizationId, playbook.id)
      const schedule = scheduleOf(playbook, before, principal, now)
      yield* Option.isSome(schedule)
        ? schedules.save(schedule.value)
        : schedules.remove(playbook.organizationId, playbook.id)
    })

    const next = Effect.fnUntraced(function* (playbook: Playbook, event: PlaybookEvent, now: DateTime.Utc) {
      return yield* Effect.mapError(
        Effect.fromResult(transition(playbook.status, event, now)),
        ({ message }) => new Conflict({ message })
      )
    })

    /** The use case of a transition without more to it; answers with the moment at which it happened. */
    const move = (id: PlaybookId, action: Extract<AuditAction, PlaybookPolicy.PlaybookAction>, event: PlaybookEvent) =>
      useCase.run({ action, target: target(id) }, (principal) =>
        Effect.gen(function* () {
          const playbook = yield* find(principal, id, action)
          const now = yield* DateTime.now
          const status = yield* next(playbook, event, now)
          yield* save(new Playbook({ ...playbook, status, updatedAt: now }), principal, now)
          const entry: AuditEntry = {
            action,
            target: target(id),
            before: { status: playbook.status._tag.toLowerCase() },
            after: { status: status._tag.toLowerCase() }
          }
          return { answer: now, entries: [entry] }
        })
      )

    return Playbooks.of({
      create: useCase
        .run({ action: "create", target: { type: "playbook" } }, (principal) =>
          Effect.gen(function* () {
            yield* enforce(requires(principal, "playbook:write"))
            const now = yield* DateTime.now
            const playbook = new Playbook({
              id: PlaybookId.make(yield* Effect.provideService(Uuid.next, SecureRandom.SecureRandom, random)),
              organizationId: principal.organizationId,
              configuration: emptyConfiguration,
              status: PlaybookStatus.cases.Draft.make({}),
              access: { isPublic: false, grants: [], creator: creatorOf(principal) },
              createdBy: principal.memberId,
              createdAt: now,
              updatedAt: now
            })
            yield* store.save(playbook)
            const entry: AuditEntry = { action: "create", target: target(playbook.id), after: { status: "draft" } }
            return { answer: playbook, entries: [entry] }
          })
        )
        .pipe(Effect.withSpan("Playbooks.create")),

      list: Effect.fn("Playbooks.list")(function* (query) {
        return yield* useCase.read({ action: "list", target: { type: "playbook" } }, (reader) =>
          Effect.gen(function* () {
            yield* enforce(requires(reader, "playbook:read"))
            return yield* store.list({ ...query, reader, now: yield* DateTime.now })
          })
        )
      }),

      get: Effect.fn("Playbooks.get")(function* (id, page) {
        return yield* useCase.read({ action: "read", target: target(id) }, (reader) =>
          Effect.gen(function* () {
            const playbook = yield* find(reader, id, "read")
            const found = yield* reports.list({ ...page, reader, playbookId: id })
            return {
              playbook,
              reports: { items: yield* Effect.forEach(found.items, previewOf), totalCount: found.totalCount }
            }
          })
        )
      }),

      update: Effect.fn("Playbooks.update")(function* (id, patch) {
        // What no playbook would take is told before anything is said of this one.
        yield* Effect.fromResult(PlaybookPatch.apply(emptyConfiguration, patch))
        return yield* useCase.run({ action: "update", target: target(id) }, (principal) =>
          Effect.gen(function* () {
            const playbook = yield* find(principal, id, "configure")
            const configuration = yield* Effect.fromResult(PlaybookPatch.apply(playbook.configuration, patch))
            if (patch.connectorIds !== undefined) yield* connectors.usableBy(principal, configuration.connectorIds)
            const now = yield* DateTime.now
            const status = yield* next(playbook, "Configure", now)
            const changed = new Playbook({ ...playbook, configuration, status, updatedAt: now })
            yield* save(changed, principal, now)
            const entry: AuditEntry = {
              action: "update",
              target: target(id),
              before: playbook.configuration,
              after: configuration
            }
            return { answer: changed, entries: [entry] }
          })
        )
      }),

      deploy: Effect.fn("Playbooks.deploy")(function* (id) {
        return { playbookId: id, deployedAt: yield* move(id, "deploy", "Deploy") }
      }),

      undeploy: Effect.fn("Playbooks.undeploy")(function* (id) {
        return { playbookId: id, undeployedAt: yield* move(id, "undeploy", "Undeploy") }
      }),

      delete: Effect.fn("Playbooks.delete")(function* (id) {
        return { playbookId: id, deletedAt: yield* move(id, "delete", "Delete") }
      })
    })
  })
)
