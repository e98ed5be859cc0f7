/**
 * Castellan on Node's own HTTP server: limits set, every refusal in the envelope, a stop that loses nothing.
 *
 * Source: decisions.md §1, §2; performance.md §4.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { formBytes } from "@castellan/api/wire/BytesWire"
import { maxFiles } from "@castellan/core/chat/Upload"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { CastellanHttp } from "../CastellanHttp.ts"
import { HttpLimits } from "../HttpLimits.ts"
import * as Surroundings from "../request/Surroundings.ts"
import * as RawResponse from "./RawResponse.ts"
import * as RequestScopes from "./RequestScopes.ts"

/** Where and how to listen. */
export interface NodeServerOptions {
  /** The address to bind. Default `127.0.0.1`. */
  readonly host?: string
  /** The port; 0 for any that is free. Default 0. */
  readonly port?: number
  /** Time for the headers of a request to arrive. Default 10 s. */
  readonly headersTimeout?: Duration.Duration
  /** Time for a whole request to arrive, its body as well. Default 60 s. */
  readonly requestTimeout?: Duration.Duration
  /** How often both are checked. Default 1 s. */
  readonly connectionsCheckingInterval?: Duration.Duration
  /** How long an idle connection is kept. Default 65 s: longer than load balancers keep theirs. */
  readonly keepAliveTimeout?: Duration.Duration
  /** Bytes of the headers of a request. Default 16 KiB. */
  readonly maxHeaderSize?: number
  /** Time for requests in flight to be answered when the server stops. Default 10 s. */
  readonly shutdownTimeout?: Duration.Duration
}

/** What the operating system says when it gives no port. */
const reasons: ReadonlyMap<unknown, string> = new Map([
  ["EADDRINUSE", "the port is taken"],
  ["EADDRNOTAVAIL", "the address is not of this machine"],
  ["EACCES", "the port is for privileged users"],
  ["ENOTFOUND", "there is no such host"]
])

/** The server cannot listen: the port is taken, or the address is not of this machine. */
export class ListenError extends Schema.TaggedError<ListenError>("@castellan/http/server/ListenError")("ListenError", {
  host: Schema.String,
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const why = Predicate.hasProperty(this.cause, "code") ? reasons.get(this.cause.code) : undefined
    return `cannot listen on ${this.host}:${this.port}${why === undefined ? "" : `: ${why}`}`
  }
}

/** A server that listens. */
export class NodeServer extends Context.Service<
  NodeServer,
  {
    readonly host: string
    readonly port: number
    /** Where it is reached from this machine, such as `http://127.0.0.1:8080`. */
    readonly url: string
  }
>()("@castellan/http/server/NodeServer") {}

/** The one host that a request is for. Two, or none, is an attack on whatever stands in front (RFC 9112 §3.2). */
const namesOneHost = (request: IncomingMessage): boolean => {
  let hosts = 0
  const { rawHeaders } = request
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") hosts += 1
  }
  return hosts === 1 || (hosts === 0 && request.httpVersion === "1.0")
}

/** Whether a body brings files: forms have bounds of their own, which the operation knows. */
const isForm = ({ headers }: IncomingMessage): boolean => /^multipart\/form-data\b/i.test(headers["content-type"] ?? "")

/** A connection, by its last exchange. */
class Connection {
  private request: IncomingMessage | undefined
  private response: ServerResponse | undefined

  began(request: IncomingMessage, response: ServerResponse): void {
    this.request = request
    this.response = response
  }

  /** Whether the body of the last request still comes in, though its answer is on its way. */
  get isInAnsweredBody(): boolean {
    return this.request?.complete === false && this.response?.headersSent === true
  }
}

