/**
 * The host as an abuse case must leave it: its memory, its disk, its processes, its network and its secrets.
 *
 * What is measured is what a sandbox could have spent or touched: the memory of this process and of all that it
 * started, what lies in the folders that the runtime writes to, the processes that descend from this one, and whatever
 * reached a listener on the loopback interface.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createSocket } from "node:dgram"
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"

/** What no sandbox may read: it stands in this process's environment and in a file beside its own. */
export const secret = "castellan-abuse-7f3c9e51d2"

/** The variable of this process's environment that holds the secret. */
export const secretVariable = "CASTELLAN_ABUSE_SECRET"

const mebibyte = 1024 * 1024

/** Bytes that the host's own process may grow by while a case runs. */
const hostGrowth = 200 * mebibyte

/** A process as `/proc` tells it. */
export interface ProcessEntry {
  readonly id: number
  readonly parent: number
  readonly residentBytes: number
  /** When it was started, in the kernel's ticks: with its number, it has no namesake. */
  readonly startedAt: string
}

const pageSize = 4096

const readEntry = (id: number): ProcessEntry | undefined => {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    // A zombie holds nothing but its number, and is its parent's to collect.
    if (fields[0] === "Z") return undefined
    const [parent, startedAt = "", pages] = [fields[1], fields[19], fields[21]]
    return { id, parent: Number(parent), residentBytes: Number(pages) * pageSize, startedAt }
  } catch {
    // It ended while the list was read.
    return undefined
  }
}

const allProcesses = (): ReadonlyArray<ProcessEntry> => {
  if (process.platform !== "linux") return []
  return readdirSync("/proc").flatMap((name) => {
    const entry = /^[0-9]+$/.test(name) ? readEntry(Number(name)) : undefined
    return entry === undefined ? [] : [entry]
  })
}

/** Whether a process that was seen still runs. */
export const stillRuns = ({ id, startedAt }: ProcessEntry): boolean => readEntry(id)?.startedAt === startedAt

/** The users that a process has to the kernel, as the host numbers them; none once it has ended. */
export const usersOf = ({ id }: ProcessEntry): ReadonlyArray<number> => {
  try {
    const [, users = ""] = /^Uid:\t(.+)$/m.exec(readFileSync(`/proc/${id}/status`, "latin1")) ?? []
    return users.split("\t").map(Number)
  } catch {
    // It ended while it was looked at.
    return []
  }
}

/** What a process, this one where none is named, started, with all that those started. Without `/proc`, nothing is seen. */
export const descendants = (root = process.pid): ReadonlyArray<ProcessEntry> => {
  const all = allProcesses()
  const found = new Set([root])
  const result: Array<ProcessEntry> = []
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const entry of all) {
      if (!found.has(entry.id) && found.has(entry.parent)) {
        found.add(entry.id)
        result.push(entry)
      }
    }
  }
  return result
}

const bytesBelow = (folder: string): number => {
  let bytes = 0
  const open = [folder]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    let entries
    try {
      entries = readdirSync(at, { withFileTypes: true })
    } catch {
      continue
    }
    for (const entry of entries) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) open.push(path)
      else bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    }
  }
  return bytes
}

/** What a runtime is known to write to and to start. */
export interface HostBounds {
  /** The folders of the host that the runtime writes to. */
  readonly folders: ReadonlyArray<string>
  /** Bytes that all of the runtime's processes may hold at once while one or two sessions are abused. */
  readonly memoryBytes: number
  /** Bytes that may lie in those folders beyond what lay there before. */
  readonly diskBytes: number
  /** Processes that there may be at once beyond those that there were. */
  readonly processes: number
}

/** The host around a case. */
export interface Host {
  /** The port of a listener on 127.0.0.1, for TCP and UDP, that nothing may reach. */
  readonly port: number
  /** The path of a Unix socket that nothing may reach. */
  readonly socketPath: string
  /** A file of the host that holds the secret. */
  readonly secretPath: string
  /** A path at which no program may make a file: where one appears, something ran on the host. */
  readonly markerPath: string
  readonly hostname: string
}

interface Listening {
  readonly port: number
  readonly close: () => void
}

/** Listens for whatever comes to one port over TCP and UDP, and to a Unix socket. */
const listen = (socketPath: string, heard: (what: string) => void) =>
  Effect.promise(async (): Promise<Listening> => {
    const accept = (server: Server, where: Parameters<Server["listen"]>[0]) =>
      new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen(where, () => resolve())
      })
    const named = (kind: string) =>
      createServer((socket) => {
        heard(kind)
        socket.destroy()
      })
    const tcp = named("a connection over TCP")
    const local = named("a connection to a Unix socket")
    const udp = createSocket("udp4")
    udp.on("message", () => heard("a datagram"))
    await accept(tcp, { host: "127.0.0.1", port: 0 })
    const address = tcp.address()
    if (address === null || typeof address === "string") throw new Error("the listener has no port")
    await accept(local, { path: socketPath })
    await new Promise<void>((resolve) => udp.bind(address.port, "127.0.0.1", () => resolve()))
    return {
      port: address.port,
      close: () => {
        tcp.close()
        local.close()
        udp.close()
      }
    }
  })

