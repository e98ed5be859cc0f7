/**
 * A directory that only this process can read, for what it can make again: converted tables, spilled rows, compiled
 * code. It is gone when its scope closes; one that a killed server left behind is removed by the next.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"

/** The host is part of the name, because process ids mean nothing on another one that shares the directory. */
const prefix = `castellan-files-${hostname().replaceAll(/[^A-Za-z0-9]+/g, "_")}-`

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 })

/** Removes what servers of this host and user left behind. What cannot be removed stays. */
const sweep = async (parent: string): Promise<void> => {
  const left = (await readdir(parent)).filter((name) => {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : Number.NaN
    return Number.isInteger(pid) && !isRunning(pid)
  })
  const removals = left.map(async (name) => {
    const path = join(parent, name)
    const status = await lstat(path)
    if (status.isDirectory() && (process.getuid === undefined || status.uid === process.getuid())) await remove(path)
  })
  await Promise.allSettled(removals)
}

/** A new private directory. */
export const acquire: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    await sweep(tmpdir()).catch(() => undefined)
    return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  }),
  (path) => Effect.promise(() => remove(path))
)
