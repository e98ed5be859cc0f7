/** An organization moves from one data folder to another, as an operator moves it, and its key opens it there. */
import { OrganizationId } from "@castellan/core/organization/Organization"
import * as SecretKeys from "@castellan/core/secret/SecretKeys"
import { SecretId, Secrets } from "@castellan/core/secret/Secrets"
import * as EmbeddedDatabase from "@castellan/postgres/embedded"
import * as PostgresSecrets from "@castellan/postgres/secret/PostgresSecrets"
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "castellan-commands-test-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const id = (number: number): string => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`

const started = (data: string, line: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts"), ...line], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PORT: "0", CASTELLAN_DATA_DIR: data, CASTELLAN_FILES: join(folder, "files"), ...settings }
  })
  let output = ""
  const heard = Promise.withResolvers<string>()
  const hear = (chunk: Buffer): void => {
    output += chunk.toString()
    const found = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
    if (found !== undefined) heard.resolve(found)
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  const ended = once(child, "exit").then(([code]) => {
    heard.reject(new Error(output))
    return { code, output }
  })
  heard.promise.catch(() => undefined)
  return { url: heard.promise, ended, stop: () => child.kill("SIGTERM") }
}

const connectorsOf = async (data: string, key: string): Promise<string> => {
  const server = started(data, [])
  const answer = await fetch(`${await server.url}/v2/connectors`, { headers: { authorization: `Bearer ${key}` } })
  const text = await answer.text()
  server.stop()
  await server.ended
  return text
}

describe("the commands", () => {
  it("export an organization and import it elsewhere, where its key opens it; a used folder is not exported from", async () => {
    const [from, to, file] = [join(folder, "from"), join(folder, "to"), join(folder, "organization.jsonl")]
    mkdirSync(join(folder, "files"))
    writeFileSync(join(folder, "files", "orders.csv"), "x,y\n1,2\n")

    const server = started(from, [])
    await server.url
    const refused = await started(from, ["export", file]).ended
    assert.notStrictEqual(refused.code, 0)
    assert.include(refused.output, "another process works on the database")
    server.stop()
    await server.ended
    assert.isFalse(existsSync(file))

    const undecided = await started(from, ["export", file, "--plain-secrets", "--without-secrets"]).ended
    assert.notStrictEqual(undecided.code, 0)
    assert.include(undecided.output, "contradict each other")

    const written = await started(from, ["export", file]).ended
    assert.strictEqual(written.code, 0, written.output)
    const key = readFileSync(join(from, "admin.key"), "utf8").trim()
    assert.notInclude(readFileSync(file, "utf8"), key)

    mkdirSync(to)
    copyFileSync(join(from, "secrets.key"), join(to, "secrets.key"))
    const read = await started(to, ["import", file]).ended
    assert.strictEqual(read.code, 0, read.output)
    assert.include(await connectorsOf(to, key), '"name":"files"')

    const again = await started(to, ["import", file]).ended
    assert.notStrictEqual(again.code, 0)
    assert.include(again.output, "is here already")
  }, 400_000)

  it("re-encrypt secrets, and fail as long as one of them cannot be read, so that no key that it needs is taken away", async () => {
    const data = join(folder, "secrets")
    const [old, current] = [`old:${btoa("o".repeat(32))}`, `new:${btoa("n".repeat(32))}`]
    await Effect.runPromise(
      Secrets.use((secrets) =>
        secrets.store(OrganizationId.make(id(1)), SecretId.make(id(2)), Redacted.make("hunter2"))
      ).pipe(
        Effect.provide(PostgresSecrets.layer),
        Effect.provide(EmbeddedDatabase.layer({ folder: join(data, "database") })),
        Effect.provide(SecretKeys.layer({ current: Redacted.make(old), former: [] })),
        Effect.provide(NodeCrypto.layer)
      )
    )

    const refused = await started(data, ["reencrypt-secrets"], { CASTELLAN_SECRETS_KEY: current }).ended
    assert.notStrictEqual(refused.code, 0)
    assert.include(refused.output, "1 secret cannot be read")

    const keys = { CASTELLAN_SECRETS_KEY: current, CASTELLAN_SECRETS_FORMER_KEYS: old }
    const done = await started(data, ["reencrypt-secrets"], keys).ended
    assert.strictEqual(done.code, 0, done.output)
    assert.include(done.output, "re-encrypted 1 secret with the current key")

    const without = await started(data, ["reencrypt-secrets"], { CASTELLAN_SECRETS_KEY: current }).ended
    assert.strictEqual(without.code, 0, without.output)
  }, 400_000)
})
