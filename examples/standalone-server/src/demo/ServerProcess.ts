/**
 * The server in a process of its own, as it would run anywhere else, on a free port.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A server that is ready. Disposing of it stops it and waits for its end. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string
  /** What it runs programs in, in its own words. */
  readonly sandboxes: string
}

const stopped = (code: number | null, said: ReadonlyArray<string>): Error =>
  new Error(`the server ended with ${code ?? "a signal"} before it was ready:\n${said.slice(-5).join("\n")}`)

/** Starts the server and waits until it is ready to answer. */
export const startServer = async (
  dataDirectory: string,
  files: string | undefined,
  signal: AbortSignal
): Promise<RunningServer> => {
  // Whoever was told to stop before has no server that could be told.
  signal.throwIfAborted()
  // The demo says over which data it answers: a folder that the environment names is not among its own arguments.
  const { CASTELLAN_FILES: _, ...environment } = process.env
  const server = spawn(process.execPath, [join(import.meta.dirname, "..", "main.ts")], {
    // It ends with this process, however that ends: the channel tells it.
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: {
      ...environment,
      HOST: "127.0.0.1",
      PORT: "0",
      CASTELLAN_DATA_DIR: dataDirectory,
      ...(files === undefined ? {} : { CASTELLAN_FILES: files })
    }
  })
  const ended = once(server, "exit")
  const kill = () => server.kill("SIGTERM")
  signal.addEventListener("abort", kill, { once: true })
  const stop = async (): Promise<void> => {
    signal.removeEventListener("abort", kill)
    if (server.exitCode === null && server.signalCode === null) kill()
    await ended
  }
  const said: Array<string> = []
  const address = await new Promise<string>((resolve, reject) => {
    server.once("exit", (code) => reject(stopped(code, said)))
    if (server.stdout === null) return reject(new Error("the server has no output"))
    createInterface({ input: server.stdout }).on("line", (line) => {
      said.push(line)
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
      if (found !== null) resolve(found[0])
    })
  })
  const ready = await fetch(`${address}/readyz`, { signal }).then(
    (response) => response.ok,
    () => false
  )
  const sandboxes = said.flatMap((line) => /sandboxes: (.+)$/.exec(line)?.[1] ?? []).at(-1) ?? "none"
  if (ready) return { url: address, sandboxes, [Symbol.asyncDispose]: stop }
  await stop()
  throw new Error("the server is not ready")
}
