/**
 * Folders that provably have an owner, as long as a process of this kernel owns them: the owner listens at a socket in
 * its folder, and the kernel takes that away with the process, however it ends. Whoever gets an answer leaves the folder
 * alone; a folder at which nobody listens is left by a host that was killed.
 *
 * It is no process's number that tells, because that names another process, or none, in each container: two of them that
 * share a folder would take each other's away. A socket of the file system is the same one in all of them.
 */
import { lstat, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises"
import { connect, createServer, type Server } from "node:net"
import { basename, join } from "node:path"

/** A folder with its owner. */
export interface OwnedFolder {
  readonly path: string
  /** Gives the folder up and removes it, with all that it holds. */
  readonly close: () => Promise<void>
}

const prefix = "castellan-fork-servers-"
/** Of a folder that nobody listens at yet. It becomes one of the others in one step. */
const unfinished = `${prefix}starting-`
/** What is ours to look at, and what `mkdtemp` makes of a prefix. */
const pattern = /^castellan-fork-servers-(starting-)?[A-Za-z0-9]{6}$/
const socketName = "owner"
/** Milliseconds after which a folder is not one that somebody is about to listen at. */
const startLimit = 600_000

/** Whether somebody listens there: false only where the system says that nobody does. */
const isOwned = (folder: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path: join(folder, socketName) })
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", (error: NodeJS.ErrnoException) =>
      // Where it may not be asked, or has too many who ask, it is not ours to say.
      resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT")
    )
  })

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/**
 * Removes what hosts that were killed have left below `parent`: folders of the users `users` alone. Root could remove
 * anybody's, and whoever owns a folder can put links into it while it is removed. `now`: the time there, in milliseconds.
 */
const sweep = async (parent: string, users: ReadonlySet<number>, now: number): Promise<void> => {
  const removeLeft = async (name: string): Promise<void> => {
    const found = pattern.exec(name)
    if (found === null) return
    const folder = join(parent, name)
    const about = await lstat(folder)
    if (!about.isDirectory() || !users.has(about.uid)) return
    const isStarting = found[1] !== undefined && now - about.mtimeMs < startLimit
    if (!isStarting && !(await isOwned(folder))) await remove(folder)
  }
  // Another host may be faster.
  await Promise.all((await readdir(parent)).map((name) => removeLeft(name).catch(() => undefined)))
}

const listen = (path: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once("error", reject)
    server.listen(path, () => resolve(server))
    // Whoever has nothing else to do ends.
    server.unref()
  })

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

/**
 * Makes a folder below `parent` that this process owns, once those of the dead are gone. `user`: another one whom such
 * folders are given to, by number.
 */
export const make = async (parent: string, user?: number): Promise<OwnedFolder> => {
  const made = await mkdtemp(join(parent, unfinished))
  try {
    const server = await listen(join(made, socketName))
    const path = join(parent, `${prefix}${basename(made).slice(unfinished.length)}`)
    const close = async (): Promise<void> => {
      // First the folder: another host's sweep must not come upon what is half removed as its own.
      await remove(path)
      await closed(server)
    }
    try {
      const { mtimeMs, uid } = await stat(made)
      await sweep(parent, new Set(user === undefined ? [uid] : [uid, user]), mtimeMs)
      await rename(made, path)
    } catch (error) {
      await closed(server)
      throw error
    }
    return { path, close }
  } catch (error) {
    await remove(made)
    throw error
  }
}
