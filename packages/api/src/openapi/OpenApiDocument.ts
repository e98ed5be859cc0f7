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
import * as Schema from "effect/Schema"
import { Api } from "../Api.ts"
import { SignedAsset } from "../asset/AssetsGroup.ts"
import { ListCellsQuery, ListChatsQuery } from "../chat/ChatQueries.ts"
import { errorResponses } from "./ErrorResponses.ts"
import { componentExamples, parameterExamples } from "./Examples.ts"
import {
  decodeJson,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  mapObjects,
  objectAt,
  rewrite,
  without
} from "./internal/JsonTree.ts"

const schemaPrefix = "#/components/schemas/"

/** The name of the component that a schema refers to. */
const componentOf = (schema: Json | undefined): string | undefined => {
  if (!isObject(schema)) return undefined
  const { $ref } = schema
  return typeof $ref === "string" && $ref.startsWith(schemaPrefix) ? $ref.slice(schemaPrefix.length) : undefined
}

/** A schema whose refinements stand beside its type, not in an `allOf` of their own. */
const flatten = (schema: JsonObject): JsonObject => {
  const { allOf } = schema
  if (allOf === undefined || !isArray(allOf)) return schema
  const parts = allOf.filter(isObject)
  if (parts.length !== allOf.length || parts.some((part) => "$ref" in part)) return schema
  return Object.assign({}, without(schema, "allOf"), ...parts)
}

/** The bounds of every integer of JavaScript say nothing about this one. */
const withoutSafeBounds = (schema: JsonObject): JsonObject =>
  without(
    schema,
    ...(schema["minimum"] === Number.MIN_SAFE_INTEGER ? ["minimum"] : []),
    ...(schema["maximum"] === Number.MAX_SAFE_INTEGER ? ["maximum"] : [])
  )

/** More fields may come, and unknown ones are ignored. */
const open = (schema: JsonObject): JsonObject =>
  schema["additionalProperties"] === false ? without(schema, "additionalProperties") : schema

const tidySchema = (schema: JsonObject): JsonObject => open(withoutSafeBounds(flatten(schema)))

/** Puts the components of texts that hold JSON in the places that refer to them. */
const inlineEncoded = (document: JsonObject): JsonObject => {
  const components = objectAt(document, "components")
  const schemas = objectAt(components, "schemas")
  const encoded = Object.keys(schemas).filter((name) => name.endsWith("Encoded"))
  const inlined = rewrite(document, (value) => {
    const name = componentOf(value)
    return name !== undefined && encoded.includes(name) ? objectAt(schemas, name) : value
  })
  if (!isObject(inlined)) return document
  const tidied = objectAt(inlined, "components")
  return {
    ...inlined,
    components: { ...tidied, schemas: without(objectAt(tidied, "schemas"), ...encoded) }
  }
}

/** A union of objects that a field tells apart says so. */
const discriminated = (schema: JsonObject, schemas: JsonObject): JsonObject => {
  const { anyOf } = schema
  if (anyOf === undefined || !isArray(anyOf)) return schema
  const mapping: Record<string, string> = {}
  for (const member of anyOf) {
    const name = componentOf(member)
    if (name === undefined) return schema
    const { enum: values } = objectAt(objectAt(objectAt(schemas, name), "properties"), "type")
    const only = values !== undefined && isArray(values) ? values[0] : undefined
    if (typeof only !== "string") return schema
    mapping[only] = `${schemaPrefix}${name}`
  }
  return { ...without(schema, "anyOf"), oneOf: anyOf, discriminator: { propertyName: "type", mapping } }
}

const tidySchemas = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(mapObjects(schemas, (schema) => discriminated(schema, schemas)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => {
        const example = componentExamples[name]
        return [name, isObject(schema) && example !== undefined ? { ...schema, examples: [example] } : schema]
      })
  )

/** A body as readers look at it: the stream as its events, and an example of what is sent. */
const tidyMediaType = (mediaType: JsonObject, name: string, schemas: JsonObject): JsonObject => {
  if (name === "text/event-stream") return { schema: { $ref: `${schemaPrefix}ChatStreamEvent` } }
  const component = componentOf(mediaType["schema"])
  const example = component === undefined ? undefined : objectAt(schemas, component)["examples"]
  const [first] = example !== undefined && isArray(example) ? example : []
  return { ...without(mediaType, "x-effect-stream"), ...(first === undefined ? {} : { example: first }) }
}

const requestId = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } }

const streamDescription = [
  "The events of the run as server-sent events. `id` grows from event to event, and is what `Last-Event-ID` takes; `data` is a `ChatStreamEvent`.",
  "A line that starts with a colon is a comment.",
  "",
  "```",
  "id: 1",
  'data: {"type":"metadata","id":"…","created_at":"…","model":"…","chat_id":"…","is_continuation":false}',
  "",
  "id: 2",
  'data: {"type":"text","text":"The three busiest"}',
  "",
  ": heartbeat",
  "",
  "id: 3",
  'data: {"type":"done","status":"completed"}',
  "```"
].join("\n")

/**
 * The values of the queries, by operation. The contract reads them from text, so that on its own the document would
 * show a pattern of digits where an integer and its bounds are meant.
 */
const queries: Readonly<Record<string, Schema.Top>> = {
  listChats: ListChatsQuery,
  listCells: ListCellsQuery,
  getAsset: SignedAsset
}

/** A parameter as the value that it stands for. */
const asValue = (parameter: JsonObject, operationId: Json | undefined): JsonObject => {
  const { in: place, name } = parameter
  const query = typeof operationId === "string" ? queries[operationId] : undefined
  if (place !== "query" || typeof name !== "string" || query === undefined) return parameter
  const described = decodeJson(Schema.toJsonSchemaDocument(query).schema)
  if (!isObject(described)) return parameter
  const { required } = described
  const schema = rewrite(objectAt(objectAt(described, "properties"), name), tidySchema)
  return { ...parameter, schema, required: required !== undefined && isArray(required) && required.includes(name) }
}

