/**
 * A whole deployment behind a real port of the loopback interface, and ways to talk to it: as a client would, and as
 * no client should.
 */
import { request as nodeRequest } from "node:http"
import { connect } from "node:net"
import * as Deployment from "@castellan/testing/fixture/Deployment"
import * as Fixture from "@castellan/testing/fixture/Fixture"
import { says } from "@castellan/testing/scripted/ScriptedModel"
import { CurrentPrincipal, type Principal } from "@castellan/core/access/Principal"
import { Chats } from "@castellan/core/chat/Chats"
import type { Run } from "@castellan/core/run/Run"
import { RunEvent } from "@castellan/core/run/RunEvent"
import { RunLog } from "@castellan/core/run/RunLog"
import * as CastellanHttp from "@castellan/http/CastellanHttp"
import { HttpLimits } from "@castellan/http/HttpLimits"
import * as NodeServer from "@castellan/http/server/NodeServer"
import { Context, Effect, Layer, Redacted, Stream } from "effect"

/** Everything that a test may want of a deployment. */
export type Parts = Layer.Success<ReturnType<typeof Deployment.layer>>

/** A deployment that is served. */
export class Site extends Context.Service<
  Site,
  {
    readonly url: string
    readonly port: number
    /** The administrator's key. */
    readonly key: string
    readonly tenant: Fixture.Tenant
    readonly admin: Principal
  }
>()("@castellan/http/test/Site") {}

/** The key of signed addresses. */
export const assetSecret = Redacted.make("a secret of more than thirty-two characters")

/** Answers at once; a question that begins with `stall` is never answered. */
const script: NonNullable<Deployment.Scripts["script"]> = (turn) => {
  const asked = JSON.stringify(turn.messages.at(-1))
  return asked.includes("stall") ? Stream.never : says("The answer ", "is 42.")
}

/** How a site differs from the default one. */
export interface SiteOptions {
  readonly server?: NodeServer.NodeServerOptions
  readonly limits?: Partial<HttpLimits>
  readonly http?: Partial<CastellanHttp.CastellanHttpOptions>
  readonly deployment?: Deployment.DeploymentOptions
}

/** The application over a deployment that is there. */
export const layerHttp = (options: Omit<SiteOptions, "deployment"> = {}) =>
  CastellanHttp.layer({ assetSecret, ...options.http }).pipe(
    Layer.provide(
      Layer.succeed(HttpLimits, {
        ...HttpLimits.defaultValue(),
        failedAuthentications: { requestsPerMinute: 1_000_000, burst: 100_000 },
        ...options.limits
      })
    )
  )

/** The application without a port. */
export const layerApp = (options: SiteOptions = {}) =>
  layerHttp(options).pipe(Layer.provideMerge(Deployment.layer({ script, concurrency: 10_000, ...options.deployment })))

/** A deployment behind a port that is free. */
export const layer = (options: SiteOptions = {}) =>
  Layer.effect(
    Site,
    Effect.gen(function* () {
      const { port, url } = yield* NodeServer.NodeServer
      const tenant = yield* Fixture.tenant()
      yield* Fixture.unlimited(tenant.organizationId)
      yield* Fixture.connector(tenant.organizationId)
      return Site.of({ url, port, tenant, key: Redacted.value(tenant.adminKey), admin: Fixture.adminOf(tenant) })
    })
  ).pipe(Layer.provideMerge(NodeServer.layer(options.server)), Layer.provideMerge(layerApp(options)))

/** A response, read to its end. */
export interface Reply {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Buffer
  readonly text: string
}

/** What is sent. */
export interface Call {
  readonly method?: string
  readonly headers?: Record<string, string | Array<string>>
  readonly body?: string | Uint8Array
  /** The bearer value; the administrator's key unless given, none when empty. */
  readonly key?: string
}

const flat = (headers: NodeJS.Dict<string | Array<string>>): Reply["headers"] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  )

/** Sends a request and reads the response to its end; a response that does not end within 10 s is a defect. */
export const call = (path: string, what: Call = {}): Effect.Effect<Reply, never, Site> =>
  Effect.flatMap(Site, (site) => {
    const key = what.key ?? site.key
    return Effect.callback<Reply>((resume) => {
      const request = nodeRequest({
        host: "127.0.0.1",
        port: site.port,
        path,
        method: what.method ?? "GET",
        headers: {
          ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
          ...(what.body === undefined ? {} : { "content-length": String(Buffer.byteLength(what.body)) }),
          ...what.headers
        },
        agent: false
      })
      request.setTimeout(60_000, () => request.destroy(new Error(`no answer: ${what.method ?? "GET"} ${path}`)))
      request.on("error", (error) => resume(Effect.die(error)))
      request.on("response", (response) => {
        const pieces: Array<Buffer> = []
        response.on("data", (piece: Buffer) => pieces.push(piece))
        response.on("error", (error) => resume(Effect.die(error)))
        response.on("end", () => {
          const body = Buffer.concat(pieces)
          resume(
            Effect.succeed({
              status: response.statusCode ?? 0,
              headers: flat(response.headers),
              body,
              text: body.toString("utf8")
            })
          )
        })
      })
      request.end(what.body)
      return Effect.sync(() => request.destroy())
    })
  })

/** A JSON request. */
export const post = (path: string, body: unknown, what: Call = {}) =>
  call(path, {
    method: "POST",
    ...what,
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json", ...what.headers }
  })

