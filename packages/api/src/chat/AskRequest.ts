/**
 * A question of a caller, as JSON or as a form.
 *
 * Source: api-v2.md "POST /v2/chats/stream"; decisions.md §4 ("Multipart", "With no `tools`").
 */
import { ChatId, defaultTools, type ToolConfiguration } from "@castellan/core/chat/Chat"
import type { Question } from "@castellan/core/chat/Chats"
import { maxFiles, type SentFile } from "@castellan/core/chat/Upload"
import { InvalidRequest } from "@castellan/core/error/Failure"
import * as Effect from "effect/Effect"
import * as Multipart from "effect/http/Multipart"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Stream from "effect/Stream"
import * as InvalidRequestMessage from "../error/InvalidRequestMessage.ts"
import { asFormWith, maximumFileBytes } from "../wire/BytesWire.ts"
import { boundedText, connectorId, flag, modelId, uuid } from "../wire/WireValue.ts"

/** Connectors that one question can name. */
const maximumConnectors = 1_000

const connectorIds = (description: string) => {
  const message = `must be an array of at most ${maximumConnectors} connector ids`
  return Schema.Array(connectorId)
    .annotate({ message, description })
    .check(Schema.isMaxLength(maximumConnectors, { message, description }))
}

/** Which tools a run may use. */
export const ToolsWire = Schema.Struct({
  connector_ids: Schema.optionalKey(
    connectorIds("The only connectors that the run may use; absent, every one that the caller may use")
  ),
  sql_enabled: Schema.optionalKey(flag("SQL on connectors; on by default")),
  python_enabled: Schema.optionalKey(flag("Python in a sandbox; on by default")),
  web_search_enabled: Schema.optionalKey(flag("Web search; off by default")),
  ontology_enabled: Schema.optionalKey(flag("Queries in the ontology's language; on by default")),
  bi_a_enabled: Schema.optionalKey(flag("The first business-intelligence tool; off by default")),
  bi_b_enabled: Schema.optionalKey(flag("The second business-intelligence tool; off by default")),
  file_storage_enabled: Schema.optionalKey(flag("File storage; off by default"))
}).annotate({
  identifier: "Tools",
  description: "Which tools the run may use. A field that is absent has its default",
  message: "must be a JSON object"
})
export type ToolsWire = typeof ToolsWire.Type

const question = boundedText({ minimum: 1, maximum: 100_000 }, "The question, in natural language")
const chatId = uuid(ChatId, "The chat to continue; absent, a new one is made")
const model = modelId(
  "The model that answers, from `GET /v2/models`; absent, the caller's default. Only on new chats: together with `chat_id` it is refused"
)

/** A question as JSON. */
export const AskRequest = Schema.Struct({
  question,
  chat_id: Schema.optionalKey(chatId),
  model: Schema.optionalKey(model),
  tools: Schema.optionalKey(ToolsWire),
  connector_ids: Schema.optionalKey(connectorIds("Shorthand for `tools.connector_ids`, which wins when both are there"))
}).annotate({ identifier: "AskRequest", description: "A question", message: "must be a JSON object" })
export type AskRequest = typeof AskRequest.Type

const decodeConnectorPart = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([Schema.Array(Schema.Unknown), Schema.Number]))
)

const notConnectorIds = () =>
  new SchemaIssue.InvalidValue({ message: "must be a JSON array of connector ids, or repeated ids" })

/** `[1, 2]`, or `1` repeated. */
const ConnectorIdParts = Schema.Union([Schema.String, Schema.Array(Schema.String)])
  .annotate({ description: "A JSON array of connector ids, or one part for each" })
  .pipe(
    Schema.decodeTo(
      Schema.Array(Schema.Unknown),
      SchemaTransformation.transformEffect<ReadonlyArray<unknown>, string | ReadonlyArray<string>, never, never>({
        decode: (parts) =>
          Effect.forEach(typeof parts === "string" ? [parts] : parts, (part) => decodeConnectorPart(part)).pipe(
            Effect.map((values) => values.flatMap((value) => (typeof value === "number" ? [value] : value))),
            Effect.mapError(notConnectorIds)
          ),
        encode: (ids) => Effect.succeed(JSON.stringify(ids))
      })
    ),
    Schema.decodeTo(connectorIds("Shorthand for `tools.connector_ids`, which wins when both are there"))
  )

/** The parts of a form that are not files. */
const formFields = {
  question,
  chat_id: Schema.optionalKey(chatId),
  model: Schema.optionalKey(model),
  tools: Schema.optionalKey(Schema.fromJsonString(ToolsWire)),
  connector_ids: Schema.optionalKey(ConnectorIdParts)
}

const FormFields = Schema.Struct(formFields)

/** Bytes that the fields of a form have together at most: a question of 100,000 characters fits. */
const maximumFieldBytes = 1024 * 1024

