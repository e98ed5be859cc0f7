/**
 * The operations of the promise client, as a table from which its methods are made: method and path, and what the
 * operation takes beside the ids in its path.
 *
 * - ` ?` a query
 * - ` !` a body
 * - ` !?` a body that may be left out
 *
 * Operations that are more than a request and a JSON answer (streams, forms, bytes) are written out in `Client`. A test
 * holds the table against the contract.
 */

/** The table: groups of the contract, and their operations. */
export const routes = {
  chats: {
    /** Lists the chats that the caller may read. */
    list: "GET /v2/chats ?",
    /** A chat with its messages and assets. */
    get: "GET /v2/chats/{id}",
    /** The steps of a chat's runs, from the newest back. */
    cells: "GET /v2/chats/{id}/cells ?",
    /** One step of a chat's runs. */
    cell: "GET /v2/chats/{id}/cells/{cell_id}",
    /** Changes a chat's title. */
    update: "PATCH /v2/chats/{id} !",
    /** Deletes a chat for good, with its runs and assets. */
    delete: "DELETE /v2/chats/{id}",
    /** Cancels the run in progress, and resolves when it has ended. */
    cancel: "POST /v2/chats/{id}/cancel",
    /** Keeps what the caller thinks of a chat. */
    feedback: "POST /v2/chats/{id}/feedback !"
  },
  connectors: {
    /** The data sources that the caller may use. */
    list: "GET /v2/connectors",
    /** The kinds of source that this deployment serves. */
    types: "GET /v2/connectors/types",
    /** Makes a connector. */
    create: "POST /v2/connectors !",
    /** Says whether a source can be reached as it is described. */
    test: "POST /v2/connectors/test !",
    /** Changes a connector; what is absent stays. */
    update: "PATCH /v2/connectors/{id} !",
    /** Deletes a connector with its secret and its row policies. */
    delete: "DELETE /v2/connectors/{id}",
    /** Which rows of a connector's tables callers see. */
    listRowPolicies: "GET /v2/connectors/{id}/row-policies",
    /** Sets every row policy of a connector at once. */
    replaceRowPolicies: "PUT /v2/connectors/{id}/row-policies !"
  },
  models: {
    /** The models that the caller may choose. */
    list: "GET /v2/models"
  },
  playbooks: {
    /** Makes an empty playbook, a draft. */
    create: "POST /v2/playbooks",
    /** Lists the playbooks that the caller may read. */
    list: "GET /v2/playbooks ?",
    /** A playbook with a page of its reports. */
    get: "GET /v2/playbooks/{id} ?",
    /** Changes a playbook: what is omitted stays, an empty text or list clears. */
    update: "PATCH /v2/playbooks/{id} !",
    /** Deletes a playbook, and ends its schedule. */
    delete: "DELETE /v2/playbooks/{id}",
    /** Makes a playbook active. */
    deploy: "POST /v2/playbooks/{id}/deploy",
    /** Makes a playbook a draft again. */
    undeploy: "POST /v2/playbooks/{id}/undeploy",
    /** Runs a playbook, and resolves with its report when the run has ended. */
    run: "POST /v2/playbooks/{id}/run !?",
    /** Every run of a playbook, with where its report went. */
    listRuns: "GET /v2/playbooks/{id}/runs ?"
  },
  sandcastles: {
    /** Starts a new sandcastle, or one that was stopped. */
    start: "POST /v2/sandcastles !?",
    /** The caller's sandcastles. */
    list: "GET /v2/sandcastles ?",
    /** Whether a sandcastle runs, and what it uses and holds. */
    get: "GET /v2/sandcastles/{id}",
    /** Stops a sandcastle. */
    stop: "DELETE /v2/sandcastles/{id}",
    /** Runs Python in the sandcastle's session, whose variables stay. */
    execute: "POST /v2/sandcastles/{id}/execute !",
    /** Runs a command in a fresh process. */
    exec: "POST /v2/sandcastles/{id}/exec !",
    /** Makes the result of a query a dataframe of the session. */
    query: "POST /v2/sandcastles/{id}/query !",
    /** Stops what runs; the session stays. */
    interrupt: "POST /v2/sandcastles/{id}/interrupt",
    /** What a folder of a sandcastle holds. */
    listFiles: "GET /v2/sandcastles/{id}/files ?",
    /** Removes a file of a sandcastle. */
    deleteFile: "DELETE /v2/sandcastles/{id}/files/{path}",
    /** What ran in a sandcastle, newest first. */
    executions: "GET /v2/sandcastles/{id}/executions ?",
    /** What was done to the library in a sandcastle. */
    libraryDiff: "GET /v2/sandcastles/{id}/library/diff",
    /** Makes a reviewable change of what was done to the library. */
    createLibraryChange: "POST /v2/sandcastles/{id}/library/changes !"
  },
  changes: {
    /** The changes that the caller may see. */
    list: "GET /v2/changes ?",
    /** A change, by default its latest revision. */
    get: "GET /v2/changes/{id} ?",
    /** Approves a change as the caller reviewed it, and merges it once it has its approvals. */
    approve: "POST /v2/changes/{id}/approve !",
    /** Denies a change. */
    deny: "POST /v2/changes/{id}/deny !",
    /** Makes a denied change what it was. */
    restore: "POST /v2/changes/{id}/restore !",
    /** Opens a draft for review. */
    submit: "POST /v2/changes/{id}/submit"
  },
  folderPolicies: {
    /** Who owns which folder of the library. */
    list: "GET /v2/folder-policies",
    /** Sets the policy of a folder. */
    save: "PUT /v2/folder-policies !",
    /** Deletes the policy of a folder. */
    delete: "DELETE /v2/folder-policies ?"
  },
  agents: {
    /** Makes an agent. */
    create: "POST /v2/agents !",
    /** Lists the agents that the caller may read. */
    list: "GET /v2/agents ?",
    /** An agent by its id. */
    get: "GET /v2/agents/{id}",
    /** Changes an agent; what is absent stays. */
    update: "PATCH /v2/agents/{id} !",
    /** Deletes an agent with its triggers. */
    delete: "DELETE /v2/agents/{id}",
    /** The names by which external systems start an agent. */
    listTriggers: "GET /v2/agents/{id}/triggers",
    /** Makes a name by which an external system starts an agent. */
    createTrigger: "POST /v2/agents/{id}/triggers",
    /** Deletes a trigger of an agent. */
    deleteTrigger: "DELETE /v2/agents/{id}/triggers/{trigger_id}",
    /** The runs of an agent. */
    listRuns: "GET /v2/agents/{id}/runs ?"
  },
  webhook: {
    /** Queues a run of the agent that a trigger belongs to. */
    trigger: "POST /v1/agents/webhook/trigger !"
  },
  apps: {
    /** Publishes some of a chat's assets. */
    create: "POST /v2/apps !",
    /** Lists the apps that the caller may read. */
    list: "GET /v2/apps ?",
    /** An app with its assets. */
    get: "GET /v2/apps/{id}",
    /** Changes an app; what is absent stays. */
    update: "PATCH /v2/apps/{id} !",
    /** Deletes an app. */
    delete: "DELETE /v2/apps/{id}"
  },
  access: {
    /** Who a chat is shared with. */
    getChat: "GET /v2/chats/{id}/access",
    /** Sets at once who a chat is shared with. */
    replaceChat: "PUT /v2/chats/{id}/access !",
    /** Who a playbook is shared with. */
    getPlaybook: "GET /v2/playbooks/{id}/access",
    /** Sets at once who a playbook is shared with. */
    replacePlaybook: "PUT /v2/playbooks/{id}/access !",
    /** Who an agent is shared with. */
    getAgent: "GET /v2/agents/{id}/access",
    /** Sets at once who an agent is shared with. */
    replaceAgent: "PUT /v2/agents/{id}/access !",
    /** Who a connector is shared with. */
    getConnector: "GET /v2/connectors/{id}/access",
    /** Sets at once who a connector is shared with. */
    replaceConnector: "PUT /v2/connectors/{id}/access !",
    /** Who an app is shared with. */
    getApp: "GET /v2/apps/{id}/access",
    /** Sets at once who an app is shared with. */
    replaceApp: "PUT /v2/apps/{id}/access !"
  },
  apiKeys: {
    /** Makes a key. The answer alone holds its value. */
    mint: "POST /v2/api-keys !",
    /** Lists the keys that the caller may see. */
    list: "GET /v2/api-keys ?",
    /** Ends a key at once and for good. */
    revoke: "DELETE /v2/api-keys/{id}",
    /** Makes a key in place of another. */
    rotate: "POST /v2/api-keys/{id}/rotate !?"
  },
  sessions: {
    /** Makes a token of 15 minutes for a browser. */
    mint: "POST /v2/sessions"
  },
  roles: {
    /** The roles of the organization. */
    list: "GET /v2/roles",
    /** Makes a role without a permission. */
    create: "POST /v2/roles !",
    /** A role with its model configuration. */
    get: "GET /v2/roles/{id}",
    /** Changes a role; what is absent stays. */
    update: "PATCH /v2/roles/{id} !",
    /** Deletes a role. */
    delete: "DELETE /v2/roles/{id}",
    /** What a role lets its holders do. */
    getPermissions: "GET /v2/roles/{id}/permissions",
    /** Sets every permission of a role at once. */
    replacePermissions: "PUT /v2/roles/{id}/permissions !"
  },
  members: {
    /** The members of the organization. */
    list: "GET /v2/members",
    /** Makes a person a member of the organization. */
    invite: "POST /v2/members/invite !",
    /** Makes a member that is no person. */
    createServiceAccount: "POST /v2/members/service-accounts !",
    /** Deactivates a member, or removes it for good. */
    remove: "DELETE /v2/members/{id} ?",
    /** The roles that a member holds. */
    listRoles: "GET /v2/members/{id}/roles",
    /** Gives a member a role. */
    assignRole: "POST /v2/members/{id}/roles !",
    /** Takes a role from a member. */
    unassignRole: "DELETE /v2/members/{id}/roles/{roleId}"
  },
  organization: {
    /** The caller's organization and its settings. */
    get: "GET /v2/organization",
    /** Changes the organization's settings; what is absent stays. */
    update: "PATCH /v2/organization !"
  },
  usage: {
    /** What runs used up, summed. */
    report: "GET /v2/usage ?",
    /** The budgets of the organization. */
    listBudgets: "GET /v2/budgets",
    /** Sets every budget at once. */
    replaceBudgets: "PUT /v2/budgets !"
  },
  auditEvents: {
    /** Who did what to which thing, newest first. */
    list: "GET /v2/audit-events ?"
  },
  rpc: {
    /** An app by its id. */
    getApp: "POST /svc.rpc.public.app.AppService/GetApp !",
    /** Turns every mapping of a SCIM group to a role's name into one to a role's id. */
    migrateScimGroupMappings: "POST /svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings !"
  },
  publicRpc: {
    /** An app by its id. */
    getApp: "POST /rpc/public/svc.rpc.public.app.AppService/GetApp !",
    /** Turns every mapping of a SCIM group to a role's name into one to a role's id. */
    migrateScimGroupMappings: "POST /rpc/public/svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings !"
  },
  system: {
    /** Whether the process is up. */
    health: "GET /healthz",
    /** Whether requests can be answered. */
    readiness: "GET /readyz"
  }
} as const
