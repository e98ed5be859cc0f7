/**
 * The program of the process that draws charts: it takes one request after the other and answers each.
 *
 * Drawing is computation on input that a model wrote. In a process of its own it can be stopped whatever it is doing,
 * and running out of memory ends this process and not the server.
 */
import { isMainThread, Worker } from "node:worker_threads"
import { draw } from "../internal/vega/Chart.ts"
import type { Reply, Request } from "../internal/vega/Protocol.ts"

/**
 * Ends the process when the server is gone. A busy process would not notice that its channel is closed, so a thread
 * looks whose child it is.
 */
const watchServer = (): void => {
  const source = `
    const server = process.ppid
    setInterval(() => { if (process.ppid !== server) process.kill(process.pid, "SIGKILL") }, 2000)
  `
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 }
  new Worker(source, { eval: true, resourceLimits }).unref()
}

const answer = (reply: Reply): void => {
  process.send?.(reply)
}

if (isMainThread && process.send !== undefined) {
  watchServer()
  process.on("message", (request: Request) => {
    draw(request).then(answer, (error: unknown) => {
      answer({ _tag: "Failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    })
  })
  process.on("disconnect", () => process.exit())
  answer({ _tag: "Ready" })
}