/** How much of the host is in use at a moment. */
interface Reading {
  readonly disk: number
  readonly processes: number
}

const read = (bounds: HostBounds): Reading => ({
  disk: bounds.folders.reduce((sum, folder) => sum + bytesBelow(folder), 0),
  processes: descendants().length
})

/**
 * What a process holds, pages that it shares with others by its share of them, and what of it is in swap; all of its
 * pages where that may not be read, and nothing once it has ended.
 */
const heldBytes = (entry: ProcessEntry): number => {
  try {
    const text = readFileSync(`/proc/${entry.id}/smaps_rollup`, "latin1")
    const shares = [...text.matchAll(/^(?:Swap)?Pss: +([0-9]+) kB$/gm)]
    return shares.reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0)
  } catch {
    return readEntry(entry.id)?.residentBytes ?? 0
  }
}

const sumOf = (entries: ReadonlyArray<ProcessEntry>, bytesOf: (entry: ProcessEntry) => number): number =>
  entries.reduce((sum, entry) => sum + bytesOf(entry), 0)

/** Milliseconds between two looks at the processes while a case runs. */
const interval = 25

/** How many times as long as a look takes there is none: those who look slow down those who are looked at. */
const rest = 4

/** The most that was seen while a case ran. */
const watch = () => {
  const most = { heldBytes: 0, processes: 0, own: 0 }
  const look = () => {
    const entries = descendants()
    // Shares are dear to find, and never more than the pages: most looks can do without.
    if (sumOf(entries, ({ residentBytes }) => residentBytes) > most.heldBytes) {
      most.heldBytes = Math.max(most.heldBytes, sumOf(entries, heldBytes))
    }
    most.processes = Math.max(most.processes, entries.length)
    most.own = Math.max(most.own, process.memoryUsage.rss())
  }
  let timer: NodeJS.Timeout
  const lookAgain = () => {
    const begun = performance.now()
    look()
    timer = setTimeout(lookAgain, Math.max(interval, rest * (performance.now() - begun)))
  }
  timer = setTimeout(lookAgain, interval)
  return {
    stop: () => {
      clearTimeout(timer)
      look()
      return most
    }
  }
}

/**
 * Returns how many processes there are beyond those before, as soon as there are none or after a while. They are
 * counted: what a runtime keeps for the next sessions may have been replaced.
 */
const settled = Effect.fnUntraced(function* (before: Reading) {
  const more = () => Math.max(0, descendants().length - before.processes)
  for (let attempt = 0; attempt < 400 && more() > 0; attempt += 1) yield* Effect.sleep(interval)
  return more()
})

/**
 * Runs a case and asserts what it left of the host: memory that did not grow beyond the bounds, a disk that nobody
 * filled, no process more than before once its sessions are closed, a listener that heard nothing, no marker.
 */
export const guarded = <A, E, R>(
  bounds: HostBounds,
  work: (host: Host) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "castellan-abuse-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const heard: Array<string> = []
      const socketPath = join(folder, "socket")
      const secretPath = join(folder, "secret.txt")
      const markerPath = join(folder, "marker")
      writeFileSync(secretPath, `${secret}\n`)
      const listening = yield* Effect.acquireRelease(
        listen(socketPath, (what) => heard.push(what)),
        ({ close }) => Effect.sync(close)
      )
      const before = read(bounds)
      const own = process.memoryUsage.rss()
      const watching = watch()
      const answer = yield* Effect.scoped(
        work({ port: listening.port, socketPath, secretPath, markerPath, hostname: hostname() })
      ).pipe(Effect.onExit(() => Effect.sync(() => watching.stop())))
      const left = yield* settled(before)
      const most = watching.stop()
      assert.strictEqual(left, 0, "processes that outlived their session")
      assert.isAtMost(most.own - own, hostGrowth, "bytes that the host's process grew by")
      assert.isAtMost(most.heldBytes, bounds.memoryBytes, "bytes that the runtime's processes held")
      assert.isAtMost(most.processes - before.processes, bounds.processes, "processes at once")
      assert.isAtMost(read(bounds).disk - before.disk, bounds.diskBytes, "bytes left on the host's disk")
      assert.deepStrictEqual(heard, [], "what reached the host's listener")
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name !== "socket" && name !== "secret.txt"),
        [],
        "files that something made on the host"
      )
      return answer
    })
  )
