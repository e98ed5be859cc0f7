/**
 * The operations of the document, made fit to read.
 */
import * as Schema from "effect/Schema"
import {
  connectErrorResponses,
  connectUnavailable,
  type ErrorResponse,
  errorResponses,
  unavailable
} from "../ErrorResponses.ts"
import { parameterExample } from "../Examples.ts"
import { componentsOf, refTo, tidySchema } from "./Components.ts"
import type { OperationFacts } from "./ContractFacts.ts"
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
} from "./JsonTree.ts"

/** The example of the first schema of some that has one. */
const exampleOf = (names: ReadonlyArray<string>, schemas: JsonObject): Json | undefined => {
  for (const name of names) {
    const { examples } = objectAt(schemas, name)
    const [first] = examples !== undefined && isArray(examples) ? examples : []
    if (first !== undefined) return first
  }
  return undefined
}

/** A body that may be left out is told by `required`, and by nothing else. */
const withoutNull = (schema: JsonObject): JsonObject => {
  const { anyOf } = schema
  if (anyOf === undefined || !isArray(anyOf)) return schema
  const bodies = anyOf.filter((member) => isObject(member) && member["type"] !== "null")
  const [only] = bodies
  return bodies.length === 1 && isObject(only) ? only : schema
}

const isOptional = (content: JsonObject): boolean =>
  Object.values(content).some((mediaType) => {
    if (!isObject(mediaType)) return false
    const schema = objectAt(mediaType, "schema")
    return withoutNull(schema) !== schema
  })

/** A body as readers look at it: the stream as its events, and an example of what is sent. */
const tidyMediaType = (mediaType: JsonObject, name: string, schemas: JsonObject): JsonObject => {
  if (name === "text/event-stream") return { schema: refTo("ChatStreamEvent") }
  const schema = withoutNull(objectAt(mediaType, "schema"))
  const first = exampleOf(componentsOf(schema), schemas)
  return { ...without(mediaType, "x-effect-stream"), schema, ...(first === undefined ? {} : { example: first }) }
}

const requestId = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } }

/** What every answer to a caller says of the organization's rate limit. Source: decisions.md §3. */
const rateLimit = {
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" }
}

/** The headers that answers share. */
export const sharedHeaders: JsonObject = {
  RequestId: {
    description:
      "The id of the request: taken from the request's own `X-Request-Id` when it has one, else made. The server's log has it too",
    schema: { type: "string", minLength: 1, maxLength: 128 },
    example: "01980c5e-7f3a-7c41-9a55-3d7f2f6a9b10"
  },
  RateLimit: {
    description:
      "`r`: the requests that the organization may make at once now; `t`: seconds until that is its burst again",
    schema: { type: "string" },
    example: '"organization";r=87;t=2'
  },
  RateLimitPolicy: {
    description: "`q`: the requests that the organization may make in a minute (`w`: 60 seconds); `burst`: at once",
    schema: { type: "string" },
    example: '"organization";q=600;w=60;burst=100'
  }
}

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

/** A parameter as the value that it stands for. */
const asValue = (parameter: JsonObject, query: Schema.Top | undefined): JsonObject => {
  const { in: place, name } = parameter
  if (place !== "query" || typeof name !== "string" || query === undefined) return parameter
  const described = decodeJson(Schema.toJsonSchemaDocument(query).schema)
  if (!isObject(described)) return parameter
  const { required } = described
  const schema = rewrite(objectAt(objectAt(described, "properties"), name), tidySchema)
  return { ...parameter, schema, required: required !== undefined && isArray(required) && required.includes(name) }
}

/** The descriptions of what a body can be. */
const bodyDescription = (response: JsonObject, schemas: JsonObject): string | undefined => {
  const [body] = Object.values(objectAt(response, "content"))
  const descriptions = (isObject(body) ? componentsOf(body["schema"]) : []).flatMap((name) => {
    const { description } = objectAt(schemas, name)
    return typeof description === "string" ? [description] : []
  })
  return descriptions.length === 0 ? undefined : descriptions.join(". Or: ")
}

