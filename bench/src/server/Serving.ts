/**
 * The server's end of the channel to the runner: says that it listens, what it has used up, and does what it is told.
 */
import { type Answer, orderOf, type Usage, usageCommand } from "./Protocol.ts"

/** What a server can be told to do, by name. */
export type Commands = Readonly<Record<string, (input: string) => string | Promise<string>>>

const send = (answer: Answer): void => {
  process.send?.(answer)
}

const usage = (): string => {
  const { system, user } = process.cpuUsage()
  const used: Usage = { cpuMicros: user + system, residentBytes: process.memoryUsage.rss() }
  return JSON.stringify(used)
}

/** Tells the runner that the server listens, and obeys it from then on, until the runner is gone. */
export const serving = (port: number, bearer: string, commands: Commands = {}): void => {
  const known: Commands = { ...commands, [usageCommand]: usage }
  process.on("message", (message) => {
    const order = orderOf(message)
    if (order === undefined) return
    const { id } = order
    const perform = known[order.command]
    if (perform === undefined) return send({ type: "failed", id, message: `unknown command ${order.command}` })
    Promise.resolve()
      .then(() => perform(order.input))
      .then(
        (output) => send({ type: "done", id, output }),
        (error: unknown) =>
          send({ type: "failed", id, message: error instanceof Error ? error.message : String(error) })
      )
  })
  process.on("disconnect", () => process.exit())
  send({ type: "ready", port, bearer })
}
