/**
 * The part of the contract that this server has handlers for. The whole contract, `Api`, is larger while the service
 * grows; what is not here is answered as an unknown route, and `/openapi.json` does not tell of it.
 *
 * An operation is served by adding its endpoint here and its handler in the folder of its feature: the compiler asks
 * for the one when it has the other.
 */
import { Api } from "@castellan/api/Api"
import { AssetsGroup } from "@castellan/api/asset/AssetsGroup"
import { ChatsGroup } from "@castellan/api/chat/ChatsGroup"
import { ConnectorsGroup } from "@castellan/api/connector/ConnectorsGroup"
import { ModelsGroup } from "@castellan/api/model/ModelsGroup"
import { SystemGroup } from "@castellan/api/system/SystemGroup"
import * as HttpApi from "effect/http-api/HttpApi"

/** What this server serves of the contract. */
export class ServedApi extends HttpApi.make("castellan")
  .add(ChatsGroup, ConnectorsGroup, ModelsGroup, AssetsGroup, SystemGroup)
  .annotateMerge(Api.annotations) {}