/** The description of an answer: of the stream its own, else its schema's. */
const describe = (response: JsonObject, schemas: JsonObject): Json =>
  "text/event-stream" in objectAt(response, "content")
    ? streamDescription
    : (bodyDescription(response, schemas) ?? "The bytes, in the media type of the format")

/** The JSON bodies of an answer, by the names of their schemas. */
const bodyNames = (response: JsonObject): ReadonlyArray<string> =>
  Object.values(objectAt(response, "content")).flatMap((body) => (isObject(body) ? componentsOf(body["schema"]) : []))

/** Whether an answer is an error of the Connect protocol. */
const isConnectError = (response: JsonObject): boolean =>
  bodyNames(response).some((name) => name.endsWith("ConnectError"))

/** Whether the errors among some answers are of the Connect protocol. */
const isConnect = (answers: JsonObject): boolean => Object.values(answers).filter(isObject).some(isConnectError)

/** The answer that operations share at a status: of the service's own envelope, or of the Connect protocol. */
const sharedAt = (response: JsonObject, status: string): ErrorResponse | undefined =>
  (isConnectError(response) ? connectErrorResponses : errorResponses)[status]

const refToResponse = ({ name }: ErrorResponse): JsonObject => ({ $ref: `#/components/responses/${name}` })

const tidyResponse = (
  response: JsonObject,
  status: string,
  { isCounted, schemas }: { readonly isCounted: boolean; readonly schemas: JsonObject }
): JsonObject => {
  const shared = sharedAt(response, status)
  if (shared !== undefined) return refToResponse(shared)
  return {
    ...response,
    description: describe(response, schemas),
    headers: { ...requestId, ...(isCounted ? rateLimit : {}), ...objectAt(response, "headers") },
    content: mapObjects(objectAt(response, "content"), (mediaType, name) => tidyMediaType(mediaType, name, schemas))
  }
}

/** Headers as people write them. */
const canonicalNames: Readonly<Record<string, string>> = {
  "last-event-id": "Last-Event-ID",
  "www-authenticate": "WWW-Authenticate"
}

/** `retry-after` as people write it. */
const canonicalHeader = (name: string): string =>
  canonicalNames[name] ?? name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())

/** A parameter says what it is itself; its schema says which values it takes. */
const tidyParameter = (parameter: JsonObject, path: string): JsonObject => {
  const { in: place, name, required } = parameter
  const schema = objectAt(parameter, "schema")
  const example = typeof name === "string" ? parameterExample(name, path) : undefined
  return {
    name: place === "header" && typeof name === "string" ? canonicalHeader(name) : (name ?? ""),
    in: place ?? "",
    ...(schema["description"] === undefined ? {} : { description: schema["description"] }),
    required: required ?? false,
    schema: without(schema, "description"),
    ...(example === undefined ? {} : { example })
  }
}

/** Errors of a request's shape that an operation cannot have, because its request has no such part. */
const impossible = (
  parameters: ReadonlyArray<JsonObject>,
  hasBody: boolean,
  own: ReadonlySet<string>
): ReadonlyArray<string> => {
  const has = (place: string) => parameters.some((parameter) => parameter["in"] === place)
  return [
    ...(hasBody || has("query") || has("header") || own.has("400") ? [] : ["400"]),
    // A malformed id in a path reads as not found.
    ...(has("path") || own.has("404") ? [] : ["404"])
  ]
}

const tidyBody = (body: JsonObject, schemas: JsonObject): JsonObject => {
  const content = objectAt(body, "content")
  return {
    ...body,
    required: !isOptional(content),
    content: mapObjects(content, (mediaType, name) => tidyMediaType(mediaType, name, schemas))
  }
}

/** A request that is sent twice by mistake does nothing twice. Source: decisions.md §1 (`Idempotency-Key`). */
const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A request that is sent again under the same key within 24 hours is answered as it was the first time, and does nothing twice; with another body it is refused with 409, and so it is while the first is still under way",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  example: "4f6c2a7e-report-2026-03"
}

