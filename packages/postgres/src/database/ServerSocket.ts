/**
 * A connection to a server that is given up when the server stays silent after something was sent to it. A path that
 * swallows packets (a server that failed over, a firewall that forgot the connection) tells nobody: the operating system
 * would go on trying for a quarter of an hour, and so would every statement that is sent on the same connection.
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
  const looking = setInterval(() => {
    if (socket.connecting) return
    const { bytesRead, bytesWritten } = socket
    if (bytesRead !== received || bytesWritten === answered) {
      received = bytesRead
      answered = bytesWritten
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
