/**
 * The host's private folder for its fork-servers: a copy of the programs, which the sandbox's user can read wherever they
 * are installed, the filter of system calls, and the sockets.
 *
 * A host that is killed leaves its folder behind; the next one removes it. A folder whose owner lives is told by its
 * process.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ProcessUser } from "./ForkServerHandle.ts"
import { accountFiles } from "./OuterRoots.ts"
import { processStart } from "./ProcessStart.ts"

/** The folder cannot be made or filled. */
export class PrivateFolderFailure extends Schema.TaggedError<PrivateFolderFailure>()("PrivateFolderFailure", {
  /** What the operating system said. */
  message: Schema.String
}) {}

const failed = (error: unknown): PrivateFolderFailure =>
  new PrivateFolderFailure({ message: error instanceof Error ? error.message : String(error) })

const prefix = "castellan-sandbox-"

const programs = fileURLToPath(new URL("../../../python", import.meta.url))

/** Removes folders whose hosts were killed. */
const sweep = async (parent: string): Promise<void> => {
  const removeLeft = async (name: string): Promise<void> => {
    const [, pid, start] = /^castellan-sandbox-(\d+)-(\d+)-/.exec(name) ?? []
    if (pid === undefined || start === undefined || (await processStart(Number(pid))) === start) return
    // Another user's is not ours to remove.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
  await Promise.all((await readdir(parent)).map(removeLeft))
}

const fill = async (folder: string, filter: Uint8Array, user: ProcessUser | undefined): Promise<void> => {
  await chmod(folder, 0o700)
  await cp(programs, join(folder, "python"), {
    recursive: true,
    filter: (path) => !path.endsWith("__pycache__")
  })
  await mkdir(join(folder, "etc"))
  await Promise.all(Object.entries(accountFiles).map(([name, text]) => writeFile(join(folder, "etc", name), text)))
  await writeFile(join(folder, "filter"), filter)
  if (user !== undefined) await chown(folder, user.uid, user.gid)
}

/** Makes one below `parent`, which is gone when the scope closes. */
export const make = (
  parent: string,
  filter: Uint8Array,
  user: ProcessUser | undefined
): Effect.Effect<string, PrivateFolderFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        await sweep(parent)
        const start = (await processStart(process.pid)) ?? "0"
        return await mkdtemp(join(parent, `${prefix}${process.pid}-${start}-`))
      },
      catch: failed
    }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  ).pipe(
    Effect.tap((folder) =>
      Effect.tryPromise({
        try: () => fill(folder, filter, user),
        catch: failed
      }).pipe(
        // Copies that went on while the folder is removed would be left behind.
        Effect.uninterruptible
      )
    )
  )

/** Makes the folder of one fork-server's socket, which is gone when the scope closes. */
export const makeListenFolder = (
  folder: string,
  user: ProcessUser | undefined
): Effect.Effect<string, PrivateFolderFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const listen = await mkdtemp(join(folder, "listen-"))
        if (user !== undefined) await chown(listen, user.uid, user.gid)
        return listen
      },
      catch: failed
    }),
    (listen) => Effect.promise(() => rm(listen, { recursive: true, force: true }))
  )