/** The description of an answer: of the stream its own, else its schema's. */
const describe = (response: JsonObject, schemas: JsonObject): Json => {
  const content = objectAt(response, "content")
  if ("text/event-stream" in content) return streamDescription
  const [body] = Object.values(content)
  const component = isObject(body) ? componentOf(body["schema"]) : undefined
  const description = component === undefined ? undefined : objectAt(schemas, component)["description"]
  return description ?? "The bytes, in the media type of the format"
}

const tidyResponse = (response: JsonObject, status: string, schemas: JsonObject): JsonObject => {
  const shared = errorResponses[status]
  if (shared !== undefined) return { $ref: `#/components/responses/${shared.name}` }
  return {
    ...response,
    description: describe(response, schemas),
    headers: { ...requestId, ...objectAt(response, "headers") },
    content: mapObjects(objectAt(response, "content"), (mediaType, name) => tidyMediaType(mediaType, name, schemas))
  }
}

/** A parameter says what it is itself; its schema says which values it takes. */
const tidyParameter = (parameter: JsonObject): JsonObject => {
  const { in: place, name, required } = parameter
  const schema = objectAt(parameter, "schema")
  const example = typeof name === "string" ? parameterExamples[name] : undefined
  return {
    name: place === "header" && name === "last-event-id" ? "Last-Event-ID" : (name ?? ""),
    in: place ?? "",
    ...(schema["description"] === undefined ? {} : { description: schema["description"] }),
    required: required ?? false,
    schema: without(schema, "description"),
    ...(example === undefined ? {} : { example })
  }
}

/** Errors of a request's shape that an operation cannot have, because its request has no such part. */
const impossible = (parameters: ReadonlyArray<JsonObject>, hasBody: boolean): ReadonlyArray<string> => {
  const has = (place: string) => parameters.some((parameter) => parameter["in"] === place)
  return [
    ...(hasBody || has("query") || has("header") ? [] : ["400"]),
    // A malformed id in a path reads as not found.
    ...(hasBody || has("path") ? [] : ["404"])
  ]
}

const tidyOperation = (operation: JsonObject, schemas: JsonObject): JsonObject => {
  const { description, operationId, parameters, requestBody, security, summary, tags } = operation
  const tidied =
    parameters !== undefined && isArray(parameters)
      ? parameters.filter(isObject).map((parameter) => tidyParameter(asValue(parameter, operationId)))
      : []
  const answers = without(objectAt(operation, "responses"), ...impossible(tidied, requestBody !== undefined))
  return {
    operationId: operationId ?? "",
    tags: tags ?? [],
    summary: summary ?? "",
    description: description ?? "",
    security: security ?? [],
    ...(tidied.length === 0 ? {} : { parameters: tidied }),
    ...(isObject(requestBody)
      ? {
          requestBody: {
            ...requestBody,
            content: mapObjects(objectAt(requestBody, "content"), (mediaType, name) =>
              tidyMediaType(mediaType, name, schemas)
            )
          }
        }
      : {}),
    responses: mapObjects(answers, (response, status) => tidyResponse(response, status, schemas))
  }
}

/** The answers that every operation shares, as the first operation that has them describes them. */
const sharedResponses = (operations: ReadonlyArray<JsonObject>, schemas: JsonObject): JsonObject => {
  const shared: Record<string, Json> = {}
  for (const operation of operations) {
    for (const [status, response] of Object.entries(objectAt(operation, "responses"))) {
      const known = errorResponses[status]
      if (known === undefined || known.name in shared || !isObject(response)) continue
      const headers = mapObjects(objectAt(response, "headers"), (header, name) => {
        const description = known.headers?.[name]
        return description === undefined ? header : description
      })
      shared[known.name] = {
        description: known.description,
        headers: {
          ...requestId,
          ...Object.fromEntries(Object.entries(headers).map(([name, header]) => [canonicalHeader(name), header]))
        },
        content: mapObjects(objectAt(response, "content"), (mediaType, name) => ({
          ...tidyMediaType(mediaType, name, schemas),
          example: known.example
        }))
      }
    }
  }
  return Object.fromEntries(Object.entries(shared).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** `retry-after` as people write it. */
const canonicalHeader = (name: string): string =>
  name === "www-authenticate" ? "WWW-Authenticate" : name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())

const methods = ["get", "put", "post", "delete", "patch"]

/** The document, made fit to read. */
export const refine = (derived: OpenApi.OpenAPISpec): JsonObject => {
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
    tags: document["tags"] ?? [],
    paths: mapObjects(paths, (item) => mapObjects(item, (operation) => tidyOperation(operation, schemas))),
    components: {
      securitySchemes: mapObjects(objectAt(components, "securitySchemes"), (scheme) => ({
        ...scheme,
        scheme: "bearer"
      })),
      headers: {
        RequestId: {
          description:
            "The id of the request: taken from the request's own `X-Request-Id` when it has one, else made. The server's log has it too",
          schema: { type: "string", minLength: 1, maxLength: 128 },
          example: "01980c5e-7f3a-7c41-9a55-3d7f2f6a9b10"
        }
      },
      responses: sharedResponses(operations, schemas),
      schemas
    }
  }
}

/** The OpenAPI 3.1 document of an API: of the whole contract, or of the part of it that a server serves. */
export const documentOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): JsonObject => refine(OpenApi.fromApi(api))

/** The OpenAPI 3.1 document of the whole contract. */
export const document: JsonObject = documentOf(Api)
