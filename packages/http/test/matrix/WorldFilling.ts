/** What stands in the matrix's requests for ids, parameters and fields, and what each list tells the maker alone. */
import type * as Fixture from "@castellan/testing/fixture/Fixture"
import type { Filling } from "./Requests.ts"
import type { Library } from "./WorldLibrary.ts"
import type { People } from "./WorldPeople.ts"
import { connectorId, type Things } from "./WorldThings.ts"

/** What a list tells the maker of: texts that its answer holds, mostly ids; and whom it must not tell of them. */
export interface Hidden {
  readonly told: ReadonlyArray<string>
  readonly from: ReadonlyArray<"stranger" | "restricted" | "foreign">
}

/** What stands for what the contract's requests need. */
export const filling = (
  { full, person, target, victim }: People,
  { agent, app, asset, cell, chat, deployed, playbook, sandbox, trigger }: Things,
  { denied, draft, folder, open }: Library
): Filling => {
  const review = (change: typeof open.change) => ({
    parameters: { id: change.id },
    fields: { expected_git_ref: change.gitRef }
  })
  return {
    ids: {
      agents: agent.id,
      "api-keys": victim.apiKey.id,
      apps: app.id,
      assets: asset.id,
      changes: open.change.id,
      chats: chat.id,
      connectors: String(connectorId),
      members: person.id,
      playbooks: playbook.id,
      roles: target.id,
      sandcastles: sandbox
    },
    parameters: {
      cell_id: cell.id,
      trigger_id: trigger.id,
      roleId: target.id,
      path: "uploads/carriers.csv",
      format: "png",
      expires: "4102444800",
      signature: "q8rJ1vY6pH2dX0sB9uZkT3fWmNc5LeA7"
    },
    fields: {
      allowed_model_ids: [1],
      appId: app.id,
      asset_ids: [asset.id],
      assumedRoles: [full.id],
      author_role_ids: [target.id],
      chat_id: chat.id,
      connector_id: connectorId,
      connector_ids: [connectorId],
      exempt_role_ids: [target.id],
      expected_git_ref: open.change.gitRef,
      model: chat.model,
      role_id: target.id,
      roleId: target.id,
      sandbox_id: sandbox,
      triggerId: trigger.id
    },
    operations: {
      "changes.submit": { parameters: { id: draft.change.id } },
      "changes.restore": review(denied.change),
      "connectors.create": { fields: { name: "another" } },
      "folderPolicies.delete": { parameters: { path: folder } },
      "playbooks.undeploy": { parameters: { id: deployed.id } },
      // Without a run behind it, which would go on after the request; runs have tests of their own.
      "playbooks.run": { fields: { dry_run: true } },
      "sandcastles.query": { fields: { query: "SELECT * FROM sales" } },
      "roles.create": { fields: { name: "another" } }
    }
  }
}

const carried = (...told: ReadonlyArray<string>): Hidden => ({ told, from: ["stranger", "restricted", "foreign"] })
const organizational = (...told: ReadonlyArray<string>): Hidden => ({ told, from: ["foreign"] })

/** What each list tells its maker of, and not others, by the name of the operation. */
export const hidden = (
  tenant: Fixture.Tenant,
  { author, maker, person, target }: People,
  { agent, app, budget, chat, deployed, playbook, sandbox }: Things,
  { denied, draft, merged, open, reserved }: Library
): { readonly [operation: string]: Hidden } => ({
  "agents.list": carried(agent.id),
  "apps.list": carried(app.id),
  "chats.list": carried(chat.id),
  "connectors.list": carried(String(connectorId)),
  "playbooks.list": carried(playbook.id, deployed.id),
  "sandcastles.list": carried(sandbox),
  // Owning a folder by name counts for restricted keys, too.
  "changes.list": {
    told: [open, draft, denied, merged, reserved].map(({ change }) => change.id),
    from: ["stranger", "foreign"]
  },
  // Whoever has the permission sees all of them, within the organization.
  "apiKeys.list": organizational(maker.id),
  "auditEvents.list": organizational(maker.id),
  "folderPolicies.list": organizational(author.id),
  "members.list": organizational(person.id),
  "organization.get": organizational(tenant.organizationId),
  "roles.list": organizational(target.id),
  "usage.listBudgets": organizational(budget.id),
  // A sum, which says no id: 100 tokens went in, and the other organization has used none.
  "usage.report": organizational('"input_tokens":100'),
  // What the deployment serves, which is no secret of anybody's.
  "connectors.types": organizational(),
  "models.list": organizational()
})
