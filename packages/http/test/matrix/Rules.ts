/**
 * What the contract asks of whoever calls an operation, in a few classes: which permissions, and what the operation is
 * about. Every expectation of the matrix follows from this table and the decisions; nothing in it was read off the
 * server.
 *
 * An operation that is not in the table fails the matrix.
 *
 * Source: decisions.md §1 ("Order of checks"), §3, §4 to §9; docs/decisions.md 9, 19, 23, 29 to 32, 38, 45, 56.
 */
import { denied, type Rule } from "./Rule.ts"
import {
  admin,
  adminRequired,
  administered,
  administers,
  agent,
  app,
  asks,
  change,
  chat,
  connector,
  getApp,
  inSandcastle,
  namesConnector,
  needs,
  noSuchRole,
  nothing,
  ofSandcastle,
  oversees,
  playbook,
  queries,
  rule,
  sandcastle,
  seesTrigger
} from "./RuleClasses.ts"

/** What each operation asks of its callers, by its name. */
export const rules: { readonly [operation: string]: Rule } = {
  "chats.ask": asks,
  "chats.askStream": asks,
  "chats.list": nothing([needs("chat:read")]),
  "chats.get": chat("viewer", "chat:read"),
  "chats.cells": chat("viewer", "chat:read"),
  "chats.cell": chat("viewer", "chat:read"),
  "chats.update": chat("editor", "chat:write"),
  "chats.delete": chat("owner", "chat:write"),
  "chats.cancel": chat("editor", "chat:write"),
  "chats.follow": chat("viewer", "chat:read"),
  "chats.feedback": chat("viewer", "chat:read"),

  "connectors.list": nothing([needs("connector:read")]),
  "connectors.types": nothing([needs("connector:read")]),
  "connectors.create": nothing([needs("connector:write")]),
  "connectors.test": nothing([needs("connector:write")]),
  "connectors.update": connector("editor", "connector:write"),
  "connectors.delete": connector("owner", "connector:write"),
  // Row policies say what others may not see: whoever only uses a connector is not told.
  "connectors.listRowPolicies": connector("editor", "connector:write"),
  "connectors.replaceRowPolicies": connector("editor", "connector:write"),

  // Only what the caller may choose: whoever has no role may choose nothing.
  "models.list": nothing([]),

  "playbooks.create": nothing([needs("playbook:write")]),
  "playbooks.list": nothing([needs("playbook:read")]),
  "playbooks.get": playbook("viewer", "playbook:read"),
  "playbooks.update": playbook("editor", "playbook:write"),
  "playbooks.delete": playbook("owner", "playbook:write"),
  "playbooks.deploy": playbook("editor", "playbook:write"),
  "playbooks.undeploy": playbook("editor", "playbook:write"),
  "playbooks.run": playbook("viewer", "playbook:run"),
  "playbooks.listRuns": playbook("viewer", "playbook:read"),

  "sandcastles.start": inSandcastle,
  "sandcastles.list": nothing([needs("sandcastle:read")]),
  "sandcastles.get": ofSandcastle,
  // Whoever runs the organization stops any, and is told no more of it.
  "sandcastles.stop": sandcastle(
    [{ ...needs("sandcastle:execute"), anyOf: ["sandcastle:execute", "organization:write"] }],
    {
      except: { restricted: "served", stranger: "served", administrator: "served" }
    }
  ),
  "sandcastles.execute": inSandcastle,
  "sandcastles.exec": inSandcastle,
  "sandcastles.query": sandcastle([needs("sandcastle:execute"), queries]),
  "sandcastles.interrupt": inSandcastle,
  "sandcastles.listFiles": ofSandcastle,
  "sandcastles.uploadFile": inSandcastle,
  "sandcastles.downloadFile": ofSandcastle,
  "sandcastles.deleteFile": inSandcastle,
  "sandcastles.executions": ofSandcastle,
  "sandcastles.libraryDiff": ofSandcastle,
  "sandcastles.createLibraryChange": sandcastle([needs("sandcastle:read"), needs("library:propose")]),

  "changes.list": nothing([needs("library:read")]),
  "changes.get": change("library:read"),
  "changes.approve": change("library:approve"),
  "changes.deny": change("library:approve"),
  "changes.restore": change("library:approve"),
  "changes.submit": change("library:propose", {
    except: { administrator: denied("permission denied: only the author submits a change") }
  }),

  "folderPolicies.list": nothing([needs("library:read")]),
  "folderPolicies.save": nothing([admin], {
    except: { restricted: adminRequired, stranger: adminRequired, foreign: noSuchRole }
  }),
  "folderPolicies.delete": nothing([admin], {
    except: {
      restricted: adminRequired,
      stranger: adminRequired,
      foreign: { code: "not_found", message: /not found|no such|no policy/ }
    }
  }),

  "agents.create": nothing([needs("agent:write"), queries], { except: namesConnector }),
  "agents.list": nothing([needs("agent:read")]),
  "agents.get": agent("viewer", "agent:read"),
  "agents.update": agent("editor", "agent:write"),
  "agents.delete": agent("owner", "agent:write"),
  "agents.listTriggers": agent("viewer", "agent:read"),
  "agents.createTrigger": agent("editor", "agent:write"),
  "agents.deleteTrigger": agent("editor", "agent:write"),
  "agents.listRuns": agent("viewer", "agent:read"),
  "webhook.trigger": rule(
    { _tag: "Carrier", thing: "agent", reach: "viewer", hiddenAs: "trigger" },
    [seesTrigger, needs("agent:trigger")],
    {}
  ),

  "apps.create": rule(
    { _tag: "Carrier", thing: "chat", reach: "viewer", hiddenAs: "chat" },
    [needs("chat:read"), needs("app:write")],
    {}
  ),
  "apps.list": nothing([needs("app:read")]),
  "apps.get": getApp,
  "apps.update": app("editor", "app:write"),
  "apps.delete": app("owner", "app:write"),
  "rpc.getApp": getApp,
  "publicRpc.getApp": getApp,

  "access.getChat": chat("viewer", "chat:read"),
  "access.replaceChat": chat("owner", "chat:write"),
  "access.getPlaybook": playbook("viewer", "playbook:read"),
  "access.replacePlaybook": playbook("owner", "playbook:write"),
  "access.getAgent": agent("viewer", "agent:read"),
  "access.replaceAgent": agent("owner", "agent:write"),
  "access.getConnector": connector("viewer", "connector:read"),
  "access.replaceConnector": connector("owner", "connector:write"),
  "access.getApp": app("viewer", "app:read"),
  "access.replaceApp": app("owner", "app:write"),

  // A key of one's own needs no permission, and gives nothing that the caller lacks.
  "apiKeys.mint": nothing([], {
    proper: "everything",
    handsOn: true,
    except: {
      powerless: denied(/assumedRoles names a role that you do not hold/),
      administrator: denied(/assumedRoles names a role that you do not hold/),
      foreign: denied(/assumedRoles names a role that you do not hold/)
    }
  }),
  "apiKeys.list": nothing([]),
  "apiKeys.revoke": administered("API key", [needs("organization:write")]),
  "apiKeys.rotate": administered("API key", [needs("organization:write")], { handsOn: true }),

  // Whoever came by a bearer value may have a session of it.
  "sessions.mint": nothing([]),

  "roles.list": nothing([oversees("role:write")]),
  "roles.create": nothing([administers("role:write")]),
  "roles.get": administered("role", [oversees("role:write")]),
  "roles.update": administered("role", [administers("role:write")]),
  "roles.delete": administered("role", [administers("role:write")]),
  "roles.getPermissions": administered("role", [oversees("role:write")]),
  "roles.replacePermissions": administered("role", [administers("role:write")], { proper: "admin", handsOn: true }),

  "members.list": nothing([oversees("member:write")]),
  "members.invite": nothing([administers("member:write")], {
    proper: "admin",
    handsOn: true,
    except: {
      restricted: denied(/you do not hold the role member/),
      stranger: denied(/you do not hold the role member/)
    }
  }),
  "members.createServiceAccount": nothing([administers("member:write")]),
  "members.remove": administered("member", [administers("member:write")]),
  "members.listRoles": administered("member", [oversees("role:write")]),
  "members.assignRole": administered("member", [administers("role:write")], {
    proper: "admin",
    handsOn: true,
    except: {
      restricted: denied(/you do not hold the role target/),
      stranger: denied(/you do not hold the role target/)
    }
  }),
  "members.unassignRole": administered("member", [administers("role:write")]),

  "organization.get": nothing([needs("organization:read")]),
  "organization.update": nothing([needs("organization:write")]),
  "usage.report": nothing([needs("organization:read")]),
  "usage.listBudgets": nothing([needs("organization:read")]),
  "usage.replaceBudgets": nothing([needs("organization:write")], { except: { foreign: noSuchRole } }),
  "auditEvents.list": nothing([needs("audit:read")]),

  "rpc.migrateScimGroupMappings": nothing([admin], {
    except: { restricted: adminRequired, stranger: adminRequired }
  }),
  "publicRpc.migrateScimGroupMappings": nothing([admin], {
    except: { restricted: adminRequired, stranger: adminRequired }
  })
}

/** Operations that ask for no credential, and why. Everything else that answers an anonymous caller is a defect. */
export const anonymous: { readonly [operation: string]: string } = {
  "system.health": "a load balancer asks it, which has no credential; it tells nothing",
  "system.readiness": "a load balancer asks it, which has no credential; it tells nothing",
  "assets.get": "its address is signed: whoever holds it may see the asset, and an altered one is 403"
}

/** What is served beside the contract, to anybody, and why. */
export const besideContract: { readonly [path: string]: string } = {
  "/openapi.json": "the contract is public: it tells of no organization",
  "/docs": "the page that shows the contract",
  "/docs/reference.js": "the program of that page"
}
