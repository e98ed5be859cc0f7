/**
 * A server that ends while a program runs in a sandbox: the execution has a truthful end, nothing goes on running, and the
 * next start lists it. Told to stop, and killed; with a real sandbox, over HTTP.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { afterAll } from "vitest"

const folders: Array<string> = []
/** One that the sandboxes' own user can pass through, as the system's for temporary files is. */
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "castellan-stop-test-"))
  chmodSync(made, 0o755)
  folders.push(made)
  return made
}
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })))

const Executions = Schema.Struct({
  executions: Schema.Array(
    Schema.Struct({
      input: Schema.String,
      duration_ms: Schema.optionalKey(Schema.Number),
      error: Schema.optionalKey(Schema.String)
    })
  )
})
const executionsOf = Schema.decodeUnknownSync(Executions)
const startedOf = Schema.decodeUnknownSync(Schema.Struct({ sandbox_id: Schema.String }))
const listedOf = Schema.decodeUnknownSync(
  Schema.Struct({ sandboxes: Schema.Array(Schema.Struct({ sandbox_id: Schema.String, status: Schema.String })) })
)

interface Server {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  readonly hasSandboxes: boolean
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>
}

const start = async (data: string, temporary: string, options: ReadonlyArray<string> = []): Promise<Server> => {
  const child = spawn(process.execPath, [...options, join(import.meta.dirname, "../src/main.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PORT: "0", CASTELLAN_DATA_DIR: data, CASTELLAN_SANDBOX: "auto", TMPDIR: temporary }
  })
  const ended = once(child, "exit")
  let output = ""
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(output)))
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      const found = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const key = readFileSync(join(data, "admin.key"), "utf8").trim()
  return {
    child,
    ended,
    hasSandboxes: !output.includes("sandboxes: none"),
    call: async (method, path, body) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const answer: unknown = await response.json()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
      return answer
    }
  }
}

/** The processes below one, each with the moment of its start: its number may be another's later. */
const descendants = (root: number): ReadonlyArray<string> => {
  const all = readdirSync("/proc").flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return [{ id: `${name} ${fields[19]}`, pid: Number(name), parent: Number(fields[1]), state: fields[0] }]
    } catch {
      // No process, or one that has ended since.
      return []
    }
  })
  const below = (pid: number): ReadonlyArray<string> =>
    all.flatMap((one) => (one.parent === pid && one.state !== "Z" ? [one.id, ...below(one.pid)] : []))
  return below(root)
}

const isAlive = (id: string): boolean => {
  const [pid = "", startedAt] = id.split(" ")
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[19] === startedAt && fields[0] !== "Z"
  } catch {
    return false
  }
}

/** Waits until something is so, asking less often than a server lets anybody ask; what never is ends with the test. */
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  // oxlint-disable-next-line no-await-in-loop -- looked for again and again
  while (!(await isSo())) await wait(250)
}

const program = "import time\nopen('begun', 'w').close()\ntime.sleep(100000)"

/** A server in which a program runs that never ends. */
const busy = async () => {
  const [data, temporary] = [folder(), folder()]
  const server = await start(data, temporary)
  if (!server.hasSandboxes) {
    process.stderr.write(
      "\nSKIPPED: this machine has no sandboxes at all: what becomes of a program cannot be seen.\n\n"
    )
    server.child.kill("SIGTERM")
    await server.ended
    return undefined
  }
  const { sandbox_id } = startedOf(await server.call("POST", "/v2/sandcastles", {}))
  const path = `/v2/sandcastles/${sandbox_id}`
  await server.call("POST", `${path}/execute`, { code: "print('before')" })
  // Its caller may be answered or cut off: it is not the caller that keeps the record.
  const asked = server.call("POST", `${path}/execute`, { code: program }).catch(() => undefined)
  await until(async () => JSON.stringify(await server.call("GET", `${path}/files`)).includes("begun"))
  const running = descendants(server.child.pid ?? 0)
  assert.isAbove(running.length, 0)
  return { server, data, temporary, path, asked, running, sandboxId: sandbox_id }
}

describe.skipIf(process.platform !== "linux")("a server that ends while a program runs", () => {
  it("told to stop, records it as interrupted, leaves nothing running, and lists it when it starts again", async () => {
    const found = await busy()
    if (found === undefined) return
    const { asked, data, path, running, sandboxId, server, temporary } = found
    server.child.kill("SIGTERM")
    await server.ended
    await asked
    assert.deepStrictEqual(running.filter(isAlive), [])
    const next = await start(data, temporary)
    try {
      const { executions } = executionsOf(await next.call("GET", `${path}/executions`))
      assert.deepStrictEqual(
        executions.map(({ error, input }) => [input, error]),
        [
          [program, "interrupted"],
          ["print('before')", undefined]
        ]
      )
      assert.isDefined(executions[0]?.duration_ms)
      const { sandboxes } = listedOf(await next.call("GET", "/v2/sandcastles?status=all"))
      assert.deepStrictEqual(sandboxes, [{ sandbox_id: sandboxId, status: "stopped" }])
    } finally {
      next.child.kill("SIGTERM")
      await next.ended
    }
  }, 300_000)

  it("killed, leaves nothing running; the next one lists it at once, and says that it ended with its server", async () => {
    const found = await busy()
    if (found === undefined) return
    const { asked, data, path, running, sandboxId, server, temporary } = found
    server.child.kill("SIGKILL")
    await server.ended
    await asked
    await until(() => !running.some(isAlive))
    const soon = await start(data, temporary)
    try {
      const { executions } = executionsOf(await soon.call("GET", `${path}/executions`))
      assert.deepStrictEqual(
        executions.map(({ input }) => input),
        [program, "print('before')"]
      )
    } finally {
      soon.child.kill("SIGTERM")
      await soon.ended
    }
    // Once the one that was killed has not been heard of for three minutes.
    const later = await start(data, temporary, [
      `--import=${pathToFileURL(join(import.meta.dirname, "support/LaterClock.ts")).href}`
    ])
    try {
      const current = async () => executionsOf(await later.call("GET", `${path}/executions`)).executions
      await until(async () => (await current())[0]?.duration_ms !== undefined)
      assert.deepStrictEqual(
        (await current()).map(({ error, input }) => [input, error]),
        [
          [program, "the server that ran it, or its session, ended before it did"],
          ["print('before')", undefined]
        ]
      )
      const { sandboxes } = listedOf(await later.call("GET", "/v2/sandcastles?status=all"))
      assert.deepStrictEqual(sandboxes, [{ sandbox_id: sandboxId, status: "stopped" }])
    } finally {
      later.child.kill("SIGTERM")
      await later.ended
    }
  }, 300_000)
})
