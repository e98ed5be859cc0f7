/**
 * The contract: every operation that is served so far.
 *
 * Definitions only. `@castellan/http` binds them to the use cases; the clients and the OpenAPI document are derived.
 *
 * Source: api-v2.md; decisions.md §1, §2, §4, §5.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AssetsGroup } from "./asset/AssetsGroup.ts"
import { ChatsGroup } from "./chat/ChatsGroup.ts"
import { ConnectorsGroup } from "./connector/ConnectorsGroup.ts"
import { ModelsGroup } from "./model/ModelsGroup.ts"
import { SystemGroup } from "./system/SystemGroup.ts"

/** The contract of the service. */
export class Api extends HttpApi.make("castellan")
  .add(ChatsGroup, ConnectorsGroup, ModelsGroup, AssetsGroup, SystemGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Castellan",
      version: "2.0",
      summary: "Analytics chat and automation over your own data",
      description: "Ask questions about your data in natural language; answers come as text, tables and charts.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" }
    })
  ) {}
