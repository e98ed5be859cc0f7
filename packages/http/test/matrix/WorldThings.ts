/** Something of everything in the matrix's world: what carries access, what runs by itself, what is administered. */
import { AgentRunStore } from "@castellan/core/agent/AgentRunStore"
import { AgentStore } from "@castellan/core/agent/AgentStore"
import { TriggerStore } from "@castellan/core/agent/TriggerStore"
import { AppStore } from "@castellan/core/app/AppStore"
import { DeliveryStore } from "@castellan/core/delivery/DeliveryStore"
import { PlaybookStatus } from "@castellan/core/playbook/Playbook"
import { PlaybookRunStore } from "@castellan/core/playbook/PlaybookRunStore"
import { PlaybookStore } from "@castellan/core/playbook/PlaybookStore"
import { ReportStore } from "@castellan/core/report/ReportStore"
import { RowPolicyStore } from "@castellan/core/rowpolicy/RowPolicyStore"
import { ScheduleStore } from "@castellan/core/schedule/ScheduleStore"
import { ScimGroupMappingStore } from "@castellan/core/scim/ScimGroupMappingStore"
import { BudgetStore } from "@castellan/core/usage/BudgetStore"
import { UsageStore } from "@castellan/core/usage/UsageStore"
import * as AdministrationSample from "@castellan/testing/fixture/AdministrationSample"
import * as AutomationSample from "@castellan/testing/fixture/AutomationSample"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import * as RowPolicySample from "@castellan/testing/fixture/RowPolicySample"
import { DateTime, Effect } from "effect"
import * as Served from "./Served.ts"
import * as WorldConversation from "./WorldConversation.ts"
import type { People } from "./WorldPeople.ts"

/** Connectors are numbered by organization: one that the other organization does not come to. */
export const connectorId = 4711

/** What there is. */
export type Things = Effect.Success<ReturnType<typeof make>>

/** Makes them, all of the maker's. */
export const make = Effect.fnUntraced(function* ({ access, keys, maker, principal }: People) {
  const now = yield* DateTime.now
  const within = principal.organizationId
  yield* Fixture.connector(within, { id: connectorId, access })
  yield* Effect.flatMap(RowPolicySample.rowPolicy(within, { connectorId, table: "orders" }), (policy) =>
    RowPolicyStore.use((store) => store.save(policy))
  )
  const { asset, cell, chat } = yield* WorldConversation.make(principal, access)

  const configuration = { name: "Sales of the week", prompt: "How much did we sell?" }
  const playbook = yield* AutomationSample.playbook(principal, { access, configuration })
  const deployed = yield* AutomationSample.playbook(principal, {
    access,
    configuration,
    status: PlaybookStatus.cases.Deployed.make({ deployedAt: now })
  })
  const playbookRun = yield* AutomationSample.playbookRun(principal, playbook)
  const report = yield* AutomationSample.report(playbookRun)
  const delivery = yield* AutomationSample.delivery(report)
  yield* PlaybookStore.use((store) => Effect.andThen(store.save(playbook), store.save(deployed)))
  yield* ScheduleStore.use((store) =>
    store.save(AutomationSample.schedule(principal, deployed, DateTime.add(now, { days: 1 })))
  )
  yield* PlaybookRunStore.use((store) => store.open(playbookRun))
  yield* ReportStore.use((store) => store.add(report))
  yield* DeliveryStore.use((store) => store.add([delivery]))

  const agent = yield* AutomationSample.agent(principal, { access, connectorIds: [connectorId] })
  const trigger = yield* AutomationSample.trigger(agent)
  yield* AgentStore.use((store) => store.save(agent))
  yield* TriggerStore.use((store) => store.add(trigger))
  yield* Effect.flatMap(AutomationSample.agentRun(principal, agent), (run) =>
    AgentRunStore.use((store) => store.save(run))
  )

  const app = yield* AutomationSample.app(principal, [asset], { access })
  yield* AppStore.use((store) => store.save(app))

  const budget = yield* AdministrationSample.budget(within, { amount: 1_000_000 })
  yield* BudgetStore.use((store) => store.save(budget))
  yield* Effect.flatMap(AdministrationSample.scimGroupMapping(within), (mapping) =>
    ScimGroupMappingStore.use((store) => store.save(mapping))
  )
  yield* Effect.flatMap(AdministrationSample.usageRecord(within, { memberId: maker.id }), (record) =>
    UsageStore.use((store) => store.record(record))
  )

  const started = yield* Served.json("POST", "/v2/sandcastles", keys.maker)
  const sandbox = String(started["sandbox_id"])
  const own = `/v2/sandcastles/${sandbox}`
  yield* Served.json("POST", `${own}/execute`, keys.maker, {
    code: `open("library/docs/new.md", "w").write("new")`
  })
  yield* Served.json("POST", `${own}/execute`, keys.maker, {
    code: `open("uploads/carriers.csv", "w").write("WN")`
  })

  return { agent, app, asset, budget, cell, chat, deployed, playbook, sandbox, trigger }
})
