/**
 * E2B on the loopback interface, as far as its client speaks to it: the control plane's REST, and of envd, which runs
 * in each sandbox, the files and the process service (Connect's protocol, in JSON). Machines are local processes.
 *
 * It can be told to misbehave, and counts what it has.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Machine } from "./Machine.ts"

/** How a request goes wrong. */
export type Fault =
  /** It is answered with this status, and not done. */
  | { readonly status: number }
  /** It is never answered, and not done. */
  | "hang"
  /** It is done, and never answered. */
  | "hang-after"
  /** It is done, and answered with 500. */
  | "fail-after"
  /** It is done, and half of the answer comes. */
  | "garble"

/** What a request is for. */
export type Route =
  | "create"
  | "list"
  | "connect"
  | "kill"
  | "timeout"
  | "metrics"
  | "files"
  | "start"
  | "input"
  | "other"

interface Entry {
  readonly id: string
  readonly metadata: Record<string, string>
  readonly machine: Machine
  startedAt: Date
  readonly body: unknown
  endAt: Date
}

export interface E2bServer {
  readonly url: string
  /** What goes wrong with the next requests, as long as it is set. */
  readonly misbehave: (fault: ((route: Route) => Fault | undefined) | undefined) => void
  /** The ids of the sandboxes that are there. */
  readonly sandboxes: () => ReadonlyArray<string>
  /** Processes of all sandboxes. */
  readonly processes: () => ReadonlyArray<number>
  /** What each sandbox was created with. */
  readonly created: () => ReadonlyArray<unknown>
  /** How many requests there were of a kind. */
  readonly count: (route: Route) => number
  /** Ends a sandbox without anybody having asked for it. */
  readonly lose: (id: string) => void
  /** Makes a sandbox older than it is. */
  readonly age: (id: string, milliseconds: number) => void
  /** Breaks all connections, as a network does. */
  readonly disconnect: () => void
}

export const key = "e2b_local"

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)

const text = (value: unknown): string => (typeof value === "string" ? value : "")

const envelope = (flags: number, message: unknown): Buffer => {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

class Service {
  readonly entries = new Map<string, Entry>()
  readonly all: Array<Entry> = []
  readonly counts = new Map<Route, number>()
  fault: ((route: Route) => Fault | undefined) | undefined
  readonly #python: string

  constructor(python: string) {
    this.#python = python
  }

  lose(id: string): void {
    const entry = this.entries.get(id)
    this.entries.delete(id)
    entry?.machine.end()
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://local")
    const sandbox = request.headers["e2b-sandbox-id"]
    const route = routeOf(request.method ?? "", url.pathname)
    this.counts.set(route, (this.counts.get(route) ?? 0) + 1)
    const body = await bodyOf(request)
    const fault = this.fault?.(route)
    if (fault === "hang") return
    if (typeof fault === "object") return json(response, fault.status, { code: fault.status, message: "misbehaving" })
    const answer = fault === undefined ? response : undefined
    if (typeof sandbox === "string") await this.#envd(sandbox, url, request, body, answer)
    else this.#control(url, request, body, answer)
    if (fault === "fail-after") json(response, 500, { code: 500, message: "misbehaving" })
    if (fault === "garble") {
      response.writeHead(200, { "content-type": "application/json" })
      response.end('{"sandboxID": "i')
    }
  }

  #control(url: URL, request: IncomingMessage, body: Buffer, response: ServerResponse | undefined): void {
    if (request.headers["x-api-key"] !== key) return json(response, 401, { code: 401, message: "no such key" })
    const [, id = "", action = ""] = /^(?:\/v2)?\/sandboxes\/?([^/]*)\/?([^/]*)$/.exec(url.pathname) ?? []
    const sent: unknown = body.length === 0 ? {} : JSON.parse(body.toString())
    if (id === "" && request.method === "POST") return this.#create(sent, response)
    if (id === "") {
      const wanted = new URLSearchParams(url.searchParams.get("metadata") ?? "")
      const found = [...this.entries.values()].filter((entry) =>
        [...wanted].every(([name, value]) => entry.metadata[decodeURIComponent(name)] === decodeURIComponent(value))
      )
      return json(response, 200, found.map(told))
    }
    const entry = this.entries.get(id)
    if (entry === undefined) return json(response, 404, { code: 404, message: "no such sandbox" })
    if (request.method === "DELETE") {
      this.lose(id)
      return json(response, 204)
    }
    switch (action) {
      case "connect":
        return json(response, 200, access(entry))
      case "timeout":
        return json(response, 204)
      case "metrics":
        return json(response, 200, [
          {
            timestamp: new Date().toISOString(),
            cpuUsedPct: 1,
            cpuCount: 2,
            memUsed: 1e8,
            memTotal: 1e9,
            memCache: 0,
            diskUsed: 0,
            diskTotal: 1
          }
        ])
      default:
        return json(response, 404, { code: 404, message: "no such route" })
    }
  }

  #create(sent: unknown, response: ServerResponse | undefined): void {
    const metadata = at(sent, "metadata")
    const entry: Entry = {
      id: `i${randomUUID().replaceAll("-", "").slice(0, 20)}`,
      metadata: isRecord(metadata)
        ? Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, text(value)]))
        : {},
      machine: new Machine(this.#python),
      startedAt: new Date(),
      endAt: new Date(Date.now() + 300_000),
      body: sent
    }
    this.entries.set(entry.id, entry)
    this.all.push(entry)
    json(response, 201, access(entry))
  }

  async #envd(
    id: string,
    url: URL,
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse | undefined
  ): Promise<void> {
    const entry = this.entries.get(id)
    if (entry === undefined) return json(response, 502, { code: 502, message: "The sandbox was not found" })
    if (request.headers["x-access-token"] !== `token-${id}`) return json(response, 401, { message: "no access" })
    const { machine } = entry
    if (url.pathname === "/health") return json(response, 204)
    if (url.pathname === "/files" && request.method === "POST") {
      const type = request.headers["content-type"] ?? ""
      const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData()
      const path = url.searchParams.get("path") ?? ""
      const files = await Promise.all(
        form
          .getAll("file")
          .map(async (file) => (typeof file === "string" ? file : new Uint8Array(await file.arrayBuffer())))
      )
      for (const file of files) machine.write(path, Buffer.from(file))
      return json(response, 200, [{ name: path.split("/").at(-1), type: "file", path }])
    }
    if (url.pathname === "/process.Process/Start") {
      const sent: unknown = JSON.parse(body.subarray(5).toString())
      return start(machine, sent, response)
    }
    const sent: unknown = JSON.parse(body.toString())
    const pid = Number(at(sent, "process", "selector", "pid") ?? at(sent, "process", "pid"))
    const none = { code: "not_found", message: "no such process" }
    switch (url.pathname) {
      case "/process.Process/SendInput": {
        const input = text(at(sent, "input", "pty") ?? at(sent, "input", "stdin"))
        return machine.input(pid, Buffer.from(input, "base64")) ? json(response, 200, {}) : json(response, 404, none)
      }
      case "/process.Process/SendSignal":
        return machine.signal(pid) ? json(response, 200, {}) : json(response, 404, none)
      default:
        return json(response, 404, { code: "unimplemented", message: url.pathname })
    }
  }
}

