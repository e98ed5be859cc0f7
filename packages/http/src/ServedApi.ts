/**
 * The part of the contract that this server has handlers for. The whole contract, `Api`, is larger while the service
 * grows; what is not here is answered as an unknown route, and `/openapi.json` does not tell of it.
 *
 * An operation is served by adding its endpoint here and its handler in the folder of its feature: the compiler asks
 * for the one when it has the other.
 */
import { AccessGroup } from "@castellan/api/access/AccessGroup"
import { AgentsGroup } from "@castellan/api/agent/AgentsGroup"
import { Api } from "@castellan/api/Api"
import { AppsGroup } from "@castellan/api/app/AppsGroup"
import { ApiKeysGroup } from "@castellan/api/apikey/ApiKeysGroup"
import { AssetsGroup } from "@castellan/api/asset/AssetsGroup"
import { AuditEventsGroup } from "@castellan/api/audit/AuditEventsGroup"
import { ChangesGroup } from "@castellan/api/change/ChangesGroup"
import { ChatsGroup } from "@castellan/api/chat/ChatsGroup"
import { ConnectorsGroup } from "@castellan/api/connector/ConnectorsGroup"
import { MembersGroup } from "@castellan/api/member/MembersGroup"
import { FolderPoliciesGroup } from "@castellan/api/folderpolicy/FolderPoliciesGroup"
import { ModelsGroup } from "@castellan/api/model/ModelsGroup"
import { OrganizationGroup } from "@castellan/api/organization/OrganizationGroup"
import { RolesGroup } from "@castellan/api/role/RolesGroup"
import { SessionsGroup } from "@castellan/api/session/SessionsGroup"
import { PlaybooksGroup } from "@castellan/api/playbook/PlaybooksGroup"
import { SandcastlesGroup } from "@castellan/api/sandcastle/SandcastlesGroup"
import { SystemGroup } from "@castellan/api/system/SystemGroup"
import { UsageGroup } from "@castellan/api/usage/UsageGroup"
import * as HttpApi from "effect/http-api/HttpApi"

/** What this server serves of the contract. */
export class ServedApi extends HttpApi.make("castellan")
  .add(ChatsGroup, ConnectorsGroup, ModelsGroup, AssetsGroup, SystemGroup)
  .add(PlaybooksGroup, SandcastlesGroup, ChangesGroup, FolderPoliciesGroup, AgentsGroup, AppsGroup)
  .add(AccessGroup, ApiKeysGroup, AuditEventsGroup, MembersGroup, OrganizationGroup, RolesGroup)
  .add(SessionsGroup, UsageGroup)
  .annotateMerge(Api.annotations) {}
