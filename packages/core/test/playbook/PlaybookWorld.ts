/**
 * What the tests of playbooks have in common: a deployment with scripted mail and chat services, and playbooks in it.
 */
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import * as Deliveries from "@castellan/core/delivery/Deliveries"
import type { Failure } from "@castellan/core/error/Failure"
import { Playbook, type PlaybookId } from "@castellan/core/playbook/Playbook"
import { PlaybookExecution } from "@castellan/core/playbook/PlaybookExecution"
import type { PlaybookPatch } from "@castellan/core/playbook/PlaybookPatch"
import { Playbooks } from "@castellan/core/playbook/Playbooks"
import { PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as ScriptedDelivery from "@castellan/testing/scripted/ScriptedDelivery"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { Effect, Layer } from "effect"

export const as =
  (principal: Principal) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, CurrentPrincipal>> =>
    Effect.provideService(effect, CurrentPrincipal, principal)

/** A failure in words. */
export const refused = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.map(Effect.flip(effect), (failure) => `${failure.code}: ${failure.message}`)

export const page = { limit: 20, offset: 0 }

/** A deployment that delivers what its playbooks report. */
export const world = (
  options: Deployment.DeploymentOptions & { readonly deduplicates?: boolean } = { script: () => says("Up **4 %**.") }
) =>
  Deliveries.layer.pipe(Layer.provideMerge(Layer.mergeAll(Deployment.layer(options), ScriptedDelivery.layer(options))))

/** A playbook of a principal that can be run, and reports to two mailboxes and a channel. */
export const ready = Effect.fnUntraced(function* (principal: Principal, patch: PlaybookPatch = {}) {
  const playbooks = yield* Playbooks
  const { id } = yield* as(principal)(playbooks.create)
  return yield* as(principal)(
    playbooks.update(id, {
      name: "Weekly sales",
      prompt: "How did sales go?",
      emailAddresses: ["ann@example.org", "bob@example.org"],
      chatChannelId: "C024BE91L",
      taggedChatUserIds: ["U1"],
      ...patch
    })
  )
})

/** Lets everybody of the organization see a playbook. */
export const publish = (playbook: Playbook) =>
  PlaybookStore.use((store) =>
    store.save(new Playbook({ ...playbook, access: { ...playbook.access, isPublic: true } }))
  )

export const run = (principal: Principal, id: PlaybookId) =>
  PlaybookExecution.use((execution) => as(principal)(execution.run(id)))

export const runsOf = (principal: Principal, id: PlaybookId) =>
  PlaybookExecution.use((execution) => as(principal)(execution.runs(id, page)))
