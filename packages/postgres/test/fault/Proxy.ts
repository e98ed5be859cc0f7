/** The way between the service and its server, which can be blocked: what is sent is swallowed, and nobody is told. */
import * as Effect from "effect/Effect"
import { connect, createServer, type Socket } from "node:net"

/** A way to a server. */
export interface Proxy {
  readonly port: number
  /** Swallows what comes from either side, on connections that are there; whether new ones are taken is up to `accept`. */
  readonly block: () => void
  /** New connections get through again; those that were blocked stay so. */
  readonly unblock: () => void
  /** Ends the connections that are blocked, as seen from the service. */
  readonly cut: () => void
  /** Connections of the service that are open. */
  readonly open: () => number
}

/** A way to a port of the loopback interface, for as long as the scope. */
export const to = (target: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly proxy: Proxy; readonly close: () => void }>((resume) => {
        let isBlocked = false
        const sockets = new Set<Socket>()
        const open = new Set<Socket>()
        const blocked = new WeakSet<Socket>()
        const server = createServer((near) => {
          const far = connect({ port: target, host: "127.0.0.1", noDelay: true })
          open.add(near)
          if (isBlocked) blocked.add(near)
          const pipe = (from: Socket, into: Socket) => {
            sockets.add(from)
            from.on("data", (bytes) => {
              if (!blocked.has(near)) into.write(bytes)
            })
            from.on("error", () => {})
            from.on("close", () => {
              sockets.delete(from)
              open.delete(from)
              if (!blocked.has(near)) into.destroy()
            })
          }
          pipe(near, far)
          pipe(far, near)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(
            Effect.succeed({
              proxy: {
                port,
                block: () => {
                  isBlocked = true
                  for (const socket of open) blocked.add(socket)
                },
                unblock: () => {
                  isBlocked = false
                },
                cut: () => {
                  for (const socket of open) if (blocked.has(socket)) socket.destroy()
                },
                open: () => open.size
              },
              close: () => {
                server.close()
                for (const socket of sockets) socket.destroy()
              }
            })
          )
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ proxy }) => proxy
  )