/** Writes bytes to a socket and reads whatever comes until it is closed. */
export const raw = (bytes: string | ReadonlyArray<string>): Effect.Effect<string, never, Site> =>
  Effect.flatMap(Site, ({ port }) =>
    Effect.callback<string>((resume) => {
      let answer = ""
      const socket = connect(port, "127.0.0.1", () => {
        for (const piece of typeof bytes === "string" ? [bytes] : bytes) socket.write(Buffer.from(piece, "latin1"))
      })
      socket.setTimeout(60_000, () => socket.destroy(new Error("the connection was left open")))
      socket.on("data", (piece) => {
        answer += piece.toString("latin1")
      })
      socket.on("error", (error: NodeJS.ErrnoException) => {
        // A server that refuses what is still being sent may reset the connection after its answer.
        resume(error.code === "ECONNRESET" || error.code === "EPIPE" ? Effect.succeed(answer) : Effect.die(error))
      })
      socket.on("close", () => resume(Effect.succeed(answer)))
      return Effect.sync(() => socket.destroy())
    })
  )

/** One frame of a stream. */
export interface Frame {
  readonly id: string | undefined
  readonly data: { readonly type: string; readonly [field: string]: unknown }
}

/** The frames of a stream's text; comments are left out. */
export const framesOf = (text: string): ReadonlyArray<Frame> =>
  text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const lines = block.split("\n")
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      return { id: field("id"), data: JSON.parse(field("data") ?? "null") }
    })

/** A stream that is being read. */
export interface Reading {
  readonly status: number
  /** What has come so far. */
  readonly text: () => string
  /** Waits until what has come satisfies a condition. */
  readonly until: (condition: (text: string) => boolean) => Effect.Effect<string>
  /** Waits for the end; `complete` is false when the connection broke. */
  readonly end: Effect.Effect<{ readonly text: string; readonly complete: boolean }>
  /** Stops taking bytes from the socket. */
  readonly pause: () => void
  readonly resume: () => void
  /** Leaves without a word. */
  readonly leave: () => void
}

/** Opens a stream. The headers have come when this is done. */
export const read = (path: string, what: Call = {}) =>
  Effect.acquireRelease(
    Effect.flatMap(Site, (site) =>
      Effect.callback<Reading>((resume) => {
        let text = ""
        let ended: { readonly complete: boolean } | undefined
        const listeners = new Set<() => void>()
        const changed = () => {
          for (const listener of listeners) listener()
        }
        const request = nodeRequest({
          host: "127.0.0.1",
          port: site.port,
          path,
          method: what.method ?? "GET",
          headers: { authorization: `Bearer ${what.key ?? site.key}`, ...what.headers },
          agent: false
        })
        const wait = <A>(probe: () => A | undefined) =>
          Effect.callback<A>((done) => {
            const check = () => {
              const found = probe()
              if (found === undefined) return
              listeners.delete(check)
              done(Effect.succeed(found))
            }
            listeners.add(check)
            check()
            return Effect.sync(() => listeners.delete(check))
          })
        request.on("error", (error) => {
          ended ??= { complete: false }
          changed()
          resume(Effect.die(error))
        })
        request.on("response", (response) => {
          response.setEncoding("utf8")
          response.on("data", (piece: string) => {
            text += piece
            changed()
          })
          response.on("end", () => {
            ended = { complete: response.complete }
            changed()
          })
          response.on("close", () => {
            ended ??= { complete: false }
            changed()
          })
          response.on("error", () => {})
          resume(
            Effect.succeed({
              status: response.statusCode ?? 0,
              text: () => text,
              until: (condition) =>
                Effect.flatMap(
                  wait(() => (condition(text) ? { found: true } : ended === undefined ? undefined : { found: false })),
                  ({ found }) => (found ? Effect.succeed(text) : Effect.die(new Error(`the stream ended: ${text}`)))
                ),
              end: wait(() => (ended === undefined ? undefined : { text, complete: ended.complete })),
              pause: () => response.pause(),
              resume: () => response.resume(),
              leave: () => request.destroy()
            })
          )
        })
        request.end(what.body)
      })
    ),
    (reading) => Effect.sync(reading.leave)
  )

/** A run that goes on until somebody tells its end. */
export const stalledRun = Effect.gen(function* () {
  const { admin } = yield* Site
  return yield* Chats.use((chats) => chats.ask({ question: "stall", source: "api" })).pipe(
    Effect.provideService(CurrentPrincipal, admin),
    Effect.orDie
  )
})

/** Adds events to a run, as the runner does that has taken it up: the first and only one. */
export const tell = ({ id, organizationId }: Run, ...events: ReadonlyArray<RunEvent>) =>
  RunLog.use((log) => log.append({ id, organizationId, epoch: 1 }, events))

/** A piece of text. */
export const text = (words: string): RunEvent => RunEvent.cases.Text.make({ text: words })

/** The end of a run. */
export const done: RunEvent = RunEvent.cases.Done.make({ status: "completed" })

/** The envelope of an error, or a defect when the reply is anything else. */
export const envelopeOf = (reply: Reply): { readonly code: string; readonly message: string } => {
  const fail = () => new Error(`no envelope: ${reply.status} ${reply.text.slice(0, 200)}`)
  if (reply.headers["content-type"] !== "application/json") throw fail()
  const parsed: unknown = JSON.parse(reply.text)
  if (typeof parsed !== "object" || parsed === null || Object.keys(parsed).join() !== "error") throw fail()
  const { error } = Object.fromEntries(Object.entries(parsed))
  if (typeof error !== "object" || error === null || Object.keys(error).join() !== "code,message") throw fail()
  const { code, message } = Object.fromEntries(Object.entries(error))
  if (typeof code !== "string" || typeof message !== "string" || message === "") throw fail()
  return { code, message }
}
