/**
 * Lets a `node:http` server listen on a free port of this machine, and obey the runner.
 */
import type { Server } from "node:http"
import { type Commands, serving } from "./Serving.ts"

/** Listens, and tells the runner where. */
export const listening = (server: Server, bearer: string, commands: Commands = {}): void => {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("the server listens on no port")
    serving(address.port, bearer, commands)
  })
}
