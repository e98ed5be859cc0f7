/**
 * What is kept of an answer, so that it can be given again: a response as it was, or the run that it streamed.
 *
 * It is kept sealed. An answer may hold what is nowhere else but in it, such as a key that is shown exactly once; so it
 * is encrypted (AES-256-GCM) with a key that is made of the deployment's secret and of the idempotency key that the
 * client holds. What a database gives away is of no use without both.
 *
 * Source: decisions.md §1 (`Idempotency-Key`), §3 ("Only a SHA-256 hash is stored").
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"
import type { Principal } from "@castellan/core/access/Principal"
import { ChatId } from "@castellan/core/chat/Chat"
import { RoleId } from "@castellan/core/role/Role"
import { RunId } from "@castellan/core/run/Run"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as StreamResponse from "../stream/StreamResponse.ts"

/** What can be given again. */
const Content = Schema.TaggedUnion({
  Response: { status: Schema.Int, headers: Schema.Record(Schema.String, Schema.String) },
  Run: { chatId: ChatId, runId: RunId }
})

/** How much whoever was answered may see: who may see less is not given the answer. */
const Reach = Schema.Struct({
  /** The effective roles. */
  roles: Schema.Array(RoleId),
  /** Whether it was by a restricted key, or a session of one. */
  restricted: Schema.Boolean
})
export type Reach = typeof Reach.Type

/** How much a principal may see. */
export const reachOf = ({ restricted, roles }: Principal): Reach => ({ roles: roles.map(({ id }) => id), restricted })

/** Whether a principal may see all that is within a reach. */
export const isWithinReachOf = (principal: Principal, { restricted, roles }: Reach): boolean =>
  (restricted || !principal.restricted) && roles.every((id) => principal.roles.some((role) => role.id === id))

/** An answer, without the bytes of its body. */
const Head = Schema.Struct({ content: Content, reach: Reach })

/** An answer that is kept. */
export interface KeptAnswer {
  readonly content: typeof Content.Type
  /** Of whoever was answered. */
  readonly reach: Reach
  /** The body of a response; empty for a run. */
  readonly body: Uint8Array
}

const headText = Schema.fromJsonString(Head)
const encodeHead = Schema.encodeSync(headText)
const decodeHead = Schema.decodeUnknownResult(headText)

/** Whether an answer of a status stands for the request, and is not about the moment at which it was made. */
export const isKept = (status: number): boolean => status < 500 && status !== 401 && status !== 408 && status !== 429

/** Headers that are of the connection, and not of the answer. */
const connectionHeaders = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"])

/** The bytes of a body; nothing for one that is read from elsewhere as it is sent. */
const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Effect.Effect<Option.Option<Uint8Array>> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeedSome(new Uint8Array())
    case "Uint8Array":
      return Effect.succeedSome(body.body)
    case "Raw":
      return Effect.succeed(
        typeof body.body === "string" ? Option.some(new TextEncoder().encode(body.body)) : Option.none()
      )
    case "Stream":
      return Stream.runCollect(body.stream).pipe(
        Effect.map((pieces) => Option.some(new Uint8Array(Buffer.concat(pieces)))),
        Effect.orDie
      )
    case "FormData":
      return Effect.succeedNone
  }
}

/**
 * What is kept of a response, and the response with a body that can still be sent: one that is read from a stream is
 * read here. Nothing is kept of a response that cannot be given again.
 */
export const of = (
  response: HttpServerResponse.HttpServerResponse,
  reach: Reach
): Effect.Effect<{
  readonly response: HttpServerResponse.HttpServerResponse
  readonly kept: Option.Option<KeptAnswer>
}> => {
  const run = StreamResponse.streamedRun(response)
  if (run !== undefined) {
    const content = Content.cases.Run.make(run)
    return Effect.succeed({ response, kept: Option.some({ content, reach, body: new Uint8Array() }) })
  }
  return Effect.map(bytesOf(response), (bytes) => {
    if (Option.isNone(bytes)) return { response, kept: Option.none() }
    const body = bytes.value
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter(([name]) => !connectionHeaders.has(name))
    )
    const content = Content.cases.Response.make({ status: response.status, headers })
    return {
      response: response.body._tag === "Stream" ? toResponse(content, body) : response,
      kept: Option.some({ content, reach, body })
    }
  })
}

/** A response as it was. */
export const toResponse = (
  { headers, status }: Extract<KeptAnswer["content"], { readonly _tag: "Response" }>,
  body: Uint8Array
): HttpServerResponse.HttpServerResponse => {
  const contentType = headers["content-type"]
  return body.length === 0 && contentType === undefined
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.uint8Array(body, {
        status,
        headers,
        ...(contentType === undefined ? {} : { contentType })
      })
}

/** Bytes that the length of the head is written in, of the nonce, and of the seal's tag. */
const lengthBytes = 4
const nonceBytes = 12
const tagBytes = 16

/** What an answer is sealed with. */
export interface Sealing {
  readonly secret: string
  /** The name of the request: an answer to one is none to another. */
  readonly id: string
  /** The key that the client sent. */
  readonly key: string
}

const keyOf = ({ id, key, secret }: Sealing): Buffer =>
  createHmac("sha256", secret).update(`castellan/idempotency/answer/1\n${id}\n${key}`).digest()

/** An answer as it is kept. */
export const seal = ({ body, content, reach }: KeptAnswer, sealing: Sealing): Uint8Array => {
  const head = Buffer.from(encodeHead({ content, reach }), "utf8")
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(head.length)
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv("aes-256-gcm", keyOf(sealing), nonce)
  const sealed = [cipher.update(length), cipher.update(head), cipher.update(body), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
}

/** Opens the seal. Node's cipher throws where the tag does not fit. */
const open = (kept: Uint8Array, sealing: Sealing): Result.Result<Buffer, unknown> =>
  Result.try(() => {
    const bytes = Buffer.from(kept)
    const decipher = createDecipheriv("aes-256-gcm", keyOf(sealing), bytes.subarray(0, nonceBytes))
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  })

/** An answer that was kept; nothing where it cannot be read any more: the deployment's secret is another one now. */
export const unseal = (kept: Uint8Array, sealing: Sealing): Option.Option<KeptAnswer> => {
  const opened = open(kept, sealing)
  if (Result.isFailure(opened)) return Option.none()
  const bytes = opened.success
  const end = lengthBytes + bytes.readUInt32BE(0)
  const head = decodeHead(bytes.toString("utf8", lengthBytes, end))
  return Result.isSuccess(head)
    ? Option.some({ ...head.success, body: new Uint8Array(bytes.subarray(end)) })
    : Option.none()
}
