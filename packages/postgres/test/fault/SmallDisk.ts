/** A file system of its own for a test, small enough to be filled: memory that is mounted, which takes root on Linux. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A disk that can be filled, and relieved. */
export interface SmallDisk {
  readonly folder: string
  /** Takes all the room that is left. */
  readonly fill: Effect.Effect<void>
  /** Gives it back. */
  readonly relieve: Effect.Effect<void>
}

const mounted = (megabytes: number): string => {
  const folder = mkdtempSync(join(tmpdir(), "castellan-disk-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0777`, "tmpfs", folder], { stdio: "pipe" })
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

const unmount = (folder: string): void => {
  execFileSync("umount", ["--lazy", folder], { stdio: "pipe" })
  rmSync(folder, { recursive: true, force: true })
}

/** Why there can be none here; absent where there can. */
export const obstacle = (): string | undefined => {
  try {
    unmount(mounted(1))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error)
  }
}

/** A disk for as long as the scope. */
export const make = (megabytes: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mounted(megabytes)),
      (folder) => Effect.sync(() => unmount(folder))
    ),
    (folder): SmallDisk => {
      const ballast = join(folder, "ballast")
      return {
        folder,
        fill: Effect.sync(() => {
          const file = openSync(ballast, "w")
          try {
            for (let bytes = Buffer.alloc(1024 * 1024); bytes.length > 0;) {
              try {
                // Once no more of it fits, less may.
                if (writeSync(file, bytes) < bytes.length) bytes = bytes.subarray(bytes.length / 2)
              } catch (error) {
                if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOSPC") throw error
                bytes = bytes.subarray(Math.ceil(bytes.length / 2))
              }
            }
          } finally {
            closeSync(file)
          }
        }),
        relieve: Effect.sync(() => rmSync(ballast))
      }
    }
  )
