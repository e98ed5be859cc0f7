/**
 * Plain sockets to a server on this machine. The load is written on bare sockets, because a client that costs more
 * than the server would be what is measured.
 */
import { Effect, type Scope } from "effect"
import { connect, type Socket } from "node:net"
import { BenchmarkFailure } from "../BenchmarkFailure.ts"

/** Connections that are opened at a time: fewer than a server's queue holds. */
const atOnce = 100

const open = (port: number): Effect.Effect<Socket, BenchmarkFailure> =>
  Effect.callback((resume) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true })
    socket.once("error", (error) => resume(Effect.fail(new BenchmarkFailure({ message: error.message }))))
    socket.once("connect", () => {
      socket.removeAllListeners("error")
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => void socket.destroy())
  })

/** Opens connections, and closes them with the scope. */
export const sockets = (
  port: number,
  count: number
): Effect.Effect<ReadonlyArray<Socket>, BenchmarkFailure, Scope.Scope> =>
  Effect.forEach(
    Array.from({ length: count }, () => port),
    (to) => Effect.acquireRelease(open(to), (socket) => Effect.sync(() => void socket.destroy())),
    { concurrency: atOnce }
  )

/** A request as the bytes that go over the wire. */
export const request = (given: {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly bearer: string
  /** The body, as JSON. */
  readonly json?: unknown
}): Buffer => {
  const body = given.json === undefined ? "" : JSON.stringify(given.json)
  const lines = [
    `${given.method} ${given.path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${given.bearer}`,
    "Accept: */*",
    ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`])
  ]
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`)
}
