/** The main job, as a user runs it: a folder in, a streamed answer with a table and a chart out. */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as immediate } from "node:timers/promises"
import { afterAll } from "vitest"
import { parse } from "../src/demo/Arguments.ts"

const folders: Array<string> = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "castellan-demo-test-"))
  folders.push(made)
  return made
}
/** One that the sandboxes' own user can pass through, as the system's for temporary files is. */
const sharedFolder = (): string => {
  const made = folder()
  chmodSync(made, 0o755)
  return made
}
/** What is left in a folder for temporary files. The memory that embedded interpreters start with is kept by intent. */
const left = (temporary: string): ReadonlyArray<string> =>
  readdirSync(temporary).filter((name) => name !== `castellan-sandbox-${process.getuid?.() ?? "user"}`)
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })))

const demo = async (args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/demo.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += chunk))
  child.stderr.on("data", (chunk) => (output += chunk))
  const [code] = await once(child, "exit")
  return { code, output }
}

describe("the demo's command line", () => {
  it("takes a folder, questions and an output folder", () => {
    assert.deepStrictEqual(parse(["--", "--files", "data", "--ask", "a?", "--ask", "b?", "--output", "out"]), {
      files: "data",
      questions: ["a?", "b?"],
      output: "out"
    })
    assert.strictEqual(parse(["--help"]), "help")
    assert.throws(() => parse(["--nonsense"]), /nonsense/)
  })
})

describe("the demo", () => {
  it("answers over a folder of files, streams every kind of event, saves chart and table, writes nothing into it", async () => {
    const files = folder()
    const output = folder()
    writeFileSync(
      join(files, "orders.csv"),
      `order_id,region,amount\n${Array.from({ length: 60 }, (_, n) => `${n + 1},${["North", "South", "West"][n % 3]},${n + 0.5}`).join("\n")}\n`
    )
    const before = readdirSync(files)
    const { code, output: shown } = await demo([
      "--files",
      files,
      "--output",
      output,
      "--ask",
      "Total amount by region?"
    ])
    assert.strictEqual(code, 0, shown)
    for (const type of ["metadata", "cell", "asset", "text", "done"])
      assert.match(shown, new RegExp(`^ {2}${type}`, "m"))
    // North has 0.5, 3.5, …, 57.5: twenty numbers around 29.
    assert.match(shown, /580/)
    const saved = readdirSync(output)
    assert.isTrue(
      saved.some((name) => name.endsWith(".png")),
      saved.join()
    )
    assert.isTrue(
      saved.some((name) => name.endsWith(".csv")),
      saved.join()
    )
    assert.notInclude(shown, "\u001b", "piped output has no escape sequences")
    assert.deepStrictEqual(readdirSync(files), before)
  }, 300_000)

  it("told to stop, stops its server and leaves no key and no sandbox behind", async () => {
    const temporary = sharedFolder()
    const files = folder()
    writeFileSync(join(files, "a.csv"), "x,y\n1,2\n")
    const child = spawn(process.execPath, [join(import.meta.dirname, "../src/demo.ts"), "--files", files], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: temporary, CASTELLAN_SANDBOX: "auto" }
    })
    const exited = once(child, "exit")
    const url = await new Promise<string>((resolve, reject) => {
      let output = ""
      child.once("exit", () => reject(new Error(output)))
      child.stdout.on("data", (chunk) => {
        output += chunk
        const found = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
    child.kill("SIGTERM")
    await exited
    assert.deepStrictEqual(left(temporary), [])
    const answered = await fetch(`${url}/healthz`).then(
      () => true,
      () => false
    )
    assert.isFalse(answered, "the server has stopped")
  }, 300_000)

  it("says that the folder is none, and ends with 1", async () => {
    const { code, output } = await demo(["--files", join(folder(), "nowhere"), "--ask", "anything?"])
    assert.strictEqual(code, 1)
    assert.match(output, /is not a folder/)
  }, 300_000)
})

describe("the server", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "told to stop by %s while its sandboxes start, leaves nothing of them behind",
    async (signal) => {
      const temporary = sharedFolder()
      const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
        stdio: ["ignore", "pipe", "inherit"],
        env: {
          ...process.env,
          PORT: "0",
          CASTELLAN_DATA_DIR: folder(),
          CASTELLAN_SANDBOX: "auto",
          TMPDIR: temporary
        }
      })
      let output = ""
      child.stdout.on("data", (chunk) => (output += chunk))
      const exited = once(child, "exit")
      // The moment that something of a sandbox is there; where the machine has none, the moment that it listens.
      while (child.exitCode === null && readdirSync(temporary).length === 0 && !output.includes("listening on")) {
        // oxlint-disable-next-line no-await-in-loop -- looked for as often as this process gets its turn
        await immediate()
      }
      assert.isNull(child.exitCode, output)
      child.kill(signal)
      await exited
      assert.deepStrictEqual(left(temporary), [], output)
    },
    300_000
  )

  it("never logs the admin key, keeps it and the chats over a restart, and stops when told", async () => {
    const data = folder()
    const files = folder()
    writeFileSync(join(files, "a.csv"), "x,y\n1,2\n")
    const run = async () => {
      const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, PORT: "0", CASTELLAN_DATA_DIR: data, CASTELLAN_FILES: files }
      })
      let output = ""
      const url = await new Promise<string>((resolve, reject) => {
        child.once("exit", () => reject(new Error(output)))
        const read = (chunk: Buffer): void => {
          output += chunk.toString()
          const found = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
          if (found !== undefined) resolve(found)
        }
        child.stdout.on("data", read)
        child.stderr.on("data", read)
      })
      const key = readFileSync(join(data, "admin.key"), "utf8").trim()
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const answer = await fetch(`${url}/v2/connectors`, { headers })
      const connectors: unknown = await answer.json()
      const listed = await fetch(`${url}/v2/chats`, { headers })
      const chats: unknown = await listed.json()
      const body = JSON.stringify({ question: "How many rows?" })
      await (await fetch(`${url}/v2/chats`, { method: "POST", headers, body })).text()
      const readiness = (await fetch(`${url}/readyz`)).status
      const exited = once(child, "exit")
      child.kill("SIGTERM")
      await exited
      return { key, output, status: answer.status, connectors, chats, readiness }
    }
    const first = await run()
    const second = await run()
    assert.deepStrictEqual([first.status, second.status], [200, 200])
    assert.deepStrictEqual([first.readiness, second.readiness], [200, 200])
    assert.strictEqual(second.key, first.key)
    assert.notInclude(JSON.stringify(first.chats), "How many rows?")
    assert.include(JSON.stringify(second.chats), "How many rows?")
    assert.notInclude(first.output + second.output, first.key)
    assert.isTrue(existsSync(join(data, "identity.json")))
    assert.include(JSON.stringify(first.connectors), '"name":"files"')
  }, 300_000)
})
