/**
 * The host's private folder for its fork-servers: a copy of the programs, which the sandbox's user can read wherever they
 * are installed, the filter of system calls, and the sockets.
 *
 * A host that is killed leaves its folder behind; the next one removes it (`OwnedFolder.ts`).
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ProcessUser } from "./ForkServerHandle.ts"
import { accountFiles } from "./OuterRoots.ts"
import * as OwnedFolder from "./OwnedFolder.ts"

/** The folder cannot be made or filled. */
export class PrivateFolderFailure extends Schema.TaggedError<PrivateFolderFailure>()("PrivateFolderFailure", {
  /** What the operating system said. */
  message: Schema.String
}) {}

const failed = (error: unknown): PrivateFolderFailure =>
  new PrivateFolderFailure({ message: error instanceof Error ? error.message : String(error) })

const programs = fileURLToPath(new URL("../../../python", import.meta.url))

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
      try: () => OwnedFolder.make(parent, user?.uid),
      catch: failed
    }),
    (owned) => Effect.promise(owned.close)
  ).pipe(
    Effect.map(({ path }) => path),
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
