/** A commit is on the disk when it is answered: PostgreSQL's `fsync` reaches the operating system. */
import { assert, it } from "@effect/vitest"
import type * as NodeFiles from "node:fs"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject, vi } from "vitest"
import * as Engine from "../../src/embedded/internal/Engine.ts"

const flushed = vi.hoisted(() => ({ times: 0 }))

vi.mock("node:fs", async (original) => {
  const real = await original<typeof NodeFiles>()
  return {
    ...real,
    fsyncSync: (file: number) => {
      flushed.times++
      real.fsyncSync(file)
    }
  }
})

it("every commit is written through to the disk before it is answered, and what only reads is not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "castellan-embedded-"))
  await cp(inject("embeddedTemplate"), folder, { recursive: true })
  const database = await Engine.open(folder)
  const during = async (statement: string): Promise<number> => {
    const before = flushed.times
    await database.exec(statement)
    return flushed.times - before
  }
  await database.exec("CREATE TABLE public.numbers (number integer)")
  for (let number = 0; number < 10; number++) {
    // oxlint-disable-next-line no-await-in-loop -- one commit after the other
    assert.isAtLeast(await during(`INSERT INTO public.numbers VALUES (${number})`), 1)
  }
  assert.strictEqual(await during("SELECT count(*) FROM public.numbers"), 0)
  assert.isAtLeast(await during("CHECKPOINT"), 2, "the tables, and the log")
  await database.close()
  await rm(folder, { recursive: true, force: true })
}, 300_000)
