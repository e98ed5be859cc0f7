/**
 * The worker thread that draws charts: it takes one request after the other and answers each.
 *
 * Drawing is plain computation on input that a model wrote. Here it can be stopped from outside, has a memory limit of
 * its own, and keeps no one waiting on the main thread.
 */
import { parentPort, workerData } from "node:worker_threads"
import { draw } from "./Chart.ts"
import type { Reply, Request, Start } from "./Protocol.ts"

const start: Partial<Start> | null = workerData

if (parentPort !== null && start?.castellan === "charts") {
  const port = parentPort
  const answer = (reply: Reply): void => {
    port.postMessage(reply, reply._tag === "Drawn" && reply.png.buffer instanceof ArrayBuffer ? [reply.png.buffer] : [])
  }
  port.on("message", (request: Request) => {
    draw(request, start.fontFiles ?? []).then(answer, (error: unknown) => {
      answer({ _tag: "Failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    })
  })
  answer({ _tag: "Ready" })
}
