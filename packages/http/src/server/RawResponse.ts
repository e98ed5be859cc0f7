/**
 * Responses written to a bare socket: for what is no HTTP, or so broken that Node makes no request of it.
 *
 * Source: decisions.md §1 ("Every response carries `X-Request-Id`"), §2.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { envelope } from "@castellan/api/error/ErrorEnvelope"
import * as RequestId from "../request/RequestId.ts"

/** The envelope, and the headers of a response that ends its connection. */
const render = (message: string, requestId: string) => {
  const body = JSON.stringify(envelope("invalid_request", message))
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId,
    Connection: "close"
  }
  return { body, headers }
}

/** Refuses a request that the application does not get to see. */
export const refuse = (request: IncomingMessage, response: ServerResponse, status: number, message: string): void => {
  const { body, headers } = render(message, RequestId.of(request.headers[RequestId.header]))
  response.writeHead(status, headers).end(body)
}

/** Time for the client to read the response before the connection is cut, in milliseconds. */
const lingering = 500

/** Ends a connection, with a last word if there is one, and cuts it when the client does not let go. */
const hangUp = (socket: Duplex, last: string): void => {
  if (socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(last)
  // What the client still sends is not read, and would reset the connection before it has read the answer.
  const timer = setTimeout(() => socket.destroy(), lingering)
  timer.unref()
  socket.once("close", () => clearTimeout(timer))
}

/** Answers on a socket that carries no request, and ends it. */
export const end = (socket: Duplex, status: number, message: string): void => {
  const { body, headers } = render(message, RequestId.of(undefined))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  hangUp(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Error"}\r\n${lines.join("")}\r\n${body}`)
}

/** Ends a connection that has had its answer. */
export const close = (socket: Duplex): void => hangUp(socket, "")

/** What Node says is wrong with what came over a connection, as a status and a message. */
export const ofClientError = (error: NodeJS.ErrnoException): readonly [status: number, message: string] => {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return error.code === "HPE_HEADER_OVERFLOW"
        ? [431, "headers: must not be larger than the server takes"]
        : [413, "body: must not have chunk extensions larger than the server takes"]
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "request: was not received in time"]
    default:
      return [400, "request: must be well-formed HTTP/1.1"]
  }
}
