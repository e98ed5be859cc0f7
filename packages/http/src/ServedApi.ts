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
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"

const { ask, askStream, cancel, cells, follow, get, list } = ChatsGroup.endpoints

/** The operations of chats that are served. */
const Chats = HttpApiGroup.make("chats")
  .add(ask, askStream, list, get, cells, follow, cancel)
  .annotateMerge(ChatsGroup.annotations)

/** The operations of connectors that are served. */
const Connectors = HttpApiGroup.make("connectors")
  .add(ConnectorsGroup.endpoints.list)
  .annotateMerge(ConnectorsGroup.annotations)

/** What this server serves of the contract. */
export class ServedApi extends HttpApi.make("castellan")
  .add(Chats, Connectors, ModelsGroup, AssetsGroup, SystemGroup)
  .annotateMerge(Api.annotations) {}
