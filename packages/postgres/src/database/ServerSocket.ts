/**
 * A connection to a server that is given up when the server stays silent after something was sent to it. A path that
 * swallows packets (a server that failed over, a firewall that forgot the connection) tells nobody: the operating system
 * would go on trying for a quarter of an hour, and so would every statement that is sent on the same connection.
 *
 * Of several statements that were sent together, the first answer passes for all: that the others' do not come is noticed
 * when the next statement is sent.
 */
import * as Duration from "effect/Duration"
import { connect, type Socket } from "node:net"

/** Where a server is. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/** The host and the port in an address; none where it names a socket of this machine, which is never silent. */
export const addressIn = (url: string): ServerAddress | undefined => {
  const { hostname, port, searchParams } = new URL(url)
  const host = decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1")
  if (host === "" || host.startsWith("/") || searchParams.has("host") || searchParams.has("port")) return undefined
  return { host, port: port === "" ? 5432 : Number(port) }
}

/** How often a connection is looked at, in milliseconds, at most. */
const longestLook = 1000

/**
 * Connects to a server. The connection fails when something was sent, and for `patience` nothing came. What is counted
 * is the bytes on the wire, encrypted or not.
 */
export const open = (address: ServerAddress, patience: Duration.Duration): Socket => {
  // A statement is one write and then a wait for its answer: there is nothing to hold a write back for.
  const socket = connect({ ...address, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 })
  const look = Math.min(longestLook, Duration.toMillis(patience) / 4)
  let received = 0
  let answered = 0
  let silent = 0
  let seen = 0
  // What is written after the last answer waits for one, however soon after it. Where the stream is encrypted, nothing is
  // seen here, and only the looks tell.
  socket.once("connect", () => {
    socket.on("data", () => {
      seen = socket.bytesRead
      answered = socket.bytesWritten
    })
  })
  const looking = setInterval(() => {
    if (socket.connecting) return
    const { bytesRead, bytesWritten } = socket
    if (bytesRead !== received) {
      received = bytesRead
      silent = 0
      if (seen !== bytesRead) answered = bytesWritten
      return
    }
    if (bytesWritten === answered) {
      silent = 0
      return
    }
    silent += look
    if (silent >= Duration.toMillis(patience)) {
      socket.destroy(new Error(`the database server has been silent for ${Duration.format(patience)}`))
    }
  }, look)
  looking.unref()
  socket.once("close", () => clearInterval(looking))
  return socket
}