const idempotentReplayed: JsonObject = {
  "Idempotent-Replayed": {
    description: "`true` where the answer is that of an earlier request with the same `Idempotency-Key`",
    schema: { type: "string", enum: ["true"] },
    example: "true"
  }
}

const withReplay = (responses: JsonObject): JsonObject =>
  mapObjects(responses, (response) =>
    "$ref" in response
      ? response
      : { ...response, headers: { ...objectAt(response, "headers"), ...idempotentReplayed } }
  )

/** What is told of an operation beside itself. */
export interface OperationContext {
  readonly path: string
  readonly schemas: JsonObject
  readonly facts: ReadonlyMap<string, OperationFacts>
  /** Whether it takes an `Idempotency-Key`. */
  readonly isIdempotent: boolean
}

/** One operation, as readers look at it. */
export const tidyOperation = (
  operation: JsonObject,
  { facts, isIdempotent, path, schemas }: OperationContext
): JsonObject => {
  const { description, operationId, parameters, requestBody, security, summary, tags } = operation
  const own = typeof operationId === "string" ? facts.get(operationId) : undefined
  const tidied =
    parameters !== undefined && isArray(parameters)
      ? parameters.filter(isObject).map((parameter) => tidyParameter(asValue(parameter, own?.query), path))
      : []
  const answers = without(
    objectAt(operation, "responses"),
    ...impossible(tidied, requestBody !== undefined, own?.errors ?? new Set())
  )
  const all = isIdempotent ? [...tidied, idempotencyKey] : tidied
  // Whoever has a credential is counted, and has something kept for them.
  const isCounted = security !== undefined && isArray(security) && security.length > 0
  const responses = {
    ...mapObjects(answers, (response, status) => tidyResponse(response, status, { isCounted, schemas })),
    ...(isCounted ? { "503": refToResponse(isConnect(answers) ? connectUnavailable : unavailable) } : {})
  }
  return {
    operationId: operationId ?? "",
    tags: tags ?? [],
    summary: summary ?? "",
    description: description ?? "",
    security: security ?? [],
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(isObject(requestBody) ? { requestBody: tidyBody(requestBody, schemas) } : {}),
    responses: isIdempotent ? withReplay(responses) : responses
  }
}

const schemaOf = (names: ReadonlyArray<string>): JsonObject => {
  const [only, ...others] = [...new Set(names)].toSorted().map(refTo)
  return only === undefined || others.length > 0 ? { anyOf: only === undefined ? [] : [only, ...others] } : only
}

const sharedResponse = (known: ErrorResponse, headers: JsonObject, schema: JsonObject): JsonObject => ({
  description: known.description,
  headers: {
    ...requestId,
    ...Object.fromEntries(Object.entries(headers).map(([name, header]) => [canonicalHeader(name), header]))
  },
  content: { "application/json": { schema: known.schema ?? schema, example: known.example } }
})

/** The answers that operations share: with every body that any of them has, else as the first describes them. */
export const sharedResponses = (operations: ReadonlyArray<JsonObject>): JsonObject => {
  const responses = operations.flatMap((operation) =>
    Object.entries(objectAt(operation, "responses")).flatMap(([status, response]) => {
      const known = isObject(response) ? sharedAt(response, status) : undefined
      return known === undefined || !isObject(response) ? [] : [{ known, response }]
    })
  )
  const shared = [...Map.groupBy(responses, ({ known }) => known)].flatMap(
    ([known, all]): ReadonlyArray<readonly [string, Json]> => {
      const headers = mapObjects(
        objectAt(all[0]?.response ?? {}, "headers"),
        (header, name) => known.headers?.[name] ?? header
      )
      const schema = schemaOf(all.flatMap(({ response }) => bodyNames(response)))
      const unexpected =
        known === errorResponses["500"]
          ? [unavailable]
          : known === connectErrorResponses["500"]
            ? [connectUnavailable]
            : []
      return [
        [known.name, sharedResponse(known, headers, schema)],
        ...unexpected.map((one): readonly [string, Json] => [one.name, sharedResponse(one, one.headers ?? {}, schema)])
      ]
    }
  )
  return Object.fromEntries(shared.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
