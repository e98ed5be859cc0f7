/** A server, and a demo, whose output nobody reads any more. */
import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll } from "vitest"

const folders: Array<string> = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "castellan-output-test-"))
  folders.push(made)
  return made
}
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })))

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/**
 * A port that is free: the server cannot say which one it took. It is none that a system gives to whoever connects,
 * which could be taken before the server has it.
 */
const freePort = async (): Promise<number> => {
  const port = randomInt(10_000, 30_000)
  return (await isFree(port)) ? port : freePort()
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    (response) => response.ok,
    () => false
  )

/** Starts the server, and closes its output at its first line: it has more to say. */
const unheard = async (closed: ReadonlyArray<"stdout" | "stderr">) => {
  const port = await freePort()
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HOST: "127.0.0.1", PORT: `${port}`, CASTELLAN_DATA_DIR: folder(), CASTELLAN_SANDBOX: "none" }
  })
  let complaints = ""
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()))
  const ended = once(child, "exit")
  await once(child.stdout, "data")
  for (const name of closed) child[name].destroy()
  // oxlint-disable-next-line no-await-in-loop -- looked for again and again, as long as it lives
  while (child.exitCode === null && !(await answers(port))) await wait(50)
  return { child, ended, port, complaints: () => complaints }
}

const stopped = async (child: ChildProcess, ended: Promise<ReadonlyArray<unknown>>): Promise<unknown> => {
  child.kill("SIGTERM")
  return (await ended)[1]
}

describe("the server", () => {
  it("goes on when its standard output is closed, and says so once", async () => {
    const { child, complaints, ended, port } = await unheard(["stdout"])
    assert.isNull(child.exitCode, complaints())
    assert.isTrue(await answers(port))
    assert.isNull(await stopped(child, ended))
    assert.match(complaints(), /^standard output cannot be written \(write EPIPE\): the log is lost from here on\n$/)
  }, 300_000)

  it("goes on when nothing of what it says is read", async () => {
    const { child, ended, port } = await unheard(["stdout", "stderr"])
    assert.isNull(child.exitCode)
    assert.isTrue(await answers(port))
    assert.isNull(await stopped(child, ended))
  }, 300_000)
})

describe("the demo", () => {
  it.each(["closed", "killed"] as const)(
    "takes its server with it when it is %s",
    async (how) => {
      const child = spawn(process.execPath, [join(import.meta.dirname, "../src/demo.ts")], {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, CASTELLAN_SANDBOX: "none" }
      })
      const ended = once(child, "exit")
      let output = ""
      const port = await new Promise<number>((resolve, reject) => {
        child.once("exit", () => reject(new Error(output)))
        child.stdout.on("data", (chunk: Buffer) => {
          output += chunk.toString()
          const found = /listening on http:\/\/[\w.]+:(\d+)/.exec(output)?.[1]
          if (found !== undefined) resolve(Number(found))
        })
      })
      if (how === "closed") child.stdout.destroy()
      else child.kill("SIGKILL")
      await ended
      // oxlint-disable-next-line no-await-in-loop -- looked for again and again
      while (await answers(port)) await wait(50)
      assert.isTrue(child.killed || child.exitCode !== null, "it has ended as well")
    },
    300_000
  )
})
