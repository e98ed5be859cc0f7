/**
 * The RPC surface, at its plain paths and under `/rpc/public`, which SDKs put in front themselves.
 *
 * Source: api-v2.md "RPC surface"; decisions.md §9 ("RPC paths are served with and without the `/rpc/public` prefix").
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { operation, reportingInput } from "../wire/Operation.ts"
import { DeadlineExceeded, FailedPrecondition, NotFoundConnect, PermissionDeniedConnect } from "./ConnectError.ts"
import { ConnectHeaders, ConnectSchemaErrors, RpcAuthentication } from "./ConnectProtocol.ts"
import {
  GetAppRequest,
  GetAppResponse,
  MigrateScimGroupMappingsRequest,
  MigrateScimGroupMappingsResponse
} from "./RpcWire.ts"

const getApp = HttpApiEndpoint.post("getApp", "/svc.rpc.public.app.AppService/GetApp", {
  headers: ConnectHeaders,
  payload: GetAppRequest,
  success: GetAppResponse,
  error: [PermissionDeniedConnect, NotFoundConnect, DeadlineExceeded]
})

const migrateScimGroupMappings = HttpApiEndpoint.post(
  "migrateScimGroupMappings",
  "/svc.rpc.public.rbac.RBACService/MigrateAllScimGroupMappings",
  {
    headers: ConnectHeaders,
    payload: MigrateScimGroupMappingsRequest,
    success: MigrateScimGroupMappingsResponse,
    error: [PermissionDeniedConnect, FailedPrecondition, DeadlineExceeded]
  }
)

const getAppWords = ["Get an app", "An app by its id: a published dashboard."] as const
const migrateWords = [
  "Migrate the SCIM group mappings",
  "Turns every mapping of a SCIM group to a role's name into one to a role's id, all or none, and answers how many it moved. A role that does not exist is made. To call it again moves nothing. It needs the admin role."
] as const

const surface = OpenApi.annotations({ title: "RPC", description: "Operations of the Connect protocol" })

/** The RPC surface. */
export class RpcGroup extends HttpApiGroup.make("rpc")
  .add(
    getApp.annotateMerge(operation("getAppRpc", ...getAppWords)),
    migrateScimGroupMappings.annotateMerge(operation("migrateScimGroupMappingsRpc", ...migrateWords))
  )
  .middleware(ConnectSchemaErrors)
  .middleware(RpcAuthentication)
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(surface) {}

/** The RPC surface under `/rpc/public`. */
export class PublicRpcGroup extends HttpApiGroup.make("publicRpc")
  .add(
    getApp.annotateMerge(operation("getAppPublicRpc", ...getAppWords)),
    migrateScimGroupMappings.annotateMerge(operation("migrateScimGroupMappingsPublicRpc", ...migrateWords))
  )
  .middleware(ConnectSchemaErrors)
  .middleware(RpcAuthentication)
  .prefix("/rpc/public")
  .annotateEndpointsMerge(reportingInput)
  .annotateMerge(surface) {}