/** A question as `multipart/form-data`. It reaches a handler as the stream of its parts: see `fromParts`. */
export const AskForm = Schema.Struct({
  ...formFields,
  files: Schema.optionalKey(
    Schema.Array(Schema.String.annotate({ format: "binary" })).annotate({
      description: `Files for the analyst's sandbox, at most ${maxFiles} of 25 MiB; they appear at \`/sandbox/files/uploads/\`. A deployment that has no sandboxes refuses a request with a file, so that none is lost in silence`
    })
  )
})
  .annotate({ identifier: "AskForm", description: "A question as a form" })
  .pipe(asFormWith(maxFiles))

const decodeFields = Schema.decodeUnknownEffect(FormFields, { reportInput: true })

/** What becomes of a file that comes with a question. Its content is to be read to its end, or the request refused. */
export type TakeFile = (file: Multipart.File) => Effect.Effect<void, InvalidRequest | Multipart.MultipartError>

/**
 * Reads a form to the same question that the JSON body would have been, and hands over its files as they come. It fails
 * at the first part that breaks a rule, before any more is read. Parts that are not known are ignored.
 */
export const fromParts = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  takeFile: TakeFile
): Effect.Effect<AskRequest, InvalidRequest | Multipart.MultipartError> =>
  Effect.gen(function* () {
    const fields = new Map<string, string | ReadonlyArray<string>>()
    let fieldBytes = 0
    let files = 0

    const takeField = (part: Multipart.Field): Effect.Effect<void, InvalidRequest | Multipart.MultipartError> => {
      if (part.key === "files") {
        return Effect.fail(new InvalidRequest({ message: "files: must be files, not text parts" }))
      }
      fieldBytes += part.value.length
      if (fieldBytes > maximumFieldBytes) return Effect.fail(Multipart.MultipartError.fromReason("BodyTooLarge"))
      const before = fields.get(part.key)
      fields.set(part.key, before === undefined ? part.value : [before, part.value].flat())
      return Effect.void
    }

    yield* Stream.runForEach(parts, (part): Effect.Effect<void, InvalidRequest | Multipart.MultipartError> => {
      if (part._tag === "Field") return takeField(part)
      if (part.key === "files") {
        files += 1
        return files > maxFiles
          ? Effect.fail(new InvalidRequest({ message: `files: must not be more than ${maxFiles}` }))
          : takeFile(part)
      }
      if (Object.hasOwn(formFields, part.key)) {
        return Effect.fail(new InvalidRequest({ message: `${part.key}: must be a text part, not a file` }))
      }
      return Stream.runDrain(part.content)
    })
    return yield* Effect.mapError(
      decodeFields(Object.fromEntries(fields)),
      (error) => new InvalidRequest({ message: InvalidRequestMessage.format(error.issue) })
    )
  })

/** The tools that a request asks for; nothing when it says nothing about them. */
const toTools = ({ connector_ids: shorthand, tools }: AskRequest): Option.Option<ToolConfiguration> => {
  if (tools === undefined && shorthand === undefined) return Option.none()
  const connectors = tools?.connector_ids ?? shorthand
  return Option.some({
    ...(connectors === undefined ? {} : { connectorIds: connectors }),
    sql: tools?.sql_enabled ?? defaultTools.sql,
    python: tools?.python_enabled ?? defaultTools.python,
    webSearch: tools?.web_search_enabled ?? defaultTools.webSearch,
    ontology: tools?.ontology_enabled ?? defaultTools.ontology,
    biA: tools?.bi_a_enabled ?? defaultTools.biA,
    biB: tools?.bi_b_enabled ?? defaultTools.biB,
    fileStorage: tools?.file_storage_enabled ?? defaultTools.fileStorage
  })
}

/** The question of the domain; who asked from where is the handler's to add. */
export const toQuestion = (request: AskRequest): Omit<Question, "source"> => {
  const tools = Option.getOrUndefined(toTools(request))
  return {
    question: request.question,
    ...(request.chat_id === undefined ? {} : { chatId: request.chat_id }),
    ...(request.model === undefined ? {} : { model: request.model }),
    ...(tools === undefined ? {} : { tools })
  }
}

/** Reads a form to the question that it is, with its files in memory. */
export const questionOfParts = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>
): Effect.Effect<Omit<Question, "source">, InvalidRequest | Multipart.MultipartError> =>
  Effect.suspend(() => {
    const files: Array<SentFile> = []
    const take: TakeFile = ({ contentEffect, name }) =>
      Effect.flatMap(contentEffect, (content) => {
        if (content.length > maximumFileBytes) return Effect.fail(Multipart.MultipartError.fromReason("FileTooLarge"))
        files.push({ name, content })
        return Effect.void
      })
    return Effect.map(fromParts(parts, take), (request) => ({
      ...toQuestion(request),
      ...(files.length === 0 ? {} : { files })
    }))
  })