const routeOf = (method: string, path: string): Route => {
  if (path.endsWith("/sandboxes")) return method === "POST" ? "create" : "list"
  if (path.endsWith("/connect")) return "connect"
  if (path.endsWith("/timeout")) return "timeout"
  if (path.endsWith("/metrics")) return "metrics"
  if (path === "/files") return "files"
  if (path.endsWith("/Start")) return "start"
  if (path.endsWith("/SendInput")) return "input"
  return method === "DELETE" ? "kill" : "other"
}

const json = (response: ServerResponse | undefined, status: number, value?: unknown): void => {
  if (response === undefined || response.headersSent) return
  response.writeHead(status, { "content-type": "application/json" })
  response.end(value === undefined ? undefined : JSON.stringify(value))
}

const access = (entry: Entry) => ({
  sandboxID: entry.id,
  templateID: "template",
  clientID: "local",
  envdVersion: "0.5.8",
  envdAccessToken: `token-${entry.id}`
})

const told = (entry: Entry) => ({
  sandboxID: entry.id,
  templateID: "template",
  clientID: "local",
  metadata: entry.metadata,
  startedAt: entry.startedAt.toISOString(),
  endAt: entry.endAt.toISOString(),
  state: "running",
  cpuCount: 2,
  memoryMB: 512,
  diskSizeMB: 512,
  envdVersion: "0.5.8"
})

const start = (machine: Machine, sent: unknown, response: ServerResponse | undefined): void => {
  const args = at(sent, "process", "args")
  response?.writeHead(200, { "content-type": "application/connect+json" })
  const say = (event: unknown): void => {
    response?.write(envelope(0, { event }))
  }
  const pid = machine.start(
    {
      command: text(at(sent, "process", "cmd")),
      arguments: Array.isArray(args) ? args.map(text) : [],
      terminal: at(sent, "pty") !== undefined
    },
    {
      data: (stream, bytes) => say({ data: { [stream]: Buffer.from(bytes).toString("base64") } }),
      end: (exitCode) => {
        say({ end: { exitCode, exited: true, status: `exit status ${exitCode}` } })
        response?.end(envelope(2, {}))
      }
    }
  )
  response?.on("close", () => machine.leave(pid))
  say({ start: { pid } })
}

/** Serves E2B until the scope closes; then every machine is gone. */
export const serve = (python: string): Effect.Effect<E2bServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Server; readonly service: Service }>((resume) => {
      const service = new Service(python)
      const server = createServer((request, response) => {
        service.handle(request, response).catch((error: unknown) => json(response, 500, { message: String(error) }))
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed({ server, service })))
    }),
    ({ server, service }) =>
      Effect.callback<void>((resume) => {
        for (const id of service.entries.keys()) service.lose(id)
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(
    Effect.map(({ server, service }): E2bServer => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      return {
        url: `http://127.0.0.1:${port}`,
        misbehave: (fault) => {
          service.fault = fault
        },
        sandboxes: () => [...service.entries.keys()],
        processes: () => service.all.flatMap(({ machine }) => machine.running),
        created: () => service.all.map(({ body }) => body),
        count: (route) => service.counts.get(route) ?? 0,
        lose: (id) => service.lose(id),
        age: (id, milliseconds) => {
          const entry = service.entries.get(id)
          if (entry !== undefined) entry.startedAt = new Date(entry.startedAt.getTime() - milliseconds)
        },
        disconnect: () => server.closeAllConnections()
      }
    })
  )
