/**
 * The OpenAPI 3.1 document: what Effect derives from the contract, made fit for the people and programs that read it.
 *
 * The derivation describes schemas faithfully and HTTP tersely. What is added here: shared responses for errors, the
 * request id, descriptions where readers look for them, the event stream as the events that it carries, an example
 * everywhere. What is taken away: names of intermediate codecs, Effect's own extensions, and the claim that no other
 * field may ever come, which decisions.md §1 denies.
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Api } from "../Api.ts"
import { inlineEncoded, tidySchema, tidySchemas } from "./internal/Components.ts"
import { factsOf, type OperationFacts } from "./internal/ContractFacts.ts"
import {
  decodeJson,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  mapObjects,
  objectAt,
  rewrite
} from "./internal/JsonTree.ts"
import { sharedHeaders, sharedResponses, tidyOperation } from "./internal/Operations.ts"

const methods = ["get", "put", "post", "delete", "patch"]

/** A bearer's scheme is written in lower case. */
const tidySecurity = (scheme: JsonObject): JsonObject =>
  scheme["type"] === "http" ? { ...scheme, scheme: "bearer" } : scheme

/** The tags, each once: groups may share one. */
const distinctTags = (tags: Json | undefined): Json => {
  const all = tags !== undefined && isArray(tags) ? tags.filter(isObject) : []
  return [...new Map(all.map((tag) => [tag["name"], tag])).values()]
}

/** The document, made fit to read. */
const refine = (derived: OpenApi.OpenAPISpec, facts: ReadonlyMap<string, OperationFacts>): JsonObject => {
  const json = rewrite(decodeJson(derived), tidySchema)
  const document = inlineEncoded(isObject(json) ? json : {})
  const components = objectAt(document, "components")
  const schemas = tidySchemas(objectAt(components, "schemas"))
  const paths = objectAt(document, "paths")
  const operations = Object.values(paths).flatMap((item) =>
    isObject(item) ? methods.flatMap((method) => (method in item ? [objectAt(item, method)] : [])) : []
  )
  return {
    openapi: document["openapi"] ?? "3.1.0",
    info: document["info"] ?? {},
    servers: [{ url: "/", description: "The server that this document came from" }],
    tags: distinctTags(document["tags"]),
    paths: mapObjects(paths, (item, path) =>
      mapObjects(item, (operation, method) =>
        tidyOperation(operation, {
          path,
          schemas,
          facts,
          isIdempotent: method === "post" && path.startsWith("/v2/")
        })
      )
    ),
    components: {
      securitySchemes: mapObjects(objectAt(components, "securitySchemes"), tidySecurity),
      headers: sharedHeaders,
      responses: sharedResponses(operations),
      schemas
    }
  }
}

/** The OpenAPI 3.1 document of an API. */
export const documentOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): JsonObject => refine(OpenApi.fromApi(api), factsOf(api))

/** The OpenAPI 3.1 document of the whole contract. */
export const document: JsonObject = documentOf(Api)