/** Puts the application behind the guards of a server, and answers with the connections that have asked for nothing. */
const attach = (
  server: Server,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  maxBodyBytes: number
): ReadonlySet<Socket> => {
  const silent = new Set<Socket>()
  const connections = new WeakMap<Duplex, Connection>()
  server.on("connection", (socket: Socket) => {
    silent.add(socket)
    connections.set(socket, new Connection())
    socket.once("close", () => silent.delete(socket))
  })
  const guarded = (request: IncomingMessage, response: ServerResponse): void => {
    silent.delete(request.socket)
    connections.get(request.socket)?.began(request, response)
    if (namesOneHost(request)) handle(request, response)
    else RawResponse.refuse(request, response, 400, "host: must be sent exactly once")
  }
  server.on("request", guarded)
  // Whoever asks before sending a body is told at once that it is too large.
  server.on("checkContinue", (request, response) => {
    const limit = isForm(request) ? Math.max(maxBodyBytes, formBytes(maxFiles)) : maxBodyBytes
    if (Number(request.headers["content-length"] ?? 0) > limit) {
      RawResponse.refuse(request, response, 413, "body: must not be larger than this operation takes")
      return
    }
    response.writeContinue()
    guarded(request, response)
  })
  server.on("checkExpectation", (request, response) =>
    RawResponse.refuse(request, response, 417, "expect: must be 100-continue")
  )
  server.on("connect", (_request, socket) => RawResponse.end(socket, 405, "method: CONNECT is not served here"))
  server.on("clientError", (error, socket) => {
    // What is wrong is in the body of a request that was answered already: a second answer would be to nothing.
    if (connections.get(socket)?.isInAnsweredBody === true) RawResponse.close(socket)
    else RawResponse.end(socket, ...RawResponse.ofClientError(error))
  })
  return silent
}

const listen = (server: Server, host: string, port: number): Effect.Effect<number, ListenError> =>
  Effect.callback((resume) => {
    const onError = (cause: Error) => resume(Effect.fail(new ListenError({ host, port, cause })))
    server.once("error", onError)
    server.listen({ host, port }, () => {
      server.off("error", onError)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** Stops taking connections, and waits for those that are there to end. Idle ones end at once. */
const drain = (server: Server): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
  }).pipe(
    Effect.raceFirst(
      Effect.repeat(
        // A connection falls idle when its last response has been sent, which nobody tells.
        Effect.sync(() => server.closeIdleConnections()),
        Schedule.spaced(Duration.millis(25))
      )
    ),
    Effect.asVoid
  )

const millis = (duration: Duration.Duration | undefined, preset: number): number =>
  duration === undefined ? preset : Duration.toMillis(duration)

/** Serves the application. When the scope closes: no new connections, streams end, requests in flight are answered. */
export const layer = (options: NodeServerOptions = {}): Layer.Layer<NodeServer, ListenError, CastellanHttp> =>
  Layer.effect(
    NodeServer,
    Effect.gen(function* () {
      const { app, endStreams, surroundings } = yield* CastellanHttp
      const { maxBodyBytes } = yield* HttpLimits
      const host = options.host ?? "127.0.0.1"
      const server = createServer({
        headersTimeout: millis(options.headersTimeout, 10_000),
        requestTimeout: millis(options.requestTimeout, 60_000),
        connectionsCheckingInterval: millis(options.connectionsCheckingInterval, 1_000),
        keepAliveTimeout: millis(options.keepAliveTimeout, 65_000),
        maxHeaderSize: options.maxHeaderSize ?? 16 * 1024,
        // Node answers without the envelope; the guard here does with it.
        requireHostHeader: false
      })

      const requests = RequestScopes.make()
      const handle = yield* Effect.updateContext(
        NodeHttpServer.makeHandler(app, requests),
        (context: Context.Context<never>) => Surroundings.joined(Surroundings.of(context), surroundings)
      )
      const silent = attach(server, handle, maxBodyBytes)
      const port = yield* listen(server, host, options.port ?? 0)
      yield* Effect.addFinalizer(() =>
        Effect.gen(function* () {
          yield* endStreams
          // Node counts a connection that has sent nothing yet as busy.
          for (const socket of silent) socket.destroy()
          const drained = yield* Effect.timeoutOption(drain(server), options.shutdownTimeout ?? Duration.seconds(10))
          yield* requests.close
          yield* drained._tag === "Some" ? Effect.void : Effect.timeoutOption(drain(server), Duration.seconds(1))
          server.closeAllConnections()
        })
      )
      const shown = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host
      return NodeServer.of({ host, port, url: `http://${shown}:${port}` })
    })
  )
