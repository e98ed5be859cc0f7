/**
 * The contract: every operation of the service.
 *
 * Definitions only. `@castellan/http` binds them to the use cases; the clients and the OpenAPI document are derived.
 *
 * Source: api-v2.md; decisions.md.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AccessGroup } from "./access/AccessGroup.ts"
import { AgentsGroup } from "./agent/AgentsGroup.ts"
import { ApiKeysGroup } from "./apikey/ApiKeysGroup.ts"
import { AppsGroup } from "./app/AppsGroup.ts"
import { AssetsGroup } from "./asset/AssetsGroup.ts"
import { AuditEventsGroup } from "./audit/AuditEventsGroup.ts"
import { ChangesGroup } from "./change/ChangesGroup.ts"
import { ChatsGroup } from "./chat/ChatsGroup.ts"
import { ConnectorsGroup } from "./connector/ConnectorsGroup.ts"
import { FolderPoliciesGroup } from "./folderpolicy/FolderPoliciesGroup.ts"
import { MembersGroup } from "./member/MembersGroup.ts"
import { ModelsGroup } from "./model/ModelsGroup.ts"
import { OrganizationGroup } from "./organization/OrganizationGroup.ts"
import { PlaybooksGroup } from "./playbook/PlaybooksGroup.ts"
import { RolesGroup } from "./role/RolesGroup.ts"
import { PublicRpcGroup, RpcGroup } from "./rpc/RpcGroup.ts"
import { WebhookGroup } from "./rpc/WebhookGroup.ts"
import { SandcastlesGroup } from "./sandcastle/SandcastlesGroup.ts"
import { SessionsGroup } from "./session/SessionsGroup.ts"
import { SystemGroup } from "./system/SystemGroup.ts"
import { UsageGroup } from "./usage/UsageGroup.ts"

/** The contract of the service. */
export class Api extends HttpApi.make("castellan")
  .add(
    ChatsGroup,
    AssetsGroup,
    ConnectorsGroup,
    ModelsGroup,
    PlaybooksGroup,
    SandcastlesGroup,
    ChangesGroup,
    FolderPoliciesGroup,
    AgentsGroup,
    WebhookGroup,
    AppsGroup,
    AccessGroup,
    ApiKeysGroup,
    SessionsGroup,
    RolesGroup,
    MembersGroup,
    OrganizationGroup,
    UsageGroup,
    AuditEventsGroup,
    RpcGroup,
    PublicRpcGroup,
    SystemGroup
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Castellan",
      version: "2.0",
      summary: "Analytics chat and automation over your own data",
      description: "Ask questions about your data in natural language; answers come as text, tables and charts.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" }
    })
  ) {}
